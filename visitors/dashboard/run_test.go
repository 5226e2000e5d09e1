package dashboard

import (
	"bytes"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"

	"player/codec"
	"player/config/rights"
	"player/devices"
	"player/devices/readlog"
	"player/devices/writelog"
	"player/e2e/must"
	"player/formats/logfile"
	"player/visitors"
	"player/visitors/roomtest"
)

// began is the time of the first message in the logs of the tests.
var began = time.Date(2026, 7, 28, 10, 0, 0, 0, time.UTC)

// idleHost is the outside world of devices that do nothing by themselves.
type idleHost struct{ devices.Host }

func (idleHost) WakeAt(*devices.Link, time.Duration)             {}
func (idleHost) SetupDone(time.Duration, *devices.Device, error) {}

// newRun returns a robot that replays a log of ten seconds, and is recorded.
func newRun(t *testing.T) Run {
	t.Helper()
	var out bytes.Buffer
	w := must.Get(logfile.NewWriter(&out, logfile.Info{Start: began, Channels: []logfile.Channel{{Interface: "position"}}}))(t)
	var b logfile.Batch
	for i := range 11 {
		b.Add(0, time.Duration(i)*time.Second, []byte("p"))
	}
	must.Do(t, w.WriteChunk(&b))
	must.Do(t, w.Close())
	path := filepath.Join(t.TempDir(), "run.mcap")
	must.Do(t, os.WriteFile(path, out.Bytes(), 0o644))
	table := devices.NewTable(zap.NewNop())
	replay := must.Get(readlog.New(readlog.Options{File: path, Rate: 1}, nil))(t)
	must.Get(table.Attach(devices.Instance{Driver: replay, Name: "readlog", Provides: replay.Provides()}))(t)
	position := table.Device(codec.Position)
	record := must.Get(writelog.New([]*devices.Device{position}, false))(t)
	must.Get(table.Attach(writelog.Kind("").Instance(record)))(t)
	table.Connect(idleHost{})
	must.Get(position.Subscribe(time.Second, idleHost{}))(t)
	return Run{replay, record}
}

func TestRun(t *testing.T) {
	const playing = `"start":1785232800000000000,"end":1785232810000000000,`
	for _, tt := range []struct {
		may                  rights.Set
		method, path, origin string
		code                 int
		want                 string // part of the reply
	}{
		{rights.Read, "GET", "/run?robot=r:1", "", 200, `{"write":false,"playback":{` + playing + `"time":1785232801000000000,"speed":1,"state":"playing"},"recording":{"on":false,"manual":false,`},
		{rights.Write, "GET", "/run?robot=r:1", "", 403, visitors.NotAllowed},
		{rights.Read, "GET", "/run?robot=r:2", "", 404, "which robot?"},
		{rights.Read | rights.Write, "POST", "/playback?robot=r:1&pause=1", "", 200, playing + `"time":1785232801000000000,"speed":1,"state":"paused"`},
		{rights.Read | rights.Write, "POST", "/playback?robot=r:1&seek=1785232807500000000&speed=2", "http://localhost", 200, `"time":1785232807500000000,"speed":2,"state":"playing"`},
		{rights.Read | rights.Write, "POST", "/playback?robot=r:1&seek=soon", "", 400, "numbers"},
		{rights.Read | rights.Write, "POST", "/playback?robot=r:1&seek=1e300", "", 400, "numbers"},
		{rights.Read | rights.Write, "POST", "/playback?robot=r:1&speed=NaN", "", 409, "it is 0.01 to 100"},
		{rights.Read | rights.Write, "POST", "/playback?robot=r:1&speed=0", "", 409, "speed 0: it is 0.01 to 100"},
		{rights.Read | rights.Write, "POST", "/record?robot=r:1&on=0", "", 409, "the configuration has it record"},
		{rights.Read, "POST", "/playback?robot=r:1&pause=1", "", 403, visitors.NotAllowed},
		{rights.Read, "POST", "/record?robot=r:1&on=1", "", 403, visitors.NotAllowed},
		{rights.Read | rights.Write, "POST", "/playback?robot=r:1&pause=1", "http://evil.example", 403, visitors.OtherPage},
		{rights.Read | rights.Write, "POST", "/record?robot=r:1&on=1", "null", 403, visitors.OtherPage},
		{rights.Read | rights.Write, "GET", "/playback?robot=r:1&pause=1", "", 404, ""},
		{rights.Read, "GET", "/log?after=3", "", 200, `{"last":4,"lines":[{"msg":"after 3"},{"msg":"4"}]}`},
		{rights.Write, "GET", "/log", "", 403, visitors.NotAllowed},
	} {
		page := site(t.Context(), Config{
			Common: visitors.Common{
				Log: zap.NewNop(), Post: roomtest.AtOnce(2 * time.Second),
				Access: rights.Rules{{Allow: tt.may, From: []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}}},
			},
			Runs: map[string]Run{"r:1": newRun(t)},
			Recent: func(uint64) ([][]byte, uint64) {
				return [][]byte{[]byte(`{"msg":"after 3"}`), []byte(`{"msg":"4"}`)}, 4
			},
		}).Protected()
		w := request(page, tt.method, tt.path, tt.origin)
		if w.Code != tt.code || !strings.Contains(w.Body.String(), tt.want) {
			t.Errorf("%s %s from %q: %d, %s; want %d, %s", tt.method, tt.path, tt.origin, w.Code, w.Body, tt.code, tt.want)
		}
	}
}

// A robot without a recorder cannot be recorded, and one that is not replayed cannot
// be sought.
func TestRunOfOneKind(t *testing.T) {
	run := newRun(t)
	page := site(t.Context(), Config{
		Common: visitors.Common{Log: zap.NewNop(), Post: roomtest.AtOnce(2 * time.Second)},
		Runs:   map[string]Run{"replayed": {Replay: run.Replay}, "recorded": {Record: run.Record}},
	}).Protected()
	for path, want := range map[string]int{
		"/playback?robot=replayed&pause=1": http.StatusOK, "/record?robot=replayed&on=1": http.StatusNotFound,
		"/playback?robot=recorded&pause=1": http.StatusNotFound,
	} {
		w := request(page, "POST", path, "")
		if w.Code != want {
			t.Errorf("%s: %d, %s", path, w.Code, w.Body)
		}
	}
}

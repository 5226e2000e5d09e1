package readlog

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"player/codec"
	"player/devices"
	"player/devices/transport/transporttest"
	"player/e2e/must"
	"player/formats/logfile"
	"player/formats/telemetry"
)

const ms = time.Millisecond

var began = time.Date(2026, 7, 28, 10, 0, 0, 0, time.UTC)

// said is one message of a log.
type said struct {
	channel int
	at      time.Duration
	payload string
}

// write makes a log of position:0, its commands, sonar:2 and sonar:3.
func write(t testing.TB, messages ...said) (path string) {
	t.Helper()
	var out bytes.Buffer
	w := must.Get(logfile.NewWriter(&out, logfile.Info{Start: began, Channels: []logfile.Channel{
		{Interface: "position"}, {Interface: "position", Content: logfile.Command}, {Interface: "sonar", Index: 2}, {Interface: "sonar", Index: 3},
	}}))(t)
	for chunk := range slices.Chunk(messages, 3) {
		var b logfile.Batch
		for _, m := range chunk {
			b.Add(m.channel, m.at, []byte(m.payload))
		}
		must.Do(t, w.WriteChunk(&b))
	}
	must.Do(t, w.Close())
	path = filepath.Join(t.TempDir(), "run.mcap")
	must.Do(t, os.WriteFile(path, out.Bytes(), 0o644))
	return path
}

// script is a run that was recorded from the 5th second on.
func script() []said {
	return []said{
		{0, 5000 * ms, "p0"}, {2, 5010 * ms, "s0"}, {3, 5011 * ms, "another sonar"}, {1, 5020 * ms, "go"},
		{0, 5100 * ms, "p1"}, {2, 5090 * ms, "s1, taken before"}, {0, 5200 * ms, "p2"}, {2, 5210 * ms, ""},
	}
}

// rig is a robot that is played. It follows its devices.
type rig struct {
	*transporttest.Bench
	driver *Driver
	events []string
}

func (r *rig) Published(d *devices.Device) {
	if d.Stamp() != r.Now() {
		r.T.Errorf("%c %q is stamped %v at %v", d.Letter(), d.Data(), d.Stamp(), r.Now())
	}
	r.events = append(r.events, fmt.Sprintf("%v %c %q", r.Now(), d.Letter(), d.Data()))
}

// take returns the data published since the last call.
func (r *rig) take() []string {
	events := r.events
	r.events = nil
	return events
}

func newRig(t testing.TB, o Options, wanted ...devices.Spec) *rig {
	t.Helper()
	d := must.Get(New(o, wanted))(t)
	made := devices.Instance{Driver: d, Name: "readlog", Provides: d.Provides()}
	if wanted != nil {
		made.Select(wanted)
	}
	r := &rig{Bench: transporttest.NewBench(t, made), driver: d}
	for _, d := range r.Link.Devices() {
		d.AddObserver(r.Link, r)
	}
	return r
}

// openRig returns a rig with open devices: position and the first sonar, unless others are wanted.
func openRig(t testing.TB, o Options, wanted ...devices.Spec) *rig {
	t.Helper()
	if wanted == nil {
		wanted = []devices.Spec{devices.Position(), devices.Sonar()}
	}
	r := newRig(t, o, wanted...)
	r.open()
	return r
}

// open opens all devices, close closes them.
func (r *rig) open() {
	for _, d := range r.Link.Devices() {
		if pending, err := d.Subscribe(r.Now(), r); pending || err != nil {
			r.T.Fatal(pending, err)
		}
	}
}

func (r *rig) close() {
	for _, d := range r.Link.Devices() {
		d.Unsubscribe(r.Now(), r)
	}
}

// at is when the driver goes on; zero: never.
func (r *rig) at() time.Duration { return r.Deadline(r.Link) }

// run lets time pass until a time.
func (r *rig) run(until time.Duration) { r.Pass(until - r.Now()) }

func (r *rig) want(lines ...string) {
	r.T.Helper()
	if got := r.take(); !slices.Equal(got, lines) {
		r.T.Errorf("played\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(lines, "\n"))
	}
}

// Recorded data comes at its recorded intervals, stamped now.
func TestPlays(t *testing.T) {
	r := openRig(t, Options{File: write(t, script()...), Rate: 1})
	r.run(time.Minute)
	all := []string{
		`1s p "p0"`, `1.01s s "s0"`, `1.1s p "p1"`, `1.1s s "s1, taken before"`, `1.2s p "p2"`, `1.21s s ""`,
	}
	r.want(all...)
	if r.Log.FilterMessage(LogEnd).Len() != 1 {
		t.Error(r.Log.All())
	}
	// The devices keep their last data, and it grows old.
	position := r.Table.Device(codec.Position)
	if string(position.Data()) != "p2" || position.Age(r.Now()) != time.Minute-1200*ms {
		t.Errorf("%q of %v", position.Data(), position.Age(r.Now()))
	}
	if r.at() != 0 {
		t.Errorf("it wakes at %v", r.at())
	}
	// A client that opens the device again gets the log from its beginning.
	r.close()
	r.run(100 * time.Second)
	r.open()
	r.want(`1m40s p "p0"`)
	r.close()
	r.run(time.Hour)
	r.want()
}

func TestRate(t *testing.T) {
	r := openRig(t, Options{File: write(t, script()...), Rate: 10})
	r.run(time.Minute)
	r.want(`1s p "p0"`, `1.001s s "s0"`, `1.01s p "p1"`, `1.01s s "s1, taken before"`, `1.02s p "p2"`, `1.021s s ""`)
	r = openRig(t, Options{File: write(t, script()[:2]...), Rate: 0.01})
	r.run(time.Minute)
	r.want(`1s p "p0"`, `2s s "s0"`)
}

func TestLoop(t *testing.T) {
	r := openRig(t, Options{File: write(t, script()[:2]...), Rate: 1, Loop: true})
	r.run(1300 * ms)
	r.want(`1s p "p0"`, `1.01s s "s0"`, `1.11s p "p0"`, `1.12s s "s0"`, `1.22s p "p0"`, `1.23s s "s0"`)
	r.close()
	// Without any message it does not start over.
	r = openRig(t, Options{File: write(t, script()[3]), Rate: 1, Loop: true})
	r.run(time.Hour)
	r.want()
	if r.Log.FilterMessage(LogEnd).Len() != 1 {
		t.Error(r.Log.All())
	}
}

func TestStep(t *testing.T) {
	for _, loop := range []bool{false, true} {
		r := openRig(t, Options{File: write(t, script()...), Rate: 1, Step: true, Loop: loop})
		r.run(time.Minute)
		r.want()
		step := func(letter byte) error { return r.Table.Device(letter).Configure(r.Now(), []byte("s")) }
		for _, tt := range []struct {
			letter byte
			want   []string
		}{
			{'s', []string{`1m0s p "p0"`, `1m0s s "s0"`}},
			{'p', []string{`1m0s p "p1"`}},
			{'p', []string{`1m0s s "s1, taken before"`, `1m0s p "p2"`}},
			{'p', []string{`1m0s s ""`}}, // the end of the log
		} {
			if err := step(tt.letter); err != nil {
				t.Error(err)
			}
			r.want(tt.want...)
		}
		err := step('p')
		if loop {
			r.want(`1m0s p "p0"`)
		} else if err != errEnd {
			t.Error(err)
		}
	}
	r := openRig(t, Options{File: write(t, script()...), Rate: 1})
	if err := r.Table.Device('p').Configure(r.Now(), []byte("s")); err != errNoStep {
		t.Error(err)
	}
	for payload, ok := range map[string]bool{"m\x01": true, "s2": false, "": false, "?": false} {
		if err := r.Table.Device('p').Configure(r.Now(), []byte(payload)); (err == nil) != ok {
			t.Errorf("%q: %v", payload, err)
		}
	}
	r.Table.Device('p').SetCommand(r.Now(), []byte("go!!"))
}

// A log that is played faster than it can be is played in bursts.
func TestBursts(t *testing.T) {
	var messages []said
	for i := range 3 * burst {
		messages = append(messages, said{0, time.Duration(i), fmt.Sprint(i)})
	}
	r := openRig(t, Options{File: write(t, messages...), Rate: 1})
	if r.Skip(ms); r.at() != time.Second+1 {
		t.Fatal(r.at())
	}
	r.take()
	for want := burst; want > 0; want = min(burst, 3*burst-1-want) {
		at := r.Now()
		r.Pass(0)
		if n := len(r.take()); n > burst {
			t.Fatalf("%d messages at once", n)
		}
		if r.at() == 0 {
			break
		}
		if r.at() != at+pause {
			t.Fatalf("goes on at %v, after %v", r.at(), at)
		}
		r.Skip(r.at() - r.Now())
	}
	if got := string(r.Table.Device('p').Data()); got != fmt.Sprint(3*burst-1) {
		t.Errorf("ends with %s", got)
	}
	// So is a long step.
	messages = append(messages, said{2, time.Second, "far away"})
	r = openRig(t, Options{File: write(t, messages...), Rate: 1, Step: true})
	sonar := r.Table.Device('s')
	if err := sonar.Configure(r.Now(), []byte("s")); err != nil || sonar.HasData() {
		t.Fatal(err)
	}
	if err := sonar.Configure(r.Now(), []byte("s")); err != errBusy {
		t.Error(err)
	}
	r.run(2 * time.Second)
	if string(sonar.Data()) != "far away" {
		t.Error("the step does not end")
	}
}

// A log with many messages that are not played also lets the loop go on.
func TestPassesOver(t *testing.T) {
	for _, tt := range []struct {
		name        string
		count, size int
		goes        int // at least
	}{
		{"many", 20 * burst, 1, 20},
		{"large", 30, ration / 4, 8}, // a read may go beyond the ration by as much again
	} {
		t.Run(tt.name, func(t *testing.T) {
			messages := []said{{0, 0, "p0"}, {2, 0, "s0"}}
			for range tt.count {
				messages = append(messages, said{3, ms, strings.Repeat("x", tt.size)})
			}
			messages = append(messages, said{0, 1000 * ms, "p1"}, said{0, 2000 * ms, "p2"})
			for _, step := range []bool{false, true} {
				r := openRig(t, Options{File: write(t, messages...), Rate: 1, Step: step})
				if step {
					r.Skip(100 * ms)
					must.Do(t, r.Table.Device('s').Configure(r.Now(), []byte("s")))
				}
				goes := 0
				for ; r.at() != 0 && r.at() < 1900*ms; goes++ {
					r.run(r.at())
				}
				if goes < tt.goes {
					t.Errorf("passed over in %d goes, want at least %d", goes, tt.goes)
				}
				if step {
					r.want(`1.1s p "p0"`, `1.1s s "s0"`)
					continue
				}
				r.run(time.Minute)
				r.want(`1s p "p0"`, `1s s "s0"`, `2s p "p1"`, `3s p "p2"`)
			}
		})
	}
	// The log may begin with them. Then the playback begins late, and catches up.
	messages := slices.Repeat([]said{{3, 0, ""}}, 5*burst)
	messages = append(messages, said{0, 100 * ms, "p0"}, said{0, 600 * ms, "p1"})
	r := openRig(t, Options{File: write(t, messages...), Rate: 1})
	r.run(time.Minute)
	got := r.take()
	if len(got) != 2 || got[0] == `1s p "p0"` || !strings.HasSuffix(got[0], `p "p0"`) || got[1] != `1.5s p "p1"` {
		t.Error(got)
	}
}

func TestProvides(t *testing.T) {
	path := write(t, script()...)
	r := newRig(t, Options{File: path, Rate: 1})
	if r.Table.Device('p') == nil || r.Table.Device('s') == nil || r.Table.Find('s', 3) == nil || len(r.Link.Devices()) != 3 {
		t.Error("devices are missing")
	}
	// Of several devices of an interface, the wanted one.
	r = newRig(t, Options{File: path, Rate: 1}, devices.Sonar().At(3))
	if r.Table.Find('s', 3) == nil || r.Table.Device('p') != nil {
		t.Error("not what was asked for")
	}
	r.open()
	r.run(time.Minute)
	if got := r.take(); !slices.Contains(got, `1.011s s "another sonar"`) {
		t.Error(got)
	}
}

// A played device describes itself as the recorded one did, also under another index.
func TestDescribes(t *testing.T) {
	var out bytes.Buffer
	w := must.Get(logfile.NewWriter(&out, logfile.Info{Start: began, Channels: []logfile.Channel{{Interface: "ranger", Index: 1}, {Interface: "servo"}}}))(t)
	var b logfile.Batch
	rays := []codec.Rays{{Count: 2, X: 10, Heading: 5, Step: 1}}
	b.Describe(0, logfile.Describe("ranger", 1, telemetry.Description{Rays: rays}))
	b.Describe(1, logfile.Describe("servo", 0, telemetry.Description{Channels: []codec.Channel{{Role: codec.Jointed, Unit: "mdeg", Name: "Elbow"}}}))
	b.Add(0, 0, []byte{0, 1, 0, 1, 0, 1})
	b.Add(1, 0, nil)
	must.Do(t, w.WriteChunk(&b))
	must.Do(t, w.Close())
	path := filepath.Join(t.TempDir(), "run.mcap")
	must.Do(t, os.WriteFile(path, out.Bytes(), 0o644))
	r := newRig(t, Options{File: path, Rate: 1})
	for _, d := range r.Link.Devices() {
		got := fmt.Sprint(d.AppendRays(nil), d.AppendChannels(nil))
		want := map[byte]string{codec.Ranger: "[{128 0 2 10 0 5 1 0 0 0}] []", codec.Servo: "[] [{129 0 joint mdeg 0 0 Elbow}]"}[d.Letter()]
		if got != want {
			t.Errorf("%s: %s, want %s", d.Spec().Address(), got, want)
		}
	}
}

func TestBadLogs(t *testing.T) {
	path := write(t, script()...)
	log := must.Get(os.ReadFile(path))(t)
	r := newRig(t, Options{File: path, Rate: 1})
	// A log that vanishes, or ends early, between two starts.
	must.Do(t, os.Remove(path))
	if _, err := r.Table.Device('p').Subscribe(r.Now(), r); err == nil || !strings.Contains(err.Error(), "run.mcap") {
		t.Error(err)
	}
	must.Do(t, os.WriteFile(path, log[:len(log)/2], 0o644))
	r.open()
	r.run(time.Minute)
	if e := r.Log.FilterMessage(LogEnd).All(); len(e) != 1 || e[0].ContextMap()["damage"] == nil {
		t.Error(r.Log.All())
	}
	k := Kind()
	values := k.Defaults()
	for path, want := range map[string]string{"nowhere.mcap": "nowhere.mcap", "readlog.go": "not a log", t.TempDir(): "not a regular file"} {
		values["file"] = path
		if _, err := k.Make(devices.Args{Name: k.Name, Values: values}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", path, err)
		}
	}
	values["file"] = write(t, script()...)
	if _, err := k.Make(devices.Args{Name: k.Name, Values: values}); err != nil {
		t.Error(err)
	}
	var out bytes.Buffer
	w := must.Get(logfile.NewWriter(&out, logfile.Info{Channels: []logfile.Channel{{Interface: "position", Content: logfile.Command}}}))(t)
	var b logfile.Batch
	b.Add(0, 0, []byte("go"))
	if w.WriteChunk(&b) != nil || os.WriteFile(path, out.Bytes(), 0o644) != nil {
		t.Fatal("no log")
	}
	if _, err := New(Options{File: path, Rate: 1}, nil); err == nil || !strings.Contains(err.Error(), "no data of a device") {
		t.Error(err)
	}
}

// Playing allocates nothing except the library's few pieces of each chunk.
func TestAllocates(t *testing.T) {
	var messages []said
	for i := range 30000 {
		messages = append(messages, said{0, time.Duration(i) * 10 * ms, "somewhere"})
	}
	r := newRig(t, Options{File: write(t, messages...), Rate: 1})
	for _, d := range r.Link.Devices() {
		d.RemoveObserver(r)
	}
	r.open()
	r.run(time.Minute)
	// Chunks of three messages here; a recorded one has dozens.
	if n := testing.AllocsPerRun(2000, func() { r.run(r.Now() + 30*ms) }); n > 3 {
		t.Errorf("%v allocations per chunk", n)
	}
}

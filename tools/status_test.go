package tools_test

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"player/e2e/must"
	"player/e2e/needs"
	"player/tools"
	"player/tools/status"
)

const answer = `{"version":"v1.2","uptime_s":75.5,"robots":[
 {"name":"rosie","port":6665,"commander":"10.0.0.7:40001","stopped":false,
  "devices":{"position":{"driver":"p2os","state":"ready","setups":1,"rate_hz":10.02,"age_ms":34.4,"errors":2,"retries":3,"noise":4},
             "laser":{"driver":"sicklms200","state":"idle","setups":0,"rate_hz":0,"age_ms":null,"errors":0,"retries":0,"noise":0,"error":"no \u0007bell"}},
  "clients":[{"address":"10.0.0.7:40001","name":"wander","devices":{"p":"a","l":"r"},"rate":10,"served_hz":9.96,"frames":1234},
             {"address":"10.0.0.8:40002","name":"evil\u001b[2J","devices":{},"rate":0,"frames":0}]},
 {"name":"second","port":6666,"commander":null,"stopped":true,"devices":{},"clients":[],
  "recorders":{"/run.mcap":{"state":"failed","error":"no \u0007space","messages":12,"lost":3}}}],
 "loop":{"wakes":1}}`

const table = `v1.2, up 1m15s

rosie, port 6665
  DEVICE          DRIVER      STATE       HZ    AGE ms  SETUPS  RETRIES  ERRORS  NOISE
  laser           sicklms200  idle        0.0   -       0       0        0       0 no \x07bell
  position        p2os        ready       10.0  34      1       3        2       4
  CLIENT          NAME             DEVICES  ASKS HZ GETS HZ  FRAMES
  10.0.0.7:40001  wander (drives)  lrpa     10.0 10.0 1234
  10.0.0.8:40002  evil\x1b[2J               0.0 0.0 0

second, port 6666: EMERGENCY STOP, until released (player stop -release)
  DEVICE     DRIVER  STATE     HZ    AGE ms  SETUPS  RETRIES  ERRORS  NOISE
  RECORDER   STATE   MESSAGES  LOST
  /run.mcap  failed  12        3     no \x07space
  no clients
`

// serves starts a server that answers GET /status with the text and HTTP status of the
// function.
func serves(t *testing.T, answer func() (string, int)) (address string) {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet || r.URL.Path != "/status" {
			t.Errorf("%s %s", r.Method, r.URL.Path)
		}
		text, code := answer()
		w.WriteHeader(code)
		_, _ = w.Write([]byte(text)) // the client may have left
	}))
	t.Cleanup(s.Close)
	return strings.TrimPrefix(s.URL, "http://")
}

func TestStatus(t *testing.T) {
	t.Parallel()
	address := serves(t, func() (string, int) { return answer, 200 })
	var out bytes.Buffer
	must.Do(t, status.Command().Run(t.Context(), []string{address}, &out, nil))
	if got := spaces(out.String()); got != spaces(table) {
		t.Errorf("%s\nwant\n%s", out.String(), table)
	}
	out.Reset()
	if err := status.Command().Run(t.Context(), []string{address, "-json"}, &out, nil); err != nil || out.String() != answer+"\n" {
		t.Errorf("%v, %s", err, out.String())
	}
}

// spaces makes each run of spaces one.
func spaces(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = strings.Join(strings.Fields(line), " ")
	}
	return strings.Join(lines, "\n")
}

func TestStatusMistakes(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		answer string
		code   int
		want   string
	}{
		{"<html>", 200, "is not the status of a server"},
		{answer, 403, "403 Forbidden"},
		{answer, 404, "404 Not Found"},
	} {
		var out bytes.Buffer
		err := status.Command().Run(t.Context(), []string{serves(t, func() (string, int) { return tt.answer, tt.code })}, &out, nil)
		if _, failed := errors.AsType[tools.Failure](err); failed || err == nil || !strings.Contains(err.Error(), tt.want) || out.Len() > 0 {
			t.Errorf("%v, %s\nwant %s", err, out.String(), tt.want)
		}
	}
}

// In a terminal the table refreshes until the server is gone, which is a failure, or a
// signal comes, which is a success.
func TestStatusRefreshes(t *testing.T) {
	t.Parallel()
	needs.Time(t)
	for name, gone := range map[string]bool{"gone": true, "ended": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			terminal := must.Get(os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0))(t)
			t.Cleanup(func() { terminal.Close() })
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			var fetches atomic.Int32
			address := serves(t, func() (string, int) {
				if fetches.Add(1) < 3 {
					return `{"version":"v1.2","uptime_s":1}`, 200
				}
				if !gone {
					cancel()
				}
				return "", 500
			})
			err := status.Command().Run(ctx, []string{address}, terminal, nil)
			if _, failed := errors.AsType[tools.Failure](err); failed != gone || fetches.Load() != 3 {
				t.Errorf("%v after %d fetches", err, fetches.Load())
			}
		})
	}
}

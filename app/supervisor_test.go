package app

import (
	"context"
	"math"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"player/config"
	"player/e2e/must"
	"player/timers"
)

// manager listens as systemd does, at a path or an abstract address.
func manager(t *testing.T, address string) (next func() string) {
	t.Helper()
	conn := must.Get(net.ListenUnixgram("unixgram", &net.UnixAddr{Name: address, Net: "unixgram"}))(t)
	t.Cleanup(func() { _ = conn.Close() })
	return func() string {
		t.Helper()
		buffer := make([]byte, 4096)
		_ = conn.SetReadDeadline(time.Now().Add(20 * time.Second))
		n := must.Get(conn.Read(buffer))(t)
		return string(buffer[:n])
	}
}

func environment(values map[string]string) func(string) string {
	return func(name string) string { return values[name] }
}

func TestSupervisor(t *testing.T) {
	for _, address := range []string{filepath.Join(t.TempDir(), "notify"), "@player-test-" + strconv.Itoa(os.Getpid())} {
		next := manager(t, address)
		s := newSupervisor(environment(map[string]string{"NOTIFY_SOCKET": address}), zap.NewNop())
		ctx, cancel := context.WithCancel(t.Context())
		s.ready(ctx, func(timers.Func) { t.Error("a watchdog that nobody asked for") }, "serving")
		if got, want := next(), "READY=1\nSTATUS=serving"; got != want {
			t.Errorf("%s: %q, want %q", address, got, want)
		}
		cancel()
		if got, want := next(), "STOPPING=1\nSTATUS=stopping the motors"; got != want {
			t.Errorf("%s: %q, want %q", address, got, want)
		}
	}
}

func TestWatchdog(t *testing.T) {
	own := strconv.Itoa(os.Getpid())
	for _, tt := range []struct {
		usec, pid string
		want      time.Duration
	}{
		{"", "", 0}, {"x", "", 0}, {"4000000", "1", 0}, {"4000000", "", 4 * time.Second}, {"4000000", own, 4 * time.Second},
		{"7200000000", "", 2 * time.Hour}, {"18446744073709551615", "", math.MaxInt64 / time.Microsecond * time.Microsecond},
	} {
		s := newSupervisor(environment(map[string]string{"WATCHDOG_USEC": tt.usec, "WATCHDOG_PID": tt.pid}), zap.NewNop())
		if s.watchdog != tt.want {
			t.Errorf("%+v: %v", tt, s.watchdog)
		}
	}
	address := filepath.Join(t.TempDir(), "notify")
	next := manager(t, address)
	s := newSupervisor(environment(map[string]string{"NOTIFY_SOCKET": address, "WATCHDOG_USEC": "4000000"}), zap.NewNop())
	s.ready(t.Context(), func(tick timers.Func) {
		if at := tick(time.Minute); at != time.Minute+2*time.Second {
			t.Errorf("the next tick at %v", at)
		}
	}, "")
	next() // ready
	if got := next(); got != "WATCHDOG=1" {
		t.Errorf("%q", got)
	}
}

func TestSupervisorIsAway(t *testing.T) {
	core, logs := observer.New(zap.WarnLevel)
	supervisor{socket: filepath.Join(t.TempDir(), "none"), log: zap.New(core)}.notify("READY=1")
	if logs.Len() != 1 {
		t.Errorf("logged %v", logs.All())
	}
	supervisor{}.notify("READY=1") // started from a shell
}

func TestStatus(t *testing.T) {
	conf := &config.Server{Robots: []config.Robot{{Port: 6665}}}
	if got := statusLine(conf); got != "serving a robot on port 6665" {
		t.Error(got)
	}
	for port := range 10 {
		conf.Robots = append(conf.Robots, config.Robot{Port: 6666 + port})
	}
	if got := statusLine(conf); got != "serving 11 robots on ports 6665 6666 6667 6668 6669 6670 6671 6672 6673 6674 ..." {
		t.Error(got)
	}
}

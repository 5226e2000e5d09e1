package main

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"player/fleet/bridge"
)

// The example shows how old positions are. After a pause, what waited for it is old, though
// its age when the bridge sent it was small. When another bridge takes over, it says so.
func TestWatch(t *testing.T) {
	t.Parallel()
	watch := filepath.Join(t.TempDir(), "watch")
	if out, err := exec.Command("go", "build", "-o", watch, "./examples/watch").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	p := startPair(t)
	w := &process{cmd: exec.Command(watch, "-nats", p.conn.ConnectedUrl(), "-fleet", "lab"), exited: make(chan struct{})}
	w.cmd.Stdout, w.cmd.Stderr = w, w
	if err := w.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = w.cmd.Wait() // ProcessState has the result
		close(w.exited)
	}()
	t.Cleanup(func() { w.end(t, syscall.SIGTERM) })
	defer drive(t, p.conn, acquire(t, p.conn, "alice"))() // data that does not change comes every 2 s
	fresh := regexp.MustCompile(`a: .*mm, .* \d{1,3} ms ago`)
	wait(t, "fresh position", func() bool { return fresh.MatchString(w.lines()) })

	if err := w.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	data := subscribe(t, p.conn, "player.lab.a.position.0.json")
	for begin := time.Now(); time.Since(begin) < 5*time.Second; { // more than the example's limit
		next(t, data)
	}
	if err := w.cmd.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	wait(t, "position that is old", func() bool { return strings.Contains(w.lines(), "a: old, by ") })
	before := next(t, data).Header
	p.serving(t).end(t, syscall.SIGKILL)
	wait(t, "other bridge", func() bool { return strings.Contains(w.lines(), "another bridge has taken over") })
	wait(t, "epoch that is greater", func() bool {
		var was, is int64
		_, err1 := fmt.Sscan(before.Get(bridge.HeaderEpoch), &was)
		_, err2 := fmt.Sscan(next(t, data).Header.Get(bridge.HeaderEpoch), &is)
		return err1 == nil && err2 == nil && was > 0 && is > was
	})
}

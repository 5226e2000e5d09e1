package main

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"syscall"
	"testing"
	"time"

	"player/e2e/programs"
	"player/e2e/waiting"
	"player/fleet/bridge"
)

// The example shows how old positions are. After a pause, a message that waited for it is old,
// though its age when the bridge sent it was small. When another bridge takes over, it says so.
func TestWatch(t *testing.T) {
	t.Parallel()
	p := startPair(t)
	w := programs.Start(t, exec.Command(filepath.Join(programsDir, "watch"), "-nats", p.conn.ConnectedUrl(), "-fleet", "lab"))
	defer drive(t, p.conn, acquire(t, p.conn, "alice"))() // data that does not change comes every 2 s
	fresh := regexp.MustCompile(`a: .*mm, .* \d{1,3} ms ago`)
	waiting.Until(t, "fresh position", func() bool { return fresh.MatchString(w.Output.String()) })

	resume := w.Pause(t)
	data := subscribe(t, p.conn, "player.lab.a.position.0.json")
	for begin := time.Now(); time.Since(begin) < 5*time.Second; { // more than the example's limit
		next(t, data)
	}
	resume()
	waiting.Until(t, "position that is old", func() bool { return w.Printed("a: old, by ") })
	before := next(t, data).Header
	p.serving(t).End(t, syscall.SIGKILL)
	waiting.Until(t, "other bridge", func() bool { return w.Printed("another bridge has taken over") })
	waiting.Until(t, "epoch that is greater", func() bool {
		var was, is int64
		_, err1 := fmt.Sscan(before.Get(bridge.HeaderEpoch), &was)
		_, err2 := fmt.Sscan(next(t, data).Header.Get(bridge.HeaderEpoch), &is)
		return err1 == nil && err2 == nil && was > 0 && is > was
	})
}

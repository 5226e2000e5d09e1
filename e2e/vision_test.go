package e2e

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"player/codec"
	"player/e2e/must"
	"player/e2e/waiting"
	tracker "player/simulation/emulator/acts"
)

// startTracker starts ACTS, on a free port if the options have no address.
func startTracker(t *testing.T, o tracker.Options) *tracker.Server {
	t.Helper()
	if o.Line.TCP == "" {
		o.Line.TCP = fmt.Sprintf("127.0.0.1:%d", freeSwapped(t)) // the driver tries that one also
	}
	return emulate(t, tracker.Start, o)
}

// trackerIs waits until cond holds for the tracker.
func trackerIs(t *testing.T, s *tracker.Server, what string, cond func(s tracker.State) bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := s.Wait(ctx, func() bool { return cond(s.State()) }); err != nil {
		t.Fatalf("waited in vain: %s: %v: %+v", what, err, s.State())
	}
}

// sees waits for vision data that has these blobs of a channel and no others.
func (p *peer) sees(channel int, blobs ...codec.Blob) {
	p.t.Helper()
	waiting.Until(p.t, fmt.Sprintf("blobs %+v", blobs), func() bool {
		d := p.blobs()
		return fmt.Sprint(d.Channel(channel)) == fmt.Sprint(blobs) && len(d.Blobs) == len(blobs)
	})
}

// ACTS that listens at the port with its bytes swapped, as 1.0 does, and sends its answers in pieces.
func TestVision(t *testing.T) {
	t.Parallel()
	ball := tracker.Blob{Area: 1234, X: 80, Y: 60, Left: 70, Right: 90, Top: 50, Bottom: 70}
	seen := codec.Blob{Area: 1234, X: 80, Y: 60, Left: 70, Right: 90, Top: 50, Bottom: 70}
	a := startTracker(t, tracker.Options{Version: tracker.V12, Split: 64})
	s := start(t, "-vp", strconv.Itoa(swapped(a.Port())))
	c := s.dial(t)
	c.mustOpen("vr", "vr")
	c.sees(31)
	for _, channel := range []int{31, 0, 15} {
		must.Do(t, a.SetBlobs(channel, ball, ball))
		c.sees(channel, seen, seen)
		must.Do(t, a.SetBlobs(channel))
		c.sees(channel)
	}
	s.stop(t)
	// Only the starter of the program ends it.
	trackerIs(t, a, "left alone", func(s tracker.State) bool { return s.Conns == 0 && s.Quits == 0 })
}

// noPrograms returns an environment in which the server finds no programs.
func noPrograms(t *testing.T) []string { return []string{"PATH=" + t.TempDir()} }

// acts returns an environment for a server, and the directory in which it searches
// for the program acts first.
func acts(t *testing.T) (env []string, dir string) {
	dir = t.TempDir()
	return []string{"PATH=" + dir + ":/bin:/usr/bin", "TMPDIR=" + t.TempDir()}, dir
}

// The server starts ACTS, and ends it with all processes that ACTS has started.
func TestVisionProgram(t *testing.T) {
	t.Parallel()
	env, dir := acts(t)
	port := freeSwapped(t)
	pids := filepath.Join(t.TempDir(), "pids")
	write(t, dir, "acts", fmt.Sprintf(`#!/bin/sh
[ "$*" = "-t /etc/colours -s %d" ] || exit 9
echo $$ >>%s
sleep 1000 &
exec %s -only acts -acts-port %d >/dev/null
`, port, pids, emulator, swapped(port)))
	s := launch{env: env}.start(t, "-vp", strconv.Itoa(port), "-vc", "/etc/colours")
	c := s.dial(t)
	c.mustOpen("vr", "vr")
	c.sees(0, codec.Blob{Area: 314, X: 80, Y: 60, Left: 70, Right: 90, Top: 50, Bottom: 70})
	c.mustOpen("vc", "vc")
	c.mustOpen("vr", "vr") // a second run is a second program
	s.stop(t)
	text := must.Get(os.ReadFile(pids))(t)
	started := strings.Fields(string(text))
	if len(started) != 2 {
		t.Errorf("%d programs were started, want 2", len(started))
	}
	for _, pid := range started {
		waiting.Until(t, "the end of process group "+pid, func() bool {
			return exec.Command("sh", "-c", "for s in /proc/[0-9]*/stat; do read -r pid name state parent group rest <$s && [ $group = "+pid+" ] && [ $state != Z ] && exit 1; done 2>/dev/null; exit 0").Run() == nil
		})
	}
}

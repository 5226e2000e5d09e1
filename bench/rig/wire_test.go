package rig

import (
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/vishvananda/netns"

	"player/e2e/must"
	"player/e2e/needs"
)

// A packet in a wire arrives, is metered, and stays inside.
func TestWireCarriesAndCounts(t *testing.T) {
	needs.Root(t)
	w := must.Get(NewWire(10_000_000))(t)
	defer w.Close()
	before := must.Get(w.Traffic())(t)
	in := func(ns netns.NsHandle, f func() error) {
		t.Helper()
		must.Do(t, onThread(func() error {
			if err := netns.Set(ns); err != nil {
				return err
			}
			return f()
		}))
	}
	var l net.Listener
	in(w.Server, func() (err error) { l, err = net.Listen("tcp", ServerAddress+":0"); return err })
	defer l.Close()
	const size = 20_000
	go func() {
		if conn, err := l.Accept(); err == nil {
			_, _ = conn.Write(make([]byte, size)) // the reader would miss it
			conn.Close()
		}
	}()
	var conn net.Conn
	in(w.Client, func() (err error) { conn, err = net.Dial("tcp", l.Addr().String()); return err })
	defer conn.Close()
	if n, err := io.Copy(io.Discard, conn); n != size || err != nil {
		t.Fatalf("%d of %d bytes arrived: %v", n, size, err)
	}
	after := must.Get(w.Traffic())(t)
	used := after.Sub(before)
	// With offload on there would be fewer packets than segments.
	if used.Bytes < size+size/1500*Header || used.Packets < size/1500 || used.Drops != 0 {
		t.Errorf("the meter says %+v for %d bytes", used, size)
	}
	if _, err := net.Dial("tcp", l.Addr().String()); err == nil {
		t.Error("the wire can be reached from outside")
	}
}

// A command started on the wire is in the server's namespace.
func TestWireStartsCommands(t *testing.T) {
	needs.Root(t)
	w := must.Get(NewWire(1_900_000))(t)
	defer w.Close()
	var out strings.Builder
	cmd := exec.Command("cat", "/proc/net/fib_trie")
	cmd.Stdout = &out
	must.Do(t, w.AtServer(cmd.Start))
	must.Do(t, cmd.Wait())
	if !strings.Contains(out.String(), ServerAddress) || strings.Contains(out.String(), clientAddress+"\n           /32 host LOCAL") {
		t.Errorf("not the server's network:\n%s", out.String())
	}
	if text, _ := os.ReadFile("/proc/net/fib_trie"); strings.Contains(string(text), ServerAddress) {
		t.Error("we are in it ourselves")
	}
}

func TestGroupHoldsAProcess(t *testing.T) {
	needs.Root(t)
	g, err := NewGroup(0.1, 32<<20)
	if err != nil {
		needs.Missing(t, err) // containers often have no controllers
	}
	var dirs []string
	dirs = append(dirs, g.dirs...)
	cmd := exec.Command("sh", "-c", g.Enter()+" && cat /proc/self/cgroup")
	out, err := cmd.CombinedOutput()
	if err != nil || strings.Count(string(out), "player-bench-") < 1 {
		t.Errorf("%v: %s", err, out)
	}
	g.Close()
	for _, dir := range dirs {
		if _, err := os.Stat(dir); err == nil {
			t.Errorf("%s is left", dir)
		}
	}
}

package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"player/e2e/must"
	"player/e2e/needs"
	"player/simulation/emulator/internal/rawhost"
)

// A screen collects the program's output.
type screen struct {
	mu   sync.Mutex
	text bytes.Buffer
	more chan struct{} // has one element after new output
}

func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case s.more <- struct{}{}:
	default:
	}
	return s.text.Write(p)
}

func (s *screen) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// find waits until the pattern appears in the output and returns its groups.
func (s *screen) find(t *testing.T, pattern string) []string {
	t.Helper()
	re, limit := regexp.MustCompile(pattern), time.After(20*time.Second)
	for {
		if m := re.FindStringSubmatch(s.String()); m != nil {
			return m
		}
		select {
		case <-s.more:
		case <-limit:
			t.Fatalf("no %q on the screen:\n%s", pattern, s)
		}
	}
}

// A person is a running program with its keyboard and screen.
type person struct {
	t      *testing.T
	keys   *io.PipeWriter
	screen *screen
	ended  chan error
	cancel func()
}

func start(t *testing.T, args ...string) *person {
	needs.Programs(t)
	ctx, cancel := context.WithCancel(t.Context())
	in, keys := io.Pipe()
	p := &person{t, keys, &screen{more: make(chan struct{}, 1)}, make(chan error, 1), cancel}
	go func() { p.ended <- run(ctx, args, in, p.screen) }()
	t.Cleanup(func() { cancel(); keys.Close() })
	return p
}

func (p *person) types(lines ...string) {
	for _, l := range lines {
		fmt.Fprintln(p.keys, l)
	}
}

func (p *person) end() error {
	p.t.Helper()
	select {
	case err := <-p.ended:
		return err
	case <-time.After(20 * time.Second):
		p.t.Fatal("the program does not end")
		return nil
	}
}

func TestAPersonAtTheKeyboard(t *testing.T) {
	p := start(t, "-trace", "-acts-version", "1.2", "-motors")
	m := p.screen.find(t, `(?m)^  player -pp (\S+) -lp (\S+) -zp (\S+) -vp (\d+)$`)
	robot, laser, camera, tracker := m[1], m[2], m[3], m[4]

	rh := rawhost.Open(t, robot, 9600)
	rh.Ask("FA FB 03 00 00 00", "FA FB 03 00 00 00")
	lh := rawhost.Open(t, laser, 9600)
	lh.Ask("02 00 02 00 20 25 35 08", "02 80 03 00 A0 00 10 16 0A")
	ch := rawhost.Open(t, camera, 9600)
	ch.Ask("81 09 06 12 FF", "90 50 00 00 00 00 00 00 00 00 FF")
	th := must.Get(net.Dial("tcp", "127.0.0.1:"+tracker))(t)
	defer th.Close()
	th.SetDeadline(time.Now().Add(20 * time.Second))
	th.Write([]byte("0"))
	must.Get(io.ReadFull(th, make([]byte, 128+16)))(t)
	p.screen.find(t, `p2os\t +\d+\.\d+   9600 H>D FA FB 03 00 00 00   ; cmd 0 PULSE\n`)

	p.types("", "help", "status", "nonsense", "fly p2os", "button", "reboot")
	p.screen.find(t, `unplug DEVICE`)
	p.screen.find(t, `p2os  /dev/pts/\d+, device at 9600, server at 9600 bit/s\n .*SYNC0:1`)
	p.screen.find(t, `nonsense\? Type help`)
	p.screen.find(t, `fly\? Type help`)

	p.types("silence p2os", "unplug sick", "unplug acts")
	lh.HungUp()
	if n, err := th.Read(make([]byte, 1)); err == nil {
		t.Errorf("acts still answers: %d bytes", n)
	}
	p.types("plug sick", "plug acts", "speak p2os", "silence sony")
	p.screen.find(t, `p2os\t.*speaks again`)
	p.screen.find(t, `sony\t.*silenced`)
	rh.Ask("FA FB 03 00 00 00", "FA FB 03 00 00 00")
	rawhost.Open(t, laser, 9600)

	p.types("quit")
	if err := p.end(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Dir(robot)); !os.IsNotExist(err) {
		t.Errorf("the directory was not removed: %v", err)
	}
}

func TestInterrupt(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new")
	p := start(t, "-dir", dir, "-only", "sick,p2os", "-left-open", "-sick-baud", "38400", "-baud", "38400")
	p.screen.find(t, "player -lp "+dir+"/sick -pp "+dir+"/p2os\n")
	p.keys.Close() // end of the keyboard: the program keeps running
	rawhost.Open(t, filepath.Join(dir, "p2os"), 38400).Read(10)
	rawhost.Open(t, filepath.Join(dir, "sick"), 38400).Read(10)
	p.cancel()
	if err := p.end(); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("left in the existing directory: %v, %v", left, err)
	}
}

// The laser and the camera as the flags describe them.
func TestSettingsAndFaults(t *testing.T) {
	p := start(t, "-only", "sick,sony", "-sick-unit", "cm", "-sick-angle", "100", "-sick-step", "25", "-sick-faults", "password,lock-variant,31",
		"-sony-model", "EVI-D70", "-sony-standby")
	m := p.screen.find(t, `(?m)^  player -lp (\S+) -zp (\S+)$`)
	laser := rawhost.Open(t, m[1], 9600)
	laser.Ask("02 00 01 00 31 15 12", "02 80 02 00 92 10 7F 33")                               // status: not acknowledged
	laser.Ask("02 00 0A 00 20 00 53 49 43 4B 5F 4C 4D 53 BE C5", "02 80 03 00 A0 01 10 14 0B") // denied
	laser.Say("02 00 05 00 3B B4 00 32 00 3B 1F")                                              // variant: refused, it has 100 degrees
	if got := fmt.Sprintf("% X", laser.Read(13)[:10]); got != "02 80 07 00 BB 00 64 00 19 00" {
		t.Errorf("variant: %s", got)
	}
	camera := rawhost.Open(t, m[2], 9600)
	camera.Ask("81 09 00 02 FF", "90 50 00 20 04 0E 00 01 02 FF")
	camera.Ask("81 09 06 12 FF", "90 60 41 FF")
}

func TestWrongFlags(t *testing.T) {
	needs.Programs(t)
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	os.WriteFile(file, nil, 0o600)
	for want, args := range map[string][]string{
		"no device":          {"-only", "p2os,radar"},
		"twice":              {"-only", "sony,sony"},
		"choose from cm, mm": {"-only", "sick", "-sick-unit", "ft"},
		"there is no fault":  {"-only", "sick", "-sick-faults", "password,tired"},
		"cannot scan":        {"-only", "sick", "-sick-angle", "90"},
		"no model":           {"-only", "sony", "-sony-model", "EVI-D1000"},
		"from 1.0, 1.2":      {"-only", "acts", "-acts-version", "3"},
		"invalid value":      {"-baud", "fast"},
		"unknown argument":   {"now"},
		"not a directory":    {"-dir", filepath.Join(file, "x")},
		"needs a speed":      {"-baud", "-1"},
		"invalid port":       {"-only", "acts", "-acts-port", "70000"},
		"not a symlink":      {"-dir", occupied(t, "p2os")},
		"-f replaces it":     {"-only", "urg", "-dir", occupied(t, "player.cfg")},
		"flag provided but ": {"-fly"},
	} {
		err := run(t.Context(), args, strings.NewReader(""), io.Discard)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %q", args, err, want)
		}
	}
}

// occupied returns a directory with a file.
func occupied(t *testing.T, name string) string {
	dir := t.TempDir()
	must.Do(t, os.WriteFile(filepath.Join(dir, name), nil, 0o600))
	return dir
}

func TestHelp(t *testing.T) {
	var out bytes.Buffer
	if err := run(t.Context(), []string{"-h"}, strings.NewReader(""), &out); !errors.Is(err, flag.ErrHelp) {
		t.Error(err)
	}
	for _, want := range []string{"Usage", "-left-open", "-acts-port", "unplug DEVICE"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("help without %q", want)
		}
	}
}

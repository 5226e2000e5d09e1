package main

import (
	"errors"
	"flag"
	"io"
	"strings"
	"testing"
	"time"

	"player/e2e/must"
)

func TestCellsAreThePapers(t *testing.T) {
	names := map[string]bool{}
	combinations := map[[4]any]bool{}
	for _, c := range cells() {
		if names[c.Name] {
			t.Errorf("two cells %s", c.Name)
		}
		names[c.Name] = true
		if strings.HasPrefix(c.Name, "paper/") {
			g := c.Groups[0]
			combinations[[4]any{c.Network.Name, g.Clients, g.Rate, c.Size}] = true
			if c.Claim == "" {
				t.Errorf("%s has no claim of the paper", c.Name)
			}
		}
	}
	if len(combinations) != 54 {
		t.Errorf("%d combinations of the paper, want 54", len(combinations))
	}
}

// Which cells of the paper its networks cannot carry.
func TestFits(t *testing.T) {
	full := map[string]bool{
		"paper/Ethernet/50x50Hz/807": true, // 17.5 Mbps
		"paper/802.11/10x50Hz/807":   true,
		"paper/802.11/50x10Hz/807":   true,
		"paper/802.11/50x50Hz/807":   true,
		"paper/802.11/50x50Hz/85":    true, // 3.0 Mbps, headers and all
		"wireless5/50x50Hz/807":      true,

		"compact/802.11/50x50Hz/807":   true, // 8.3 Mbps
		"compact/802.11/50x50Hz/85":    true,
		"compact/802.11-5/50x50Hz/807": true,
		"relay/802.11/50x50Hz/807":     true, // without the relay
		"fleet/802.11/50x50Hz/807":     true, // without the bridge

		"neighbours/10-far":              true,
		"neighbours/10-far-with-near":    true,
		"neighbours/50-far":              true,
		"neighbours/50-far-with-near":    true,
		"neighbours/program-with-50-far": true,
		"neighbours/tls-with-50-far":     true,
		"neighbours/wired-with-50-far":   true,

		"peers/802.11/50x10Hz":      true,
		"peers/scan/802.11/50x10Hz": true,

		"small-cpu/802.11/50x10Hz": true,
		"small-cpu/802.11/50x50Hz": true,
	}
	for _, c := range cells() {
		if c.Kind == frames && !strings.HasPrefix(c.Name, "isolation/") && c.fits() == full[c.Name] {
			t.Errorf("%s: fits is %v", c.Name, c.fits())
		}
	}
}

// On the full network 50 frames of 3.68 ms are a round of 184 ms. At 1 Hz a client
// has a second between frames.
func TestAgeFloor(t *testing.T) {
	for name, want := range map[string]time.Duration{
		fullest:                    95600 * time.Microsecond,
		"paper/802.11/50x1Hz/807":  503700 * time.Microsecond,
		"paper/loopback/1x50Hz/85": 10 * time.Millisecond,
		"request/1":                0,
	} {
		if f := cellNamed(t, name).ageFloor().Round(100 * time.Microsecond); f != want {
			t.Errorf("%s: least age %v, want %v", name, f, want)
		}
	}
}

// A mean of few intervals says little, so slow cells are measured longer.
func TestHowLong(t *testing.T) {
	o := options{window: 10 * time.Second}
	for name, want := range map[string]time.Duration{
		"paper/802.11/50x1Hz/85":  15 * time.Second,
		"paper/802.11/50x10Hz/85": 10 * time.Second,
		"request/1":               10 * time.Second,
		"real-time/robot":         15 * time.Second, // its own
	} {
		if got := o.windowOf(cellNamed(t, name)); got != want {
			t.Errorf("%s: runs of %v, want %v", name, got, want)
		}
	}
}

func TestConfiguration(t *testing.T) {
	for size, want := range map[int]string{
		large: `driver ( name "testpattern" rate 500 laser_size 722 stamp true )`,
		small: `driver ( name "testpattern" rate 500 laser_size 0 stamp true )`,
	} {
		c := cell{Size: size, Device: 500}
		if got := strings.TrimSpace(c.configuration("", "a.drive")); got != want {
			t.Errorf("%d bytes: %s, want %s", size, got, want)
		}
	}
}

func TestOptions(t *testing.T) {
	o := must.Get(parseOptions([]string{"-run", "^paper/802.11/.*/807", "-full", "-n", "5", "-out", "x"}, io.Discard))(t)
	if o.window != 2*time.Minute || o.runs != 5 || o.report != "x/report.md" || len(o.chosen()) != 9 {
		t.Errorf("%+v, %d cells", o, len(o.chosen()))
	}
	for _, args := range [][]string{{"-run", "("}, {"-cell", "0s"}, {"-n", "0"}, {"more"}, {"-nonsense"},
		{"-series", "-n", "3"}, {"-series", "-full"}, {"-series", "-cell", "2s"}} {
		if _, err := parseOptions(args, io.Discard); err == nil {
			t.Errorf("%q was taken", args)
		}
	}
	var help strings.Builder
	if _, err := parseOptions([]string{"-h"}, &help); !errors.Is(err, flag.ErrHelp) || help.String() != usage {
		t.Errorf("-h: %v", err)
	}
	for _, name := range []string{"run", "cell", "full", "n", "out", "report", "list", "series", "pages"} {
		if !strings.Contains(usage, "  -"+name+" ") {
			t.Errorf("the help lacks -%s", name)
		}
	}
}

package main

import (
	"errors"
	"flag"
	"io"
	"strings"
	"testing"
	"time"
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
			combinations[[4]any{c.Link.Name, g.Clients, g.Rate, c.Size}] = true
			if c.Claim == "" {
				t.Errorf("%s: what does the paper say?", c.Name)
			}
		}
	}
	if len(combinations) != 54 {
		t.Errorf("%d combinations of the paper, want 54", len(combinations))
	}
}

// Which cells of the paper its links cannot carry.
func TestFits(t *testing.T) {
	want := map[string]bool{
		"paper/Ethernet/50x50Hz/807": true, // 17.5 Mbps
		"paper/802.11/10x50Hz/807":   true,
		"paper/802.11/50x10Hz/807":   true,
		"paper/802.11/50x50Hz/807":   true,
		"paper/802.11/50x50Hz/85":    true, // 3.0 Mbps, headers and all
		"wireless5/50x50Hz/807":      true,

		"small-cpu/Ethernet/50x50Hz/807": true,
		"small-cpu/802.11/50x10Hz/807":   true,
		"small-cpu/802.11/50x50Hz/807":   true,
		"small-cpu/802.11/50x50Hz/85":    true,
	}
	for _, c := range cells() {
		if c.Kind != frames || strings.HasPrefix(c.Name, "isolation/") {
			continue
		}
		if c.fits() == want[c.Name] {
			t.Errorf("%s: fits is %v", c.Name, c.fits())
		}
		if (c.ageFloor() == 0) != c.fits() {
			t.Errorf("%s: the floor is %v", c.Name, c.ageFloor())
		}
	}
}

// The figures of the worst cell: 50 frames of 3.68 ms are a round of 184 ms.
func TestAgeFloor(t *testing.T) {
	for _, c := range cells() {
		if c.Name == "paper/802.11/50x50Hz/807" {
			if f := c.ageFloor().Round(100 * time.Microsecond); f != 95600*time.Microsecond {
				t.Errorf("floor %v, want 95.6ms", f)
			}
			return
		}
	}
	t.Error("no such cell")
}

// A mean of few intervals says little, so slow cells are measured longer.
func TestSlowCellsAreMeasuredLonger(t *testing.T) {
	o := options{window: 10 * time.Second}
	for name, want := range map[string]time.Duration{"paper/802.11/50x1Hz/85": 15 * time.Second, "paper/802.11/50x10Hz/85": 10 * time.Second, "request/1": 10 * time.Second} {
		if got := o.windowOf(cellNamed(t, name)); got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}

func TestConfiguration(t *testing.T) {
	for size, want := range map[int]string{
		large: `driver ( name "testpattern" rate 500 laser_size 722 stamp true )`,
		small: `driver ( name "testpattern" rate 500 laser_size 0 stamp true )`,
	} {
		c := cell{Size: size, Device: 500}
		if got := strings.TrimSpace(c.configuration()); got != want {
			t.Errorf("%d bytes: %s, want %s", size, got, want)
		}
	}
}

func TestOptions(t *testing.T) {
	o, err := parseOptions([]string{"-run", "^paper/802.11/.*/807", "-full", "-n", "5", "-out", "x"}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	if o.window != 2*time.Minute || o.runs != 5 || o.report != "x/report.md" || len(o.chosen()) != 9 {
		t.Errorf("%+v, %d cells", o, len(o.chosen()))
	}
	for _, args := range [][]string{{"-run", "("}, {"-cell", "0s"}, {"-n", "0"}, {"more"}, {"-nonsense"}} {
		if _, err := parseOptions(args, io.Discard); err == nil {
			t.Errorf("%q was taken", args)
		}
	}
	var help strings.Builder
	if _, err := parseOptions([]string{"-h"}, &help); !errors.Is(err, flag.ErrHelp) || help.String() != usage {
		t.Errorf("-h: %v", err)
	}
	for _, name := range []string{"run", "cell", "full", "n", "out", "report", "list"} {
		if !strings.Contains(usage, "  -"+name+" ") {
			t.Errorf("the help does not tell of -%s", name)
		}
	}
}

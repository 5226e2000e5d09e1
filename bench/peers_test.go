package main

import (
	"strings"
	"testing"
	"time"

	"player/bench/load"
	"player/e2e/needs"
)

// Both servers of rosbridge publish whole messages, with their ages, to clients that the server keeps.
func TestRosbridgeServers(t *testing.T) {
	t.Parallel()
	w := buildForTest(t)
	for s, topic := range map[server]string{bridge: robotTopic, rosbridge: scanTopic} {
		c := served("smoke", loopback, alike(2, costRate, load.Stream))
		c.Topic = topic
		patiently(t, string(s), func(window time.Duration) bool {
			r, err := w.measure(t.Context(), s, c, window)
			if err != nil && strings.Contains(err.Error(), "python3-tornado") {
				needs.Missing(t, err)
			}
			if err != nil || r.Error != "" {
				t.Fatalf("%s: %v %s", s, err, r.Error)
			}
			g := r.Load.Groups[0]
			if g.Bad != 0 || g.Closed != 0 || g.Frames > 0 && (g.AgeMean <= 0 || g.Bytes < 2000*g.Frames) {
				t.Errorf("%s: %+v", s, g)
			}
			return g.Frames > 1
		})
	}
}

// Programs at the far end of a network reach -rosbridge.
func TestRosbridgeOverANetwork(t *testing.T) {
	needs.Root(t)
	t.Parallel()
	w := buildForTest(t)
	c := cellNamed(t, scanPrefix+"802.11/50x10Hz")
	c.Groups[0].Clients = 2
	patiently(t, c.Name, func(window time.Duration) bool {
		r, err := w.measure(t.Context(), rosbridge, c, window)
		if err != nil || r.Error != "" {
			t.Fatal(err, r.Error)
		}
		return r.Load.Groups[0].Frames > 1 && r.Load.Groups[0].AgeMean > 0
	})
}

func TestReportOfPeers(t *testing.T) {
	if strings.Contains(rendered(t, resultsOf(t, "scale/50x50Hz")), "JSON bridge") {
		t.Error("there is a table without cells")
	}
	const many = peersPrefix + "1000x10Hz"
	r := resultsOf(t, peersPrefix+"50x50Hz", peersPrefix+"50x10Hz", many, peersFull, scanPrefix+"50x10Hz")
	for i, bytes := range []int{807, 807, 807, 3206} {
		for _, name := range []string{peersPrefix + "50x10Hz", scanPrefix + "50x10Hz"} {
			if runs := r.find(name).Runs; i < len(runs) {
				g := &runs[i].Load.Groups[0]
				g.Bytes = bytes * g.Frames
			}
		}
	}
	r.find(peersPrefix + "50x50Hz").Runs[3].Usage.CPU *= 20
	const hint = "it needs Tornado: apt-get install python3-tornado"
	r.find(many).Runs[3] = run{Server: bridge, Error: hint}
	has(t, rendered(t, r),
		"|  | Player | bare loop | goroutines | JSON bridge in Python |\n",
		"| CPU time for a frame, 50 clients at 50 Hz | 6.0 us | 6.0 us | 6.0 us | 120 us |\n",
		"| bytes of a frame | 807 | 807 | 807 | 3206 |\n",
		"| frames per second, 1000 clients at 10 Hz | 10000 | 10000 | 10000 | not measured |\n",
		"| mean age on a full network of 1.9 Mbps, 50 clients at 10 Hz | 101 ms | 101 ms | 101 ms | 101 ms |\n",
		"- bridge: "+hint+": "+many+"\n",
		"|  | Player, -rosbridge | JSON bridge in Python |\n",
		"| bytes of a message | 807 | 807 |\n",
		"| messages per second on a full network of 1.9 Mbps | not measured | not measured |\n",
	)
	// The rows are of the cells' own servers: a target of all cells judges Player only.
	if v := judge(t, r, "Everywhere: no frame of a wrong size"); v.Got != "4 of 4; 0 in "+peersPrefix+"50x50Hz" {
		t.Errorf("%+v", v)
	}
}

// The peers are measured together in less than four minutes.
func TestPeersTakeLittleTime(t *testing.T) {
	o := options{window: defaultWindow}
	total := time.Duration(0)
	for _, c := range peers() {
		total += o.takes(c) * time.Duration(len(c.servers()))
	}
	if total >= 4*time.Minute {
		t.Errorf("they take %v", total)
	}
}

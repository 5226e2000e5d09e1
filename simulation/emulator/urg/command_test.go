package urg

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"player/e2e/needs"
	"player/simulation/emulator/internal/rawhost"
	"player/simulation/emulator/line"
	"player/simulation/emulator/room"
)

// host sends lines and reads answers, which end with an empty line.
type host struct {
	*rawhost.Host
	sensor *Sensor
}

func start(t *testing.T, opts Options) host {
	t.Helper()
	needs.Programs(t)
	opts.Line = line.Options{Link: rawhost.Link(t), Baud: 19200}
	s, err := Start(opts)
	rawhost.Plugged(t, s, err)
	return host{rawhost.Open(t, s.Port(), 19200), s}
}

// lines sends commands, if any, and returns the lines of the next answer.
func (h host) lines(commands ...string) []string {
	for _, c := range commands {
		h.Say(fmt.Sprintf("%x", c+"\n"))
	}
	var text []byte
	for !strings.HasSuffix(string(text), "\n\n") {
		text = append(text, h.Read(1)...)
	}
	return strings.Split(strings.TrimSuffix(string(text), "\n\n"), "\n")
}

func (h host) ask(command string) string { return strings.Join(h.lines(command), "|") }

// TestOld: until it hears SCIP2.0, a sensor speaks SCIP 1.1, whose status is one character.
func TestOld(t *testing.T) {
	h := start(t, Options{Old: true})
	for _, tt := range [][2]string{{"QT", "QT|E"}, {"SCIP2.0", "SCIP2.0|0"}, {"QT", "QT|00P"}, {"SCIP2.0", "SCIP2.0|0Ee"}} {
		if got := h.ask(tt[0]); got != tt[1] {
			t.Errorf("%s is answered %s, want %s", tt[0], got, tt[1])
		}
	}
}

// Answers with their checksums equal the ones in the specification (C-42-03320) and on urgnetwork's page
// of status commands, which have this sensor as their example. Only answers to the last command are
// compared.
func TestAnswers(t *testing.T) {
	tests := []struct{ commands, want string }{
		{"VV", "VV|00P|VEND:Hokuyo Automatic Co.,Ltd.;[|PROD:SOKUIKI Sensor URG-04LX;[|FIRM:3.1.00(18/Jan./2007);`|PROT:SCIP 2.0;N|SERI:H0614967;V"},
		{"PP", "PP|00P|MODL:URG-04LX(Hokuyo Automatic Co.,Ltd.);N|DMIN:20;4|DMAX:5600;_|ARES:1024;\\|AMIN:44;7|AMAX:725;o|AFRT:384;6|SCAN:600;e"},
		{"PP;host_1", "PP;host_1|00P|MODL:URG-04LX(Hokuyo Automatic Co.,Ltd.);N|DMIN:20;4|DMAX:5600;_|ARES:1024;\\|AMIN:44;7|AMAX:725;o|AFRT:384;6|SCAN:600;e"},
		{"BM", "BM|00P"},
		{"BM BM", "BM|02R"},
		{"BM QT BM", "BM|00P"},
		{"QT;bye", "QT;bye|00P"},
		{"BM RS BM", "BM|00P"},
		{"RS", "RS|00P"},
		{"TM0", "TM0|00P"},
		{"TM0 TM0", "TM0|02R"},
		{"TM2", "TM2|03S"},
		{"TM1", "TM1|04T"},
		{"TM3", "TM3|01Q"},
		{"TM0 BM", "BM|0Ee"}, // as urg_library expects it of a sensor that was left so
		{"TM0 TM2 BM", "BM|00P"},
		{"BM TM0 TM2 GD0384038400", "GD0384038400|10Q"},
		{"SS019200", "SS019200|03S"},
		{"SS012345", "SS012345|02R"},
		{"SS115200", "SS115200|00P"},
		{"SSfast", "SSfast|01Q"},
		{"CR00", "CR00|00P"},
		{"CR11", "CR11|02R"},
		{"CRxx", "CRxx|01Q"},
		{"HS1", "HS1|00P"},
		{"HS1 HS1", "HS1|02R"},
		{"HS0", "HS0|02R"},
		{"HS2", "HS2|01Q"},
		{"GD0044072501", "GD0044072501|10Q"},
		{"MD004407250100", "MD004407250100|0Cc"},
		{"MDx044072501000", "MDx044072501000|01Q"},
		{"MD0044x72501000", "MD0044x72501000|02R"},
		{"MD00440725x1000", "MD00440725x1000|03S"},
		{"MD0044072601000", "MD0044072601000|04T"},
		{"MD0300029901000", "MD0300029901000|05U"},
		{"MD0044072501x00", "MD0044072501x00|06V"},
		{"MD00440725010x0", "MD00440725010x0|07W"},
		{"ME0044072501000", "ME0044072501000|0Ee"}, // not of this sensor
		{"XX", "XX|0Ee"},
		{"PP;12345678901234567", "PP;12345678901234567|0Gg"},
	}
	for _, test := range tests {
		t.Run(test.commands, func(t *testing.T) {
			h := start(t, Options{})
			commands := strings.Split(test.commands, " ")
			last := len(commands) - 1
			for _, c := range commands[:last] {
				h.lines(c)
			}
			if got := h.ask(commands[last]); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

func TestStatus(t *testing.T) {
	h := start(t, Options{})
	got := h.lines("II")
	want := []string{"II", "00P", "MODL:URG-04LX(Hokuyo Automatic Co.,Ltd.);N", "LASR:OFF;7", "SCSP:Initial(600[rpm])<-Default setting by user;A",
		"MESM:IDLE;:", "SBPS:19200[bps]<-Default setting by user;A", "TIME", "STAT:Sensor works well.;8"}
	if len(got) != len(want) {
		t.Fatalf("got %q", got)
	}
	got[7], _, _ = strings.Cut(got[7], ":") // a clock
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("line %d: got %q, want %q", i, got[i], want[i])
		}
	}
}

// Distances of a wall, and how each kind of data has them: 3 characters, 2, or 3 and 3 for
// the intensity. 1234 is "0CB" in the specification.
func TestData(t *testing.T) {
	wall := func(degrees float64) float64 {
		if degrees > 0 {
			return 0 // no return
		}
		return 1234 - degrees*100 // grows by a step's 25 mm to the right
	}
	tests := []struct{ command, want string }{
		{"GD0540054000", "0CB"},
		{"GD0539054100", "0C[0CB001"}, // 1259
		{"GD0538054002", "0C[0CB"},    // the nearer of two, and the last one alone
		{"GS0540054100", "CB01"},      // 2 characters
		{"GE0540054000", "0CB0Kn"},    // 4000 * 1000 / 2234 = 1790
		{"GD0540054000;twice", "0CB"}, // with characters
		{"GS0300030000", "oo"},        // 7234 is more than 2 characters have: 4095
		{"GD0540056300", "0CB" + strings.Repeat("001", 23)},
	}
	for _, test := range tests {
		t.Run(test.command, func(t *testing.T) {
			h := start(t, Options{Model: UTM30LX, Room: wall})
			h.lines("BM")
			got := h.lines(test.command)
			if got[0] != test.command || got[1] != "00P" || len(got[2]) != 5 {
				t.Fatalf("got %q", got)
			}
			data := ""
			for i, l := range got[2:] {
				text, check := l[:len(l)-1], l[len(l)-1]
				if check != sum(text) {
					t.Errorf("checksum of %q", l)
				}
				if len(text) > 64 || i > 0 && i < len(got)-3 && len(text) != 64 {
					t.Errorf("a line of %d characters", len(text))
				}
				if i > 0 {
					data += text
				}
			}
			if data != test.want {
				t.Errorf("got  %q\nwant %q", data, test.want)
			}
		})
	}
}

// The echo of a scan has the number of those that remain; none follows the last one.
func TestScans(t *testing.T) {
	h := start(t, Options{})
	if got := h.ask("MS0384038401003;abc"); got != "MS0384038401003;abc|00P" {
		t.Fatal(got)
	}
	for _, left := range []string{"02", "01", "00"} {
		got := h.lines()
		if got[0] != "MS03840384010"+left+";abc" || got[1] != "99b" || len(got) != 4 || len(got[3]) != 3 {
			t.Fatalf("got %q", got)
		}
	}
	if got := h.ask("QT"); got != "QT|00P" {
		t.Error(got)
	}
}

// A scan interval of 2 skips two revolutions between scans.
func TestInterval(t *testing.T) {
	s := &Sensor{opts: Options{Model: URG04LX, Room: room.Or(nil)}, scip2: true}
	s.Receive(0, []byte("MD0384038401209\n"))
	var left []int
	for turn := range 8 {
		s.Advance(time.Duration(turn+1) * s.period())
		left = append(left, s.left)
	}
	if want := []int{8, 8, 8, 7, 7, 7, 6, 6}; !slices.Equal(left, want) {
		t.Errorf("scans that remain after each turn: %v, want %v", left, want)
	}
}

func TestIntensityStream(t *testing.T) {
	h := start(t, Options{Model: UTM30LX})
	if got := h.ask("ME0540054001001"); got != "ME0540054001001|00P" {
		t.Fatal(got)
	}
	if got := h.lines(); got[0] != "ME0540054001000" || got[1] != "99b" || len(got[3]) != 7 {
		t.Errorf("got %q", got)
	}
}

// SS answers at the old speed; RS goes back to the first one.
func TestSpeeds(t *testing.T) {
	h := start(t, Options{})
	if got := h.ask("SS115200"); got != "SS115200|00P" {
		t.Fatal(got)
	}
	for _, step := range []struct {
		baud    int
		command string
	}{{115200, "RS"}, {19200, "QT"}} {
		rawhost.Until(t, h.sensor, "the speed", func() bool { return h.sensor.Baud() == step.baud })
		h.Speed(step.baud)
		if got := h.ask(step.command); got != step.command+"|00P" {
			t.Fatal(got)
		}
	}
}

func TestTimeOfAdjustment(t *testing.T) {
	h := start(t, Options{})
	h.lines("TM0")
	got := h.lines("TM1;x")
	if len(got) != 3 || got[0] != "TM1;x" || got[1] != "00P" || len(got[2]) != 5 || got[2][4] != sum(got[2][:4]) {
		t.Errorf("got %q", got)
	}
}

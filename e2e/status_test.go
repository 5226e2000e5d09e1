package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"player/codec"
	"player/e2e/must"
	"player/e2e/waiting"
	"player/simulation/emulator/arduino"
	"player/simulation/emulator/create"
	robot "player/simulation/emulator/p2os"
)

// serverStatus is the part of /status that a test needs.
type serverStatus struct {
	Robots []struct {
		Port      int
		Commander *string
		Stopped   bool
		Devices   map[string]struct {
			State  string
			Age    *float64 `json:"age_ms"`
			Setups int
			Charge string
		}
		Clients []struct {
			Address, Name string
			TLS           bool
			Certificate   string
			Skipped       uint64
			Devices       map[string]string
			Rate          float64
			Frames        uint64
			Commands      uint64
			Refused       uint64
		}
	}
	Loop    struct{ Wakes uint64 }
	Cameras map[string]struct {
		State    string
		Viewers  int
		Pictures int
		Age      *float64 `json:"age_ms"`
		Error    string
	}
}

// fetch sends a request and returns the code and the text of the reply.
func fetch(t *testing.T, method, url string) (code int, text string) {
	t.Helper()
	r := must.Get(http.NewRequestWithContext(t.Context(), method, url, nil))(t)
	r.Close = true
	reply := must.Get(http.DefaultClient.Do(r))(t)
	defer reply.Body.Close()
	body := must.Get(io.ReadAll(reply.Body))(t)
	return reply.StatusCode, string(body)
}

func status(t *testing.T, page string) (s serverStatus) {
	t.Helper()
	code, text := fetch(t, "GET", page+"status")
	if err := json.Unmarshal([]byte(text), &s); err != nil || code != http.StatusOK {
		t.Fatalf("%d, %v: %s", code, err, text)
	}
	return s
}

// All clients see the names of the clients and of the driver.
func TestStatus(t *testing.T) {
	t.Parallel()
	s := start(t, "-stage", room, "-http", "127.0.0.1:0", "-max-rate", "50")
	page := s.dashboard(t)
	if r := status(t, page).Robots[0]; r.Commander != nil || len(r.Clients) != 0 || r.Devices["position"].State != "idle" || r.Devices["position"].Age != nil ||
		s.address != fmt.Sprintf("127.0.0.1:%d", r.Port) {
		t.Errorf("nobody is connected: %+v", r)
	}
	if code, text := fetch(t, "GET", page+"healthz"); code != http.StatusOK {
		t.Errorf("nothing is open: %d, %s", code, text)
	}
	anna, ben := s.dial(t), s.dial(t)
	anna.message('x', 'y', append([]byte{codec.ConfigName}, "Anna"...)...)
	anna.message('x', 'y', codec.ConfigFrequency, 0xFF, 0xFF)
	anna.mustOpen("srpa", "srpa")
	ben.mustOpen("pa", "pa")
	commands := func(p *peer) {
		p.drive(0, 10)
		waiting.Until(t, "the commander in the status", func() bool {
			c := status(t, page).Robots[0].Commander
			return c != nil && *c == p.conn.LocalAddr().String()
		})
	}
	commands(anna)
	commands(ben)
	commands(anna)
	anna.frame(20)
	r := status(t, page).Robots[0]
	for _, c := range r.Clients {
		if c.Address == ben.conn.LocalAddr().String() {
			if c.Name != "" || c.Commands != 1 || c.Rate != 10 {
				t.Errorf("Ben: %+v", c)
			}
		} else if c.Address != anna.conn.LocalAddr().String() || c.Name != "Anna" || c.Commands != 2 || c.Rate != 50 || c.Frames < 10 || fmt.Sprint(c.Devices) != "map[p:a s:r]" {
			t.Errorf("Anna: %+v", c)
		}
	}
	if d := r.Devices["position"]; len(r.Clients) != 2 || d.State != "ready" || d.Age == nil || *d.Age > 3000 || d.Setups != 1 {
		t.Errorf("%+v", r)
	}
	anna.conn.Close()
	waiting.Until(t, "no commander", func() bool { r := status(t, page).Robots[0]; return r.Commander == nil && len(r.Clients) == 1 })
}

// A device that could not be opened, and one that falls silent, make the server
// unwell; opening it again, or closing it, heals it.
func TestHealth(t *testing.T) {
	t.Parallel()
	r := startRobot(t, robot.Options{})
	s := start(t, "-pp", r.Port(), "-lp", "/dev/none", "-http", "127.0.0.1:0")
	page := s.dashboard(t)
	healthy := func(want int, words ...string) {
		t.Helper()
		waiting.Until(t, fmt.Sprintf("%d %q", want, words), func() bool {
			code, text := fetch(t, "GET", page+"healthz")
			for _, w := range words {
				if !strings.Contains(text, w) {
					return false
				}
			}
			return code == want
		})
	}
	healthy(http.StatusOK, `"laser":"idle"`, `"position":"idle"`)
	p := s.dial(t)
	p.mustOpen("pr", "pr")
	healthy(http.StatusOK, `"position":"ready"`)
	p.mustOpen("lr", "le")
	healthy(http.StatusServiceUnavailable, `"laser":"failed"`, `"position":"ready"`)
	r.Close()
	healthy(http.StatusServiceUnavailable, `"position":"stale"`)
	_, text := fetch(t, "GET", page+"metrics")
	if m := checkMetrics(t, text); m[`player_device_errors_total{robot="`+s.port()+`",device="laser"}`] != 1 || m[`player_device_errors_total{robot="`+s.port()+`",device="position"}`] < 1 {
		t.Errorf("%s", text)
	}
	p.conn.Close()
	healthy(http.StatusServiceUnavailable, `"position":"idle"`)
}

func (s *server) port() string {
	_, port, _ := net.SplitHostPort(s.address)
	return port
}

var (
	metricHelp   = regexp.MustCompile(`^# HELP (\S+) \S.*$`)
	metricType   = regexp.MustCompile(`^# TYPE (\S+) (counter|gauge)$`)
	metricSample = regexp.MustCompile(`^([a-z_]+)(\{(?:[a-z]+="(?:[^"\\]|\\["\\n])*",?)+\})? (\S+)$`)
)

// checkMetrics reads Prometheus text: each family has a HELP, a TYPE and then all its
// samples, each once.
func checkMetrics(t *testing.T, text string) map[string]float64 {
	t.Helper()
	samples, seen, helped, family := map[string]float64{}, map[string]bool{}, "", ""
	for line := range strings.Lines(text) {
		line, ok := strings.CutSuffix(line, "\n")
		help, kind, sample := metricHelp.FindStringSubmatch(line), metricType.FindStringSubmatch(line), metricSample.FindStringSubmatch(line)
		switch {
		case ok && help != nil && !seen[help[1]]:
			helped, family = help[1], ""
			seen[helped] = true
		case ok && kind != nil && kind[1] == helped && family == "":
			family = helped
		case ok && sample != nil && sample[1] == family:
			value, err := strconv.ParseFloat(sample[3], 64)
			if _, twice := samples[sample[1]+sample[2]]; twice || err != nil {
				t.Fatalf("%q: twice, or %v", line, err)
			}
			samples[sample[1]+sample[2]] = value
		default:
			t.Fatalf("metrics: %q after %q", line, helped)
		}
	}
	return samples
}

// An emergency stop holds on every kind of robot while clients come and go, until it is
// released.
func TestEmergencyStop(t *testing.T) {
	t.Parallel()
	for name, begin := range map[string]func(t *testing.T) (s *server, moves func() bool){
		"p2os": func(t *testing.T) (*server, func() bool) {
			r := startRobot(t, robot.Options{})
			return start(t, "-pp", r.Port()), func() bool { state := r.State(); return state.WantLeft != 0 || state.WantRight != 0 }
		},
		"stage":          func(t *testing.T) (*server, func() bool) { return start(t, "-stage", room), nil },
		"stage -reflex":  func(t *testing.T) (*server, func() bool) { return start(t, "-stage", room, "-reflex"), nil },
		"stage -deadman": func(t *testing.T) (*server, func() bool) { return start(t, "-stage", room, "-deadman", "300"), nil },
		"create": func(t *testing.T) (*server, func() bool) {
			r, s := startCreate(t, create.Options{})
			return s, func() bool { state := r.State(); return state.Left != 0 || state.Right != 0 }
		},
		"lines": func(t *testing.T) (*server, func() bool) {
			_, s := startArduino(t, arduino.Options{})
			return s, nil
		},
		"plugin": func(t *testing.T) (*server, func() bool) {
			dir := t.TempDir()
			write(t, dir, "echo.py", echo)
			return start(t, write(t, dir, "robot.cfg", `driver ( name "echo" plugin "echo.py" provides ["position:0"] )`)), nil
		},
		"passthrough": func(t *testing.T) (*server, func() bool) {
			r := startRobot(t, robot.Options{})
			s := passing(t, start(t, "-pp", r.Port()).address, `"position:0"`)
			return s, func() bool { state := r.State(); return state.WantLeft != 0 || state.WantRight != 0 }
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, moves := begin(t)
			p, operator := s.dial(t), s.dial(t)
			p.mustOpen("pa", "pa")
			p.message('x', 'p', 'm', 1)
			drives := func(p *peer) {
				t.Helper()
				p.drives("it turns", 0, 40, func() bool { return p.position().TurnRate != 0 && (moves == nil || moves()) })
			}
			// stands waits until it stands, and then sees it stand while it is commanded.
			stands := func(p *peer) {
				t.Helper()
				p.drives("it stands", 0, 40, func() bool { d := p.position(); return d.TurnRate == 0 && d.Speed == 0 })
				for range 10 {
					p.drive(0, 40)
					if d := p.position(); d.TurnRate != 0 || d.Speed != 0 || moves != nil && moves() {
						t.Fatalf("it moves: %+v", d)
					}
				}
			}
			drives(p)
			operator.message('x', 'y', codec.ConfigStop, 1)
			stands(p)
			operator.conn.Close()
			p.conn.Close()
			p = s.dial(t)
			p.mustOpen("pa", "pa")
			p.message('x', 'p', 'm', 1)
			stands(p)
			operator = s.dial(t)
			operator.mustOpen("pr", "pr")
			operator.message('x', 'y', codec.ConfigStop, 0)
			drives(p)
		})
	}
}

// A stop of the robot also holds for the clients of a server that passes it on.
func TestEmergencyStopBehindPassthrough(t *testing.T) {
	t.Parallel()
	robot := start(t, "-stage", room)
	p, operator := passing(t, robot.address, wheels).dial(t), robot.dial(t)
	p.mustOpen("pa", "pa")
	turning := func() bool { return p.position().TurnRate != 0 }
	p.drives("it turns", 0, 40, turning)
	operator.message('x', 'y', codec.ConfigStop, 1)
	p.drives("it stands", 0, 40, func() bool { return !turning() })
	for range 10 {
		p.drive(0, 40)
		if turning() {
			t.Fatal("it turns")
		}
	}
	operator.message('x', 'y', codec.ConfigStop, 0)
	p.drives("it turns", 0, 40, turning)
}

// The dashboard's address also stops a robot, and all see it.
func TestStopByHTTP(t *testing.T) {
	t.Parallel()
	s, page := startDashboard(t)
	post := func(path string, want int) {
		t.Helper()
		if code, text := fetch(t, "POST", page+path); code != want {
			t.Fatalf("%s: %d, %s", path, code, text)
		}
	}
	p := s.dial(t)
	p.mustOpen("pa", "pa")
	p.drives("it turns", 0, 40, func() bool { return p.position().TurnRate != 0 })
	post("stop?robot=1", http.StatusNotFound)
	if status(t, page).Robots[0].Stopped {
		t.Error("it is stopped")
	}
	post("stop?robot="+s.port(), http.StatusNoContent)
	p.drives("it stands", 0, 40, func() bool { return p.position().TurnRate == 0 })
	if r := status(t, page).Robots[0]; !r.Stopped || r.Clients[0].Refused == 0 {
		t.Errorf("%+v", r)
	}
	if code, _ := fetch(t, "GET", page+"healthz"); code != http.StatusOK {
		t.Errorf("a robot that is stopped is well: %d", code)
	}
	post("release?robot="+s.port(), http.StatusNoContent)
	p.drives("it turns", 0, 40, func() bool { return p.position().TurnRate != 0 })
}

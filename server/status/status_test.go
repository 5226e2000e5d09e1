package status

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"player/e2e/must"
	"player/e2e/promtool"
)

// example has a robot that works and one in trouble.
func example() Status {
	age, ago := Millis(1500*time.Microsecond), Seconds(250*time.Millisecond)
	anna := netip.MustParseAddrPort("10.0.0.7:40000")
	return Status{
		Version: "1.2\\3\"4\n5",
		Uptime:  Seconds(90 * time.Second),
		Robots: []Robot{
			{
				Name: "r1", Port: 6665, Control: "newest", Commander: &anna,
				Devices: map[string]Device{
					"position": {Driver: "p2os", State: Ready, Open: true, Rate: 9.5, Age: &age, Counted: Counted{Setups: 2, Errors: 1, Retries: 1, Noise: 12}},
					"laser":    {Driver: "sicklms200", State: Idle},
					"laser:1":  {Driver: "urg", State: Starting, Open: true, Rate: 40},
				},
				Clients: []Client{{Address: anna, Name: "Anna", TLS: true, Certificate: "anna", Connected: Seconds(time.Minute), Devices: "prla laser:1=r", Rate: 20, Served: 19.9, Age: &age,
					Last: &ago, Counts: Counts{Frames: 7, Bytes: 700, Skipped: 1, Commands: 5, Refused: 2}}},
				Recorders: map[string]Recorder{"/var/run.mcap": {State: Recording, Messages: 7, Bytes: 70, Lost: 3}},
				Totals:    Counts{Frames: 17, Bytes: 1700, Skipped: 3, Commands: 15, Refused: 4},
			},
			{Name: "r\xFF2", Port: 6666, Control: "first", Stopped: true, Devices: map[string]Device{"laser": {Driver: "urg", State: Failed, Error: "no answer"}}, Clients: []Client{}},
		},
		Loop:  Loop{Wakes: 1e6, LateFrames: 2, Clients: 1, MaxClients: 100},
		Guard: GuardReady,
	}
}

// The names of the fields are those that tools rely on.
func TestJSON(t *testing.T) {
	s := example()
	s.Version, s.Robots = "1", s.Robots[:1]
	got := must.Get(json.Marshal(s))(t)
	const want = `{"version":"1","uptime_s":90,"robots":[{"name":"r1","port":6665,"control":"newest","commander":"10.0.0.7:40000","stopped":false,` +
		`"devices":{"laser":{"driver":"sicklms200","state":"idle","open":false,"rate_hz":0,"age_ms":null,"setups":0,"errors":0,"retries":0,"noise":0},` +
		`"laser:1":{"driver":"urg","state":"starting","open":true,"rate_hz":40,"age_ms":null,"setups":0,"errors":0,"retries":0,"noise":0},` +
		`"position":{"driver":"p2os","state":"ready","open":true,"rate_hz":9.5,"age_ms":1.5,"setups":2,"errors":1,"retries":1,"noise":12}},` +
		`"recorders":{"/var/run.mcap":{"state":"recording","messages":7,"bytes":70,"lost":3}},` +
		`"clients":[{"address":"10.0.0.7:40000","name":"Anna","tls":true,"certificate":"anna","connected_s":60,"devices":{"l":"a","laser:1":"r","p":"r"},"rate":20,"served_hz":19.9,"age_ms":1.5,` +
		`"paced":false,"last_command_s":0.25,"frames":7,"bytes":700,"skipped":1,"commands":5,"refused":2}],` +
		`"totals":{"frames":17,"bytes":1700,"skipped":3,"commands":15,"refused":4}}],` +
		`"loop":{"wakes":1000000,"late_frames":2,"clients":1,"max_clients":100},"guard":"ready"}`
	if string(got) != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

// The devices that a client has open have one form as text, and one as JSON.
func TestAccess(t *testing.T) {
	for text, want := range map[Access]string{
		"": `{}`, "srpa": `{"p":"a","s":"r"}`, "laser:1=r imu:0=a": `{"imu:0":"a","laser:1":"r"}`, "yrlr ranger:0=r io:0=w": `{"io:0":"w","l":"r","ranger:0":"r","y":"r"}`,
	} {
		got := must.Get(json.Marshal(text))(t)
		if string(got) != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
		var back Access
		must.Do(t, json.Unmarshal(got, &back))
		if again := must.Get(json.Marshal(back))(t); string(again) != want || len(back) != len(text) {
			t.Errorf("%q is read as %q", text, back)
		}
	}
}

func TestHealth(t *testing.T) {
	s := example()
	if h := s.Health(); h.Well || h.Robots[1].Devices["laser"] != Failed || h.Robots[0].Devices["position"] != Ready || !h.Robots[1].Stopped {
		t.Errorf("%+v", h)
	}
	for state, want := range map[State]bool{Idle: true, Starting: true, Ready: true, Stopping: true, Lost: false, Failed: false, Stale: false} {
		s.Robots[1].Devices["laser"] = Device{State: state}
		if got := s.Health().Well; got != want {
			t.Errorf("%s: %v", state, got)
		}
	}
	s.Robots[1].Devices = nil
	for state, want := range map[State]bool{Idle: true, Recording: true, Failed: false} {
		s.Robots[0].Recorders["/var/run.mcap"] = Recorder{State: state}
		if got := s.Health(); got.Well != want || got.Robots[0].Recorders["/var/run.mcap"] != state {
			t.Errorf("a recorder that is %s: %+v", state, got)
		}
	}
}

func TestMetrics(t *testing.T) {
	promtool.Names(t, example().AppendMetrics(nil))
	samples := must.Get(parseMetrics(string(example().AppendMetrics(nil))))(t)
	for name, want := range map[string]float64{
		`player_info{version="1.2\\3\"4\\x0a5"}`:                        1,
		`player_uptime_seconds`:                                         90,
		`player_clients{robot="6665"}`:                                  1,
		`player_clients{robot="6666"}`:                                  0,
		`player_robot_stopped{robot="6666"}`:                            1,
		`player_robot_info{robot="6666",name="r\\xff2"}`:                1,
		`player_frames_sent_total{robot="6665"}`:                        17,
		`player_frames_skipped_total{robot="6665"}`:                     3,
		`player_commands_total{robot="6665"}`:                           15,
		`player_commands_refused_total{robot="6665"}`:                   4,
		`player_device_age_seconds{robot="6665",device="position"}`:     0.0015,
		`player_device_dropped_total{robot="6665",device="position"}`:   12,
		`player_device_setups_total{robot="6665",device="position"}`:    2,
		`player_device_well{robot="6666",device="laser"}`:               0,
		`player_device_well{robot="6665",device="laser"}`:               1,
		`player_device_rate_hertz{robot="6665",device="laser:1"}`:       40,
		`player_recorder_well{robot="6665",file="/var/run.mcap"}`:       1,
		`player_recorder_lost_total{robot="6665",file="/var/run.mcap"}`: 3,
		`player_loop_wakes_total`:                                       1e6,
		`player_frames_late_total`:                                      2,
	} {
		if got, ok := samples[name]; !ok || got != want {
			t.Errorf("%s is %v (%v), want %v", name, got, ok, want)
		}
	}
	if _, ok := samples[`player_device_age_seconds{robot="6665",device="laser"}`]; ok {
		t.Error("a device that is not open has an age")
	}
}

// parseMetrics reads Prometheus text, whose form TestPrometheus checks.
func parseMetrics(text string) (map[string]float64, error) {
	samples := map[string]float64{}
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		i := strings.LastIndexByte(line, ' ')
		value, err := strconv.ParseFloat(strings.TrimSpace(line[i+1:]), 64)
		if _, twice := samples[line[:i]]; err != nil || twice {
			return nil, fmt.Errorf("%q comes twice, or has no value: %v", line, err)
		}
		samples[line[:i]] = value
	}
	return samples, nil
}

// The dashboard for Grafana and the alerts use only metrics that exist.
func TestMetricsInDocs(t *testing.T) {
	metrics := string(example().AppendMetrics(nil))
	for page, least := range map[string]int{"grafana.json": 10, "alerts.yml": 8} {
		text := must.Get(os.ReadFile("../../docs/" + page))(t)
		if page == "grafana.json" && !json.Valid(text) {
			t.Error("grafana.json is not JSON")
		}
		names := regexp.MustCompile(`player_[a-z_]+`).FindAllString(string(text), -1)
		if len(names) < least {
			t.Errorf("%s uses only %q", page, names)
		}
		for _, name := range names {
			if !strings.Contains(metrics, "# TYPE "+name+" ") {
				t.Errorf("%s: there is no metric %s", page, name)
			}
		}
	}
}

// Prometheus takes the alerts, the metrics, and the expressions of the dashboard.
func TestPrometheus(t *testing.T) {
	promtool.Check(t, "../../docs/alerts.yml", "../../docs/grafana.json", example().AppendMetrics(nil))
}

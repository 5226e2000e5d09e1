package app

import (
	"os"
	"testing"

	"player/e2e/must"
	"player/formats/telemetry"
	"player/process/logging"
)

// Robots of one name differ by their ports. Devices have the letters and places
// of the configuration, and those that clients cannot open are not offered.
func TestViewersRobots(t *testing.T) {
	log := logging.New(os.Stderr, logging.Auto, false)
	o := options{port: 6665, bind: "127.0.0.1", foxglove: "127.0.0.1:0", builtin: []byte(`
		driver ( name "testpattern" provides ["position:0" "laser:0" "sonar:1"] pose [0.08 0 180] )`)}
	conf := must.Get(o.configure(log))(t)
	other := must.Get(options{port: 6670, builtin: []byte(`driver ( name "testpattern" )`)}.configure(log))(t)
	conf.Robots = append(conf.Robots, other.Robots...)
	f := must.Get(openFoxglove(o, conf, &simulation{}, &cameras{}, log))(t)
	defer f.listener.Close()
	robots := robotsOf(conf, &simulation{}, "127.0.0.1")
	if len(f.Origins) != 1 || f.Origins[0] != foxgloveApp || len(robots) != 2 {
		t.Fatalf("%q, %+v", f.Origins, robots)
	}
	first, second := robots[0], robots[1]
	if first.Name != "robot6665" || second.Name != "robot6670" || first.Address != "127.0.0.1:6665" || len(first.Devices) != 3 || len(second.Devices) < 3 {
		t.Errorf("%+v, %+v", first, second)
	}
	for _, d := range first.Devices {
		code := d.Interface[0]
		if d.Index != 0 {
			code = 0x80
		}
		if d.Geometry != (telemetry.Geometry{X: 80, Heading: 180}) || d.Code != code || d.Interface == "sonar" && d.Index != 1 {
			t.Errorf("%+v", d)
		}
	}
	o.origin, o.foxglove = "off", "127.0.0.1:0"
	closed := must.Get(openFoxglove(o, conf, &simulation{}, &cameras{}, log))(t)
	defer closed.listener.Close()
	if closed.Origins != nil {
		t.Errorf("origins %q", closed.Origins)
	}
	if none, err := openFoxglove(options{}, conf, &simulation{}, &cameras{}, log); none != nil || err != nil {
		t.Error("there are viewers without -foxglove")
	}
}

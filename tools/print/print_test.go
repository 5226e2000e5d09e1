package print

import (
	"encoding/json"
	"net"
	"strings"
	"testing"

	"player/client"
	"player/codec"
	"player/devices"
	"player/e2e/must"
	"player/tools"
)

// reader returns a client that has read one round of blocks.
func reader(t *testing.T, devices string, blocks ...[]byte) *client.Client {
	t.Helper()
	near, far := net.Pipe()
	t.Cleanup(func() { near.Close(); far.Close() })
	c := client.New(near)
	go func() {
		header := make([]byte, 4+len(devices))
		_, _ = far.Read(header)
		_, _ = far.Write(codec.AppendBlock(nil, codec.KindReply, []byte(devices)))
		for _, b := range blocks {
			_, _ = far.Write(b) // Read fails if it is not taken
		}
	}()
	must.Do(t, c.Request(t.Context(), devices))
	must.Do(t, c.Read(t.Context()))
	return c
}

// all returns a printer of a client that has data of all devices but the sonar,
// and of an unknown one.
func all(t *testing.T) *printer {
	var laser codec.LaserData
	for i := range laser {
		laser[i] = uint16(8000 - i)
	}
	fresh := codec.FreshnessData{Time: 12_345_678, Ages: []uint32{1000, 2000, 2500, codec.NoAge, 0, 0, 0, 0, 7}}
	vision := codec.VisionData{Blobs: []codec.Blob{{Area: 100, X: 1, Y: 2, Left: 3, Right: 4, Top: 5, Bottom: 6}}}
	vision.Count[3] = 1
	block := codec.AppendBlock
	c := reader(t, "yrprlrmrsrgrzrvrjrqr",
		block(nil, 'y', fresh.Append(nil)),
		block(nil, 'p', (&codec.PositionData{X: -5, Y: 7, Heading: 90, Speed: -100, TurnRate: 3, Compass: 45, Stall: 1}).Append(nil)),
		block(nil, 'l', laser.Append(nil)), block(nil, 'm', (&codec.MiscData{FrontBumpers: 2, Battery: 121}).Append(nil)),
		block(nil, 's', nil), block(nil, 'g', []byte{1, 2}), block(nil, 'z', (&codec.PTZData{Pan: -9, Tilt: 8, Zoom: 700}).Append(nil)),
		block(nil, 'v', vision.Append(nil)), block(nil, 'j', (&codec.JoystickData{Buttons: 5}).Append(nil)), block(nil, 'q', []byte{1, 0xAB}))
	return printed(t, c, "prlrmrsrgrzrvrjrqr", true)
}

func printed(t *testing.T, c *client.Client, devices string, aged bool) *printer {
	t.Helper()
	p := newPrinter(c, must.Get(tools.Choose(t.Context(), c, devices))(t))
	p.aged = aged
	return p
}

// Devices without letters have their names, and an unknown value is null.
func TestNamedDevices(t *testing.T) {
	imu, gps := codec.UnknownIMU(), codec.UnknownGPS()
	imu.Yaw, gps.Fix, gps.Latitude, gps.Longitude = 90000, codec.RTKFix, 520000000, -135000000
	ranger := codec.RangerData{Unit: 10, Ranges: []uint16{500, 41, codec.NothingInRange, codec.UnknownRange}}
	io, servo := codec.IOData{Values: []int32{1, codec.Unknown}}, codec.ServoData{Joints: []codec.Joint{{Position: -5, Goal: codec.Unknown, State: 129}}}
	target := codec.GotoData{State: codec.GotoStopped, Reason: codec.GotoNoWay, Tag: 7, X: 4500, Y: -1200, Heading: codec.AnyHeading, Distance: 3200}
	block := codec.AppendBlock
	c := reader(t, "\x80r\x81r\x82r\x83r\x84r\x85r\x86r", block(nil, 0x80, ranger.Append(nil)), block(nil, 0x81, imu.Append(nil)), block(nil, 0x82, gps.Append(nil)),
		block(nil, 0x83, io.Append(nil)), block(nil, 0x84, servo.Append(nil)), block(nil, 0x85, []byte{1}), block(nil, 0x86, target.Append(nil)))
	var chosen []tools.Device
	for i, spec := range []devices.Spec{devices.Ranger(), devices.IMU(), devices.GPS(), devices.IO().At(2), devices.Servo(), devices.IMU().At(1), devices.Goto()} {
		chosen = append(chosen, tools.Device{Code: byte(0x80 + i), Spec: spec})
	}
	p := newPrinter(c, chosen)
	const want = `{"ranger":{"ranges_mm":[5000,410,null,null]},` +
		`"imu":{"roll_mdeg":null,"pitch_mdeg":null,"yaw_mdeg":90000,"roll_rate_mdeg_per_s":null,"pitch_rate_mdeg_per_s":null,"yaw_rate_mdeg_per_s":null,` +
		`"x_mm_per_s2":null,"y_mm_per_s2":null,"z_mm_per_s2":null},` +
		`"gps":{"fix":4,"satellites":null,"latitude_deg":52.0000000,"longitude_deg":-13.5000000,"height_mm":null,"horizontal_mm":null,"vertical_mm":null,` +
		`"time_ms":null,"speed_mm_per_s":null,"course_mdeg":null},` +
		`"io:2":{"values":[1,null]},"servo":{"positions":[-5],"goals":[null],"states":[129]},"imu:1":{"payload":"01"},` +
		`"goto":{"state":4,"reason":6,"tag":7,"x_mm":4500,"y_mm":-1200,"heading_deg":null,"distance_mm":3200}}`
	if got := string(p.json(nil)); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	parts := strings.Split(string(p.text(nil)), " | ")
	if parts[0] != "ranger nearest 410 mm, reading 1 of 4" || parts[3] != "io:2 values 1 unknown" ||
		parts[6] != "goto stopped (no way), 3200 mm to x 4500 y -1200 mm" {
		t.Errorf("%q", parts)
	}
}

// A goal has its heading if it has one, and a device without a goal says that it is idle.
func TestGoal(t *testing.T) {
	for want, d := range map[string]codec.GotoData{
		" idle":                                  {X: codec.Unknown, Y: codec.Unknown, Heading: codec.AnyHeading, Distance: codec.UnknownAmount},
		" driving, to x 1 y 2 mm heading 90 deg": {State: codec.GotoDriving, X: 1, Y: 2, Heading: 90, Distance: codec.UnknownAmount},
	} {
		if got := string(goal(nil, &d)); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestJSON(t *testing.T) {
	p := all(t)
	line := p.json(nil)
	var got map[string]json.RawMessage
	if err := json.Unmarshal(line, &got); err != nil {
		t.Fatalf("%v: %s", err, line)
	}
	for name, want := range map[string]string{
		"time_s":   `12.345678`,
		"position": `{"age_ms":1.000,"x_mm":-5,"y_mm":7,"heading_deg":90,"speed_mm_per_s":-100,"turn_rate_deg_per_s":3,"compass_deg":45,"stall":1}`,
		"misc":     `{"age_ms":2.500,"front_bumpers":[0,1,0,0,0],"rear_bumpers":[0,0,0,0,0],"battery_decivolt":121}`,
		"gripper":  `{"age_ms":0.000,"state":[1,0,0,0,0,0,0,0],"beams":[0,1,0,0,0,0]}`,
		"ptz":      `{"age_ms":0.000,"pan_deg":-9,"tilt_deg":8,"zoom":700}`,
		"vision":   `{"age_ms":0.000,"blobs":[{"channel":3,"area_px":100,"x_px":1,"y_px":2,"left_px":3,"right_px":4,"top_px":5,"bottom_px":6}]}`,
		"joystick": `{"age_ms":0.000,"buttons":5,"axes":[0,0,0,0,0,0,0,0]}`,
		"q":        `{"age_ms":0.007,"payload":"01ab"}`,
	} {
		if string(got[name]) != want {
			t.Errorf("%s: %s\nwant %s", name, got[name], want)
		}
	}
	if _, sonar := got["sonar"]; sonar {
		t.Error("there is a sonar without data")
	}
	if laser := string(got["laser"]); !strings.HasPrefix(laser, `{"age_ms":2.000,"ranges_mm":[8000,7999,`) || strings.Count(laser, ",") != codec.LaserCount {
		t.Error(laser)
	}
}

func TestText(t *testing.T) {
	p := all(t)
	line := string(p.text(nil))
	parts := strings.Split(line, " | ")
	for i, want := range []string{
		"    12.346 s",
		"position x -5 mm y 7 mm heading 90 deg speed -100 mm/s turn_rate 3 deg/s compass 45 deg stall 1",
		"laser nearest 7640 mm at 90.0 deg, right 8000 ahead 7820 left 7640 mm",
		"misc front_bumpers 0 1 0 0 0 rear_bumpers 0 0 0 0 0 battery 121 decivolt",
		"sonar no data",
	} {
		if i >= len(parts) || parts[i] != want {
			t.Errorf("%s\nwant %q", line, want)
		}
	}
}

func TestWithoutAges(t *testing.T) {
	c := reader(t, "prsr", codec.AppendBlock(nil, 'p', (&codec.PositionData{X: 1}).Append(nil)), codec.AppendBlock(nil, 's', nil))
	p := printed(t, c, "prsrpr", false)
	if got := string(p.json(nil)); !strings.HasPrefix(got, `{"position":{"x_mm":1,`) || !json.Valid([]byte(got)) {
		t.Error(got)
	}
	if got := string(p.text(nil)); !strings.HasPrefix(got, "position x 1 mm") || !strings.HasSuffix(got, "| sonar no data") {
		t.Error(got)
	}
}

package telemetry

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"player/codec"
)

const (
	second = int64(1e9)
	taken  = 1785233700*second + 123456789
)

// all returns a converter with one device of each interface.
func all(robot string) (*Converter, map[string]int) {
	var list []Device
	index := map[string]int{}
	for _, name := range []string{"position", "sonar", "laser", "misc", "gripper", "vision", "ptz", "joystick"} {
		index[name] = len(list)
		list = append(list, Device{Interface: name})
	}
	list[index["laser"]].Geometry = Geometry{X: 100, Y: -50, Heading: 180}
	return New(robot, list), index
}

// Unknown fields are no measurements, and angles are those of REP 103.
func TestSensors(t *testing.T) {
	list := []Device{{Interface: "imu"}, {Interface: "gps", Index: 1, Geometry: Geometry{X: -200}}, {Interface: "io"}, {Interface: "servo"}, {Interface: "ranger"}}
	c := New("", list)
	imu := codec.UnknownIMU()
	imu.Yaw, imu.YawRate, imu.Z = 90000, -180000, 9807
	got := one[Imu](t, c, c.Data(0, taken, imu.Append(nil)), "/imu")
	if !near(heading(got.Orientation), 90) || !near(got.AngularVelocity.Z, -math.Pi) || got.LinearAcceleration != (Vector3{Z: 9.807}) ||
		!got.OrientationKnown || !got.AngularVelocityKnown || !got.LinearAccelerationKnown || got.FrameID != "imu" {
		t.Errorf("%+v", got)
	}
	imu = codec.UnknownIMU()
	if got = one[Imu](t, c, c.Data(0, taken, imu.Append(nil)), "/imu"); got.OrientationKnown || got.AngularVelocityKnown || got.LinearAccelerationKnown {
		t.Errorf("nothing is known: %+v", got)
	}
	for angles, want := range map[Vector3]Quaternion{
		{X: math.Pi / 2}: {X: math.Sqrt2 / 2, W: math.Sqrt2 / 2}, {Y: math.Pi / 2}: {Y: math.Sqrt2 / 2, W: math.Sqrt2 / 2},
		{X: math.Pi / 2, Z: math.Pi / 2}: {X: 0.5, Y: 0.5, Z: 0.5, W: 0.5},
	} {
		if q := rotated(angles.X, angles.Y, angles.Z); !near(q.X, want.X) || !near(q.Y, want.Y) || !near(q.Z, want.Z) || !near(q.W, want.W) {
			t.Errorf("%+v is %+v, want %+v", angles, q, want)
		}
	}
	gps := codec.GPSData{Fix: codec.RTKFix, Satellites: 12, Latitude: 525000000, Longitude: -132500000, Height: 34500, Horizontal: 20, Vertical: 30,
		Speed: 1500, Course: 90000}
	messages := c.Data(1, taken, gps.Append(nil))
	fix := one[LocationFix](t, c, messages, "/gps:1")
	if fix.Latitude != 52.5 || fix.Longitude != -13.25 || fix.Altitude != 34.5 || fix.FrameID != "gps1" || fix.PositionCovarianceType != 2 ||
		!near(fix.PositionCovariance[0], 0.0002) || !near(fix.PositionCovariance[8], 0.0009) {
		t.Errorf("%+v", fix)
	}
	if s := one[GPS](t, c, messages, "/gps:1/fix"); s.Fix != 4 || s.Satellites != 12 || s.Speed != 1.5 || !near(s.Course, math.Pi/2) {
		t.Errorf("%+v", s)
	}
	gps = codec.UnknownGPS()
	messages = c.Data(1, taken, gps.Append(nil))
	if s := one[GPS](t, c, messages, "/gps:1/fix"); s != (GPS{s.Timestamp, -1, -1, -1, -1}) || len(messages) > 1 {
		t.Errorf("%+v", messages)
	}
	io := codec.IOData{Values: []int32{7, codec.Unknown}}
	if got := one[Channels](t, c, c.Data(2, taken, io.Append(nil)), "/io"); fmt.Sprint(got.Values, got.Known) != "[7 0] [true false]" {
		t.Errorf("%+v", got)
	}
	servo := codec.ServoData{Joints: []codec.Joint{{Position: -5, Goal: codec.Unknown, State: codec.JointKnown | codec.JointMoving}, {Position: codec.Unknown, Goal: 3, State: codec.JointMoving}}}
	if got := one[Joints](t, c, c.Data(3, taken, servo.Append(nil)), "/servo"); got.Joints[0] != (Joint{Name: "servo_0", Unit: "-", Position: -5, Known: true, Moving: true}) ||
		got.Joints[1] != (Joint{Name: "servo_1", Unit: "-", Goal: 3, HasGoal: true}) {
		t.Errorf("%+v", got)
	}
	ranger := codec.RangerData{Unit: 10, Ranges: []uint16{150, codec.NothingInRange}}
	if got := one[Ranges](t, c, c.Data(4, taken, ranger.Append(nil)), "/ranger/ranges"); fmt.Sprint(got.Ranges) != "[1.5 0]" {
		t.Errorf("%+v", got)
	}
	for i := range list {
		if m := c.Data(i, taken, []byte{1}); len(m) > 0 {
			t.Errorf("one byte of %s: %+v", list[i].Interface, m)
		}
	}
}

// A ranger is drawn as a scan, as cones, or as points in the frame of the robot.
func TestRanger(t *testing.T) {
	c := New("r", []Device{{Interface: "ranger", Description: Description{Rays: []codec.Rays{{Count: 3, X: 100, Heading: 90, Step: -90}}}}})
	data := codec.RangerData{Unit: 10, Ranges: []uint16{100, codec.NothingInRange, 50}}
	messages := c.Data(0, taken, data.Append(nil))
	scan := one[LaserScan](t, c, messages, "/r/ranger")
	if fmt.Sprint(scan.Ranges) != "[0.5 0 1]" || !near(scan.StartAngle, -math.Pi/2) || !near(scan.EndAngle, math.Pi/2) || scan.FrameID != "r/ranger" {
		t.Errorf("%+v", scan)
	}
	if got := frames(c, messages); fmt.Sprint(got) != "[r/base_link -> r/ranger 0.100 0.000 0]" {
		t.Errorf("%v", got)
	}
	if len(c.Topics()) != 4 { // tf, log, the scan and the ranges
		t.Errorf("%v", c.Topics())
	}
	c.Describe(0, Description{Rays: []codec.Rays{{Count: 2, Step: 90}, {First: 2, Count: 1}}})
	if got := c.Data(0, taken, data.Append(nil)); len(got) != 1 || c.Topics()[got[0].Topic].Name != "/r/ranger/ranges" {
		t.Errorf("another form than it was declared with: %v", got)
	}
	c = New("r", []Device{{Interface: "ranger"}}) // it is described when it is open
	c.Describe(0, Description{Rays: []codec.Rays{{First: 0, Count: 1, Cone: 20, Heading: 90}, {First: 1, Count: 1}}})
	messages = c.Data(0, taken, data.Append(nil))
	cones := one[SceneUpdate](t, c, messages, "/r/ranger/cones").Entities[0]
	if len(cones.Cylinders) != 1 || !near(cones.Cylinders[0].Size.Z, 1) || !near(cones.Cylinders[0].Pose.Position.Y, 0.5) || cones.FrameID != "r/base_link" {
		t.Errorf("%+v", cones)
	}
	if got := frames(c, messages); len(got) != 2 || got[0] != "r/base_link -> r/ranger_0 0.000 0.000 90" {
		t.Errorf("%v", got)
	}
	c.Describe(0, Description{Rays: []codec.Rays{{Count: 2, Step: 90}, {First: 2, Count: 1, Heading: 180, X: -100}}})
	cloud := one[PointCloud](t, c, c.Data(0, taken, data.Append(nil)), "/r/ranger/points")
	points := AppendPoint(AppendPoint(nil, 1, 0), -0.6, 0)
	if len(cloud.Data) != len(points) || !slices.Equal(cloud.Data[:12], points[:12]) || !slices.Equal(cloud.Data[12:16], points[12:16]) ||
		cloud.PointStride != 12 || cloud.Fields[1] != (Field{"y", 4, 7}) || cloud.FrameID != "r/base_link" {
		t.Errorf("%+v", cloud)
	}
	many := make([]codec.Rays, 65)
	for i := range many {
		many[i] = codec.Rays{First: i, Count: 1}
	}
	for readings, want := range map[int]Form{64: NoForm, 65: CloudForm} {
		if got := FormOf(many, readings); got != want {
			t.Errorf("%d readings: form %d, want %d", readings, got, want)
		}
	}
	if got := FormOf(many[:64], 64); got != BeamsForm {
		t.Errorf("form %d", got)
	}
}

// Sonars and lasers that the driver describes are where it says, in place of where a Pioneer has them.
func TestDescribed(t *testing.T) {
	c := New("", []Device{{Interface: "laser"}, {Interface: "sonar", Index: 1}})
	c.Describe(0, Description{Rays: []codec.Rays{{Count: codec.LaserCount, X: -50, Y: 10, Heading: 90, Step: 0.5}}})
	c.Describe(1, Description{Rays: []codec.Rays{{First: 3, Count: 1, X: 200, Y: 100, Heading: 5}}})
	got := frames(c, c.Data(0, taken, nil))
	if len(got) != 17 || got[0] != "base_link -> laser -0.050 0.010 180" && got[0] != "base_link -> laser -0.050 0.010 -180" ||
		got[1] != "base_link -> sonar1_0 0.069 0.136 90" || got[4] != "base_link -> sonar1_3 0.200 0.100 5" {
		t.Errorf("%v", got)
	}
}

// one returns the only message of a topic.
func one[T any](t *testing.T, c *Converter, messages []Message, topic string) (content T) {
	t.Helper()
	found := 0
	for _, m := range messages {
		if c.Topics()[m.Topic].Name == topic {
			content, found = m.Content.(T), found+1
		}
	}
	if found != 1 {
		t.Fatalf("%d messages of %s", found, topic)
	}
	return content
}

// frames returns the transforms among messages as "parent -> child x y heading".
func frames(c *Converter, messages []Message) (list []string) {
	for _, m := range messages {
		if f, ok := m.Content.(FrameTransform); ok {
			list = append(list, fmt.Sprintf("%s -> %s %.3f %.3f %.0f", f.ParentFrameID, f.ChildFrameID, f.Translation.X, f.Translation.Y, heading(f.Rotation)))
		}
	}
	return list
}

// heading returns the direction of x in degrees.
func heading(q Quaternion) float64 {
	return math.Atan2(2*(q.W*q.Z+q.X*q.Y), 1-2*(q.Y*q.Y+q.Z*q.Z)) * 180 / math.Pi
}

func near(a, b float64) bool { return math.Abs(a-b) < 1e-9 }

func TestLaser(t *testing.T) {
	c, index := all("")
	scan := codec.LaserData{0: 1, 180: 8191, 360: 65535}
	got := one[LaserScan](t, c, c.Data(index["laser"], taken, scan.Append(nil)), "/laser")
	if len(got.Ranges) != 361 || got.Ranges[0] != 0.001 || got.Ranges[180] != 8.191 || got.Ranges[360] != 65.535 || len(got.Intensities) != 0 || got.Intensities == nil ||
		got.StartAngle != -math.Pi/2 || got.EndAngle != math.Pi/2 || got.FrameID != "laser" || got.Timestamp != (Time{1785233700, 123456789}) ||
		got.Pose != (Pose{Orientation: Quaternion{W: 1}}) {
		t.Errorf("%+v", got)
	}
}

func TestPosition(t *testing.T) {
	c, index := all("r0")
	d := codec.PositionData{X: 1500, Y: -250, Heading: 90, Speed: -200, TurnRate: 180, Compass: 270, Stall: 1}
	messages := c.Data(index["position"], taken, d.Append(nil))
	pose := one[PoseInFrame](t, c, messages, "/r0/position")
	if pose.FrameID != "r0/odom" || pose.Pose.Position != (Vector3{1.5, -0.25, 0}) || !near(heading(pose.Pose.Orientation), 90) {
		t.Errorf("%+v", pose)
	}
	if m := one[Motion](t, c, messages, "/r0/position/motion"); m.Speed != -0.2 || !near(m.TurnRate, math.Pi) || !near(m.Compass, 1.5*math.Pi) || !m.Stall {
		t.Errorf("%+v", m)
	}
	all := frames(c, messages)
	if last := all[len(all)-1]; last != "r0/odom -> r0/base_link 1.500 -0.250 90" {
		t.Error(last)
	}
	if again := frames(c, c.Data(index["position"], taken+second/2, d.Append(nil))); len(again) != 1 {
		t.Errorf("half a second later: %q", again)
	}
}

// The tree of frames has the declared places, and otherwise a Pioneer's. It is sent again
// every second, and when a log starts again.
func TestFrames(t *testing.T) {
	c, index := all("")
	pressed := codec.MiscData{}
	first := frames(c, c.Data(index["misc"], taken, pressed.Append(nil)))
	text := strings.Join(first, "\n")
	for _, want := range []string{"base_link -> laser 0.100 -0.050 180", "base_link -> gripper 0.180 0.000 0", "base_link -> sonar_0 0.069 0.136 90", "base_link -> sonar_15 -0.157 0.136 90"} {
		if !strings.Contains(text, want) {
			t.Errorf("%s is not in\n%s", want, text)
		}
	}
	if strings.Contains(text, "camera") || len(first) != 18 {
		t.Errorf("%d frames: %s", len(first), text)
	}
	for at, want := range map[int64]int{taken + second - 1: 0, taken + second: len(first), taken - 9*second: len(first)} {
		c, _ := all("")
		c.Data(index["misc"], taken, pressed.Append(nil))
		if got := frames(c, c.Data(index["misc"], at, pressed.Append(nil))); len(got) != want {
			t.Errorf("after %d ns: %d frames, want %d", at-taken, len(got), want)
		}
	}
	// The camera turns.
	ptz := codec.PTZData{Pan: 30, Tilt: 20, Zoom: 1023}
	messages := c.Data(index["ptz"], taken, ptz.Append(nil))
	camera := one[FrameTransform](t, c, messages, "/tf")
	up := 2 * (camera.Rotation.X*camera.Rotation.Z - camera.Rotation.W*camera.Rotation.Y) // z of the direction of x
	if camera.ChildFrameID != "camera" || !near(heading(camera.Rotation), 30) || !near(up, math.Sin(rad(20))) {
		t.Errorf("%+v, up %v", camera, up)
	}
	// A fixed camera also has a frame.
	fixed := New("", []Device{{Interface: "vision", Geometry: Geometry{X: 20}}})
	if got := frames(fixed, fixed.Data(0, taken, nil)); len(got) != 1 || got[0] != "base_link -> camera 0.020 0.000 0" {
		t.Errorf("%q", got)
	}
	// The sonars of a driver with a pose are placed as a whole.
	turnedRing := New("", []Device{{Interface: "sonar", Index: 1, Geometry: Geometry{Heading: 90}}})
	if got := frames(turnedRing, turnedRing.Data(0, taken, nil)); len(got) != 16 || got[0] != "base_link -> sonar1_0 -0.136 0.069 180" {
		t.Errorf("%q", got)
	}
}

// Of several positions, the one with the lowest index moves the robot.
func TestSeveralPositions(t *testing.T) {
	c := New("", []Device{{Interface: "position", Index: 2}, {Interface: "position", Index: 1}})
	d := (&codec.PositionData{}).Append(nil)
	if inner, outer := frames(c, c.Data(0, taken, d)), frames(c, c.Data(1, taken, d)); len(inner) != 0 || len(outer) != 1 {
		t.Errorf("%q, %q", inner, outer)
	}
	if got := one[PoseInFrame](t, c, c.Data(0, taken, d), "/position:2"); got.FrameID != "odom" {
		t.Errorf("%+v", got)
	}
}

func TestSonar(t *testing.T) {
	c, index := all("")
	d := codec.SonarData{0: 1000, 3: 5000}
	messages := c.Data(index["sonar"], taken, d.Append(nil))
	if got := one[Ranges](t, c, messages, "/sonar/ranges"); len(got.Ranges) != 16 || got.Ranges[0] != 1 || got.Ranges[3] != 5 {
		t.Errorf("%+v", got)
	}
	scene := one[SceneUpdate](t, c, messages, "/sonar").Entities[0]
	if len(scene.Cylinders) != 2 || scene.FrameID != "base_link" || !scene.FrameLocked || scene.Cylinders[1].Color.A >= scene.Cylinders[0].Color.A {
		t.Fatalf("%+v", scene)
	}
	cone := scene.Cylinders[0]
	// Sonar 0 looks to the left: the cone is 1 m long, its middle half a metre away.
	if !near(cone.Pose.Position.X, 0.069) || !near(cone.Pose.Position.Y, 0.636) || cone.Size.Z != 1 || !near(cone.Size.X, 2*math.Tan(rad(7.5))) || cone.BottomScale != 0 || cone.TopScale != 1 {
		t.Errorf("%+v", cone)
	}
	// Its axis, z, also points to the left.
	q := cone.Pose.Orientation
	if x, y, z := 2*(q.X*q.Z+q.W*q.Y), 2*(q.Y*q.Z-q.W*q.X), 1-2*(q.X*q.X+q.Y*q.Y); !near(x, 0) || !near(y, 1) || !near(z, 0) {
		t.Errorf("axis %v %v %v", x, y, z)
	}
}

func TestMisc(t *testing.T) {
	c, index := all("")
	d := codec.MiscData{FrontBumpers: 1, RearBumpers: 16, Battery: 126}
	messages := c.Data(index["misc"], taken, d.Append(nil))
	if got := one[Battery](t, c, messages, "/misc/battery"); got.Voltage != 12.6 {
		t.Errorf("%+v", got)
	}
	if got := one[Bumpers](t, c, messages, "/misc/bumpers"); fmt.Sprint(got.Front, got.Rear) != "[true false false false false] [false false false false true]" {
		t.Errorf("%+v", got)
	}
	var pressed []string
	for _, cube := range one[SceneUpdate](t, c, messages, "/misc").Entities[0].Cubes {
		if cube.Color.R == 1 {
			pressed = append(pressed, fmt.Sprintf("%.2f %.2f", cube.Pose.Position.X, cube.Pose.Position.Y))
		}
	}
	if fmt.Sprint(pressed) != "[0.11 0.19 -0.19 0.19]" {
		t.Errorf("pressed at %q", pressed)
	}
}

func TestGripper(t *testing.T) {
	c, index := all("")
	d := codec.GripperData{State: codec.PaddlesOpen | codec.LiftUp, Beams: codec.OuterBeam}
	messages := c.Data(index["gripper"], taken, d.Append(nil))
	if got := one[Gripper](t, c, messages, "/gripper/state"); !got.PaddlesOpen || !got.LiftUp || !got.OuterBeam || got.PaddlesClosed || got.InnerBeam || got.LiftError {
		t.Errorf("%+v", got)
	}
	scene := one[SceneUpdate](t, c, messages, "/gripper").Entities[0]
	if len(scene.Cubes) != 2 || scene.Cubes[0].Pose.Position.Y != 0.1 || len(scene.Lines) != 1 || scene.FrameID != "gripper" {
		t.Errorf("%+v", scene)
	}
	d = codec.GripperData{State: codec.PaddlesClosed | codec.PaddlesError}
	scene = one[SceneUpdate](t, c, c.Data(index["gripper"], taken, d.Append(nil)), "/gripper").Entities[0]
	if scene.Cubes[1].Pose.Position.Y != -0.01 || scene.Cubes[0].Color.R != 1 || len(scene.Lines) != 0 {
		t.Errorf("%+v", scene)
	}
}

func TestBlobs(t *testing.T) {
	c, index := all("")
	v := codec.VisionData{Blobs: []codec.Blob{{Area: 400, X: 80, Y: 60, Left: 0, Right: 160, Top: 0, Bottom: 120}}}
	v.Count[3] = 1
	messages := c.Data(index["vision"], taken, v.Append(nil))
	if got := one[Blobs](t, c, messages, "/vision/blobs"); len(got.Blobs) != 1 || got.Blobs[0] != (Blob{3, 400, 80, 60, 0, 160, 0, 120}) {
		t.Errorf("%+v", got)
	}
	box := func(messages []Message) Vector3 {
		scene := one[SceneUpdate](t, c, messages, "/vision").Entities[0]
		if len(scene.Lines) != 1 || len(scene.Lines[0].Points) != 4 || scene.FrameID != "camera" {
			t.Fatalf("%+v", scene)
		}
		return scene.Lines[0].Points[0]
	}
	// The whole image is as wide as the camera sees, also after it has zoomed.
	if at := box(messages); at.X != 1 || !near(at.Y, math.Tan(rad(48.8/2))) || !near(at.Z, at.Y*0.75) {
		t.Errorf("%+v", at)
	}
	ptz := codec.PTZData{Zoom: 1023}
	c.Data(index["ptz"], taken, ptz.Append(nil))
	if at := box(c.Data(index["vision"], taken, v.Append(nil))); !near(at.Y, math.Tan(rad(4.4/2))) {
		t.Errorf("%+v", at)
	}
	v = codec.VisionData{}
	if got := one[Blobs](t, c, c.Data(index["vision"], taken, v.Append(nil)), "/vision/blobs"); got.Blobs == nil || len(got.Blobs) != 0 {
		t.Errorf("%+v", got)
	}
}

func TestPTZAndJoystick(t *testing.T) {
	c, index := all("")
	ptz := codec.PTZData{Pan: -90, Tilt: 18, Zoom: 7}
	if got := one[PanTiltZoom](t, c, c.Data(index["ptz"], taken, ptz.Append(nil)), "/ptz"); got.Pan != -math.Pi/2 || !near(got.Tilt, math.Pi/10) || got.Zoom != 7 {
		t.Errorf("%+v", got)
	}
	stick := codec.JoystickData{Buttons: 5, Axes: [8]int16{-32767, 32767}}
	if got := one[Joystick](t, c, c.Data(index["joystick"], taken, stick.Append(nil)), "/joystick"); got.Axes[0] != -1 || got.Axes[1] != 1 || !got.Buttons[0] || got.Buttons[1] || !got.Buttons[2] || len(got.Buttons) != 32 {
		t.Errorf("%+v", got)
	}
}

func TestCommands(t *testing.T) {
	c, index := all("")
	wheels := codec.PositionCommand{Speed: 300, TurnRate: -90}
	if got := one[Velocity](t, c, c.Command(index["position"], taken, wheels.Append(nil)), "/position/command"); got.Linear.X != 0.3 || got.Angular.Z != -math.Pi/2 {
		t.Errorf("%+v", got)
	}
	ptz := codec.PTZData{Pan: 90}
	if got := one[PanTiltZoom](t, c, c.Command(index["ptz"], taken, ptz.Append(nil)), "/ptz/command"); got.Pan != math.Pi/2 {
		t.Errorf("%+v", got)
	}
	if got := one[GripperCommand](t, c, c.Command(index["gripper"], taken, []byte{17, 5}), "/gripper/command"); got.Command != 17 || got.Argument != 5 {
		t.Errorf("%+v", got)
	}
	for payload, want := range map[string]string{
		"m\x02": "motor power on", "m\x00": "motor power off", "v\x01": "separate control of translation and rotation", "v\x00": "direct wheel control",
		"R": "odometry reset", "?\x01": `configuration "?\x01"`, "": `configuration ""`,
	} {
		if got := one[Log](t, c, c.Configuration(index["position"], taken, []byte(payload)), "/log"); got.Message != want || got.Name != "position" || got.Level != 2 {
			t.Errorf("%q: %+v", payload, got)
		}
	}
}

// Payloads that do not fit the protocol give no messages except frames.
func TestBadPayloads(t *testing.T) {
	c, index := all("")
	for name, device := range index {
		for _, payload := range [][]byte{nil, []byte("?"), make([]byte, 5000)} {
			for _, m := range append(c.Data(device, taken, payload), c.Command(device, taken, payload)...) {
				if _, frame := m.Content.(FrameTransform); !frame {
					t.Errorf("%s, %d bytes: %+v", name, len(payload), m)
				}
			}
		}
	}
}

// Live topics are the topics with data, and know the devices that provide it.
func TestTopicsOfData(t *testing.T) {
	c, index := all("r0")
	var got []string
	for _, topic := range c.Topics() {
		if topic.Devices != nil {
			got = append(got, fmt.Sprintf("%s %v", topic.Name, topic.Devices))
		}
		if topic.Devices == nil != (strings.HasSuffix(topic.Name, "/command") || strings.HasSuffix(topic.Name, "/log")) {
			t.Errorf("%s: %v", topic.Name, topic.Devices)
		}
	}
	want := fmt.Sprintf("/r0/tf [%d %d]", index["position"], index["ptz"])
	if got[0] != want || len(got) != 15 {
		t.Errorf("%q, want %s first", got, want)
	}
}

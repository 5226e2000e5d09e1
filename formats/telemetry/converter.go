// Package telemetry converts the payloads of a robot's devices into messages in metres, radians and
// frames: laser scans, poses, scenes to draw, pictures, and plain values for plots. formats/foxglove
// and formats/ros write them for others. It has no files and no sockets.
package telemetry

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"player/codec"
	"player/codec/pioneer"
)

// framesPeriod is the time, in ns, after which the frames of the sensors are sent
// again: a viewer that jumps into a log must find them soon.
const framesPeriod = int64(time.Second)

// Geometry is a device's place on the robot and its size; zero: not declared.
type Geometry struct {
	X, Y          float64 // mm forward and to the left of the robot's centre of rotation
	Heading       float64 // deg, counterclockwise
	Length, Width float64 // mm
}

// Device is a device of the robot.
type Device struct {
	Interface string // "laser"
	Index     int
	Geometry  Geometry
	Description
}

// Description is how a device describes its data. It is empty where that is not known.
type Description struct {
	Rays     []codec.Rays    // of a laser, a sonar or a ranger
	Channels []codec.Channel // of io or servo
}

// Topic is a stream of messages of one type.
type Topic struct {
	Name    string // "/laser"
	Message any    // of the type of all of them
	// Devices has the indexes of the devices that provide its data; none for commands and
	// configurations.
	Devices []int
}

// Message is a message in JSON, when marshalled.
type Message struct {
	Topic   int // index in Topics
	Content any
}

// Converter converts the payloads of one robot into messages. It keeps data that the
// messages of another device need, such as the camera's zoom.
type Converter struct {
	topics []Topic
	byName map[string]int
	frame  string // before the name of each frame
	robot  string // before the name of each topic
	parts  []part
	out    []Message

	framesAt   int64 // when the frames of the sensors are due, ns since 1970
	framesFrom int64 // when they were sent last
	zoom       int16
	vision     codec.VisionData
	readings   codec.RangerData
}

// part is a device and its names.
type part struct {
	Device
	instrument instrument
	moves      bool   // its data is the pose of the robot
	topic      string // "/laser", "/laser:1"
	frame      string // "laser", "laser1"; ptz and vision have "camera"
}

// New returns a converter for the devices of a robot. robot is its name if there are
// several, otherwise empty; it stands before the names of topics and frames.
func New(robot string, list []Device) *Converter {
	c := &Converter{byName: map[string]int{}}
	if robot != "" {
		c.robot, c.frame = "/"+robot, robot+"/"
	}
	known, transformed := instruments(), -1 // the device that gives the pose of the robot
	for i, d := range list {
		p := part{Device: d, instrument: known[d.Interface], topic: c.robot + "/" + d.Interface, frame: c.frame + d.Interface}
		if d.Interface == "ptz" || d.Interface == "vision" {
			p.frame = c.frame + "camera"
		}
		if d.Index != 0 {
			p.topic, p.frame = fmt.Sprintf("%s:%d", p.topic, d.Index), p.frame+strconv.Itoa(d.Index)
		}
		if d.Interface == "position" && (transformed < 0 || d.Index < list[transformed].Index) {
			transformed = i
		}
		c.parts = append(c.parts, p)
	}
	if transformed >= 0 {
		c.parts[transformed].moves = true
	}
	for i, p := range c.parts {
		c.declare(i, p)
	}
	return c
}

// declare adds the topics of the device with an index in the list.
func (c *Converter) declare(device int, p part) {
	c.declareTopic(c.robot+"/tf", FrameTransform{})
	c.declareTopic(c.robot+"/log", Log{})
	if p.moves || p.Interface == "ptz" {
		c.topics[c.byName[c.robot+"/tf"]].add(device) // frames that move; the others come with all data
	}
	for _, d := range p.instrument.topics {
		if p.Interface == "ranger" && !p.mayHave(d.suffix) {
			continue
		}
		topic := c.declareTopic(p.topic+d.suffix, d.message)
		if !d.command {
			topic.add(device)
		}
	}
}

// declareTopic returns the topic of a name, which it adds if there is none.
func (c *Converter) declareTopic(name string, message any) *Topic {
	if _, known := c.byName[name]; !known {
		c.byName[name] = len(c.topics)
		c.topics = append(c.topics, Topic{Name: name, Message: message})
	}
	return &c.topics[c.byName[name]]
}

func (t *Topic) add(device int) { t.Devices = append(t.Devices, device) }

// declaration is a topic of a device: the end of its name, and a message of its type. Topics
// of commands have messages without data of the device.
type declaration struct {
	suffix  string
	message any
	command bool
}

// instrument has the topics of a device of an interface, and the conversion of its data.
type instrument struct {
	topics  []declaration
	convert func(c *Converter, p part, at Time, payload []byte)
}

// instruments are the instruments of the interfaces, by their names.
func instruments() map[string]instrument {
	return map[string]instrument{
		"position": {[]declaration{{"", PoseInFrame{}, false}, {"/motion", Motion{}, false}, {"/command", Velocity{}, true}}, (*Converter).position},
		"laser":    {[]declaration{{"", LaserScan{}, false}}, (*Converter).laser},
		"sonar":    {[]declaration{{"", SceneUpdate{}, false}, {"/ranges", Ranges{}, false}}, (*Converter).sonar},
		"misc":     {[]declaration{{"", SceneUpdate{}, false}, {"/bumpers", Bumpers{}, false}, {"/battery", Battery{}, false}}, (*Converter).misc},
		"gripper":  {[]declaration{{"", SceneUpdate{}, false}, {"/state", Gripper{}, false}, {"/command", GripperCommand{}, true}}, (*Converter).gripper},
		"vision":   {[]declaration{{"", SceneUpdate{}, false}, {"/blobs", Blobs{}, false}}, (*Converter).blobs},
		"ptz":      {[]declaration{{"", PanTiltZoom{}, false}, {"/command", PanTiltZoom{}, true}}, (*Converter).ptz},
		"joystick": {[]declaration{{"", Joystick{}, false}}, (*Converter).joystick},
		"ranger": {[]declaration{{"", LaserScan{}, false}, {"/points", PointCloud{}, false}, {"/cones", SceneUpdate{}, false},
			{"/ranges", Ranges{}, false}}, (*Converter).ranger},
		"imu":   {[]declaration{{"", Imu{}, false}}, (*Converter).imu},
		"gps":   {[]declaration{{"", LocationFix{}, false}, {"/fix", GPS{}, false}}, (*Converter).gps},
		"io":    {[]declaration{{"", Channels{}, false}, {"/command", ChannelCommand{}, true}}, (*Converter).io},
		"servo": {[]declaration{{"", Joints{}, false}, {"/command", JointCommand{}, true}}, (*Converter).servo},
	}
}

// Describe replaces the description of the device with this index in the list, from its next data on. Frames are sent
// again with it.
func (c *Converter) Describe(device int, d Description) {
	c.parts[device].Description, c.framesAt = d, math.MinInt64
}

// Topics returns all topics that messages may have.
func (c *Converter) Topics() []Topic { return c.topics }

// send adds a message to the output, if the topic was declared: topics of a ranger depend on its first description.
func (c *Converter) send(topic string, content any) {
	if i, declared := c.byName[topic]; declared {
		c.out = append(c.out, Message{i, content})
	}
}

// sendFrame adds the pose of a frame in its parent.
func (c *Converter) sendFrame(at Time, parent, child string, place Vector3, rotation Quaternion, moves bool) {
	c.send(c.robot+"/tf", FrameTransform{at, c.frame + parent, child, place, rotation, moves})
}

// Data converts data of the device with this index in the list. taken is when the data was
// taken, ns since 1970. A payload that does not fit the protocol gives no messages. The
// result is valid until the next call.
func (c *Converter) Data(device int, taken int64, payload []byte) []Message {
	c.out = c.out[:0]
	p, at := c.parts[device], newTime(taken)
	if taken >= c.framesAt || taken < c.framesFrom-framesPeriod { // a log that starts again
		c.framesAt, c.framesFrom = taken+framesPeriod, taken
		c.sendFrames(at)
	}
	if p.instrument.convert != nil { // of an interface that the protocol has
		p.instrument.convert(c, p, at, payload)
	}
	return c.out
}

// Names of frames. Other frames are named after their device.
const (
	odom     = "odom"
	baseLink = "base_link"
)

// sendFrames sends the frames of fixed parts on the robot.
func (c *Converter) sendFrames(at Time) {
	for _, p := range c.parts {
		mount := place{}
		switch p.Interface {
		case "laser":
			mount = p.Geometry.or(laserPlace)
			if len(p.Rays) == 1 {
				mount = middle(p.Rays[0])
			}
		case "ranger":
			c.sendRangerFrames(at, p)
			continue
		case "imu", "gps":
			mount = p.Geometry.or(place{})
		case "io", "servo":
			if p.Geometry == (Geometry{}) {
				continue // it does not look anywhere, and is everywhere on the robot
			}
			mount = p.Geometry.or(place{})
		case "gripper":
			mount = p.Geometry.or(gripperPlace)
		case "vision":
			if c.turns(p) {
				continue
			}
			mount = p.Geometry.or(cameraPlace)
		case "sonar":
			for i := range codec.SonarCount {
				mount := p.sonar(i)
				c.sendFrame(at, baseLink, p.frame+"_"+strconv.Itoa(i), mount.vector(), mount.rotation(), false)
			}
			continue
		default:
			continue
		}
		c.sendFrame(at, baseLink, p.frame, mount.vector(), mount.rotation(), false)
	}
}

// turns reports whether a ptz device turns the camera of a vision device.
func (c *Converter) turns(vision part) bool {
	return slices.ContainsFunc(c.parts, func(p part) bool { return p.Interface == "ptz" && p.Index == vision.Index })
}

func (c *Converter) position(p part, at Time, payload []byte) {
	var d codec.PositionData
	if d.Decode(payload) != nil {
		return
	}
	pose := place{float64(d.X) / 1000, float64(d.Y) / 1000, float64(d.Heading)}.pose()
	c.send(p.topic, PoseInFrame{at, c.frame + odom, pose})
	c.send(p.topic+"/motion", Motion{at, float64(d.Speed) / 1000, rad(float64(d.TurnRate)), rad(float64(d.Compass)), d.Stall != 0})
	if p.moves {
		c.sendFrame(at, odom, c.frame+baseLink, pose.Position, pose.Orientation, true)
	}
}

func (c *Converter) laser(p part, at Time, payload []byte) {
	var d codec.LaserData
	if d.Decode(payload) == nil {
		c.send(p.topic, LaserScan{
			Timestamp: at, FrameID: p.frame, Pose: place{}.pose(),
			StartAngle: -math.Pi / 2, EndAngle: math.Pi / 2, Ranges: metres(d[:]), Intensities: []float64{},
		})
	}
}

func (c *Converter) ptz(p part, at Time, payload []byte) {
	var d codec.PTZData
	if d.Decode(payload) == nil {
		c.zoom = d.Zoom
		c.send(p.topic, panTiltZoom(at, d))
		mount := p.Geometry.or(cameraPlace)
		c.sendFrame(at, baseLink, p.frame, mount.vector(), turned(rad(mount.heading+float64(d.Pan)), rad(float64(d.Tilt))), true)
	}
}

func (c *Converter) sonar(p part, at Time, payload []byte) {
	var d codec.SonarData
	if d.Decode(payload) != nil {
		return
	}
	ranges := metres(d[:])
	c.send(p.topic+"/ranges", Ranges{Timestamp: at, Ranges: ranges})
	scene := newEntity(at, c.frame+baseLink, "cones")
	for i, r := range ranges {
		if r == 0 {
			continue // it has not fired yet, or is missing
		}
		color := Color{0.2, 0.5, 1, 0.3}
		if r >= noEcho {
			color.A = 0.05
		}
		scene.Cylinders = append(scene.Cylinders, newCone(p.sonar(i), r, sonarCone, color))
	}
	c.draw(p, scene)
}

// newCone returns the cone that a sonar at mount sees, of so many degrees, up to a distance in metres.
func newCone(mount place, distance, degrees float64, color Color) Cylinder {
	width := 2 * distance * math.Tan(rad(degrees/2))
	// z of a cylinder points up: a rotation down by a right angle makes it point ahead.
	axis := turned(rad(mount.heading), -math.Pi/2)
	return Cylinder{Pose{mount.ahead(distance / 2).vector(), axis}, Vector3{width, width, distance}, 0, 1, color}
}

// draw sends a scene of one entity.
func (c *Converter) draw(p part, scene SceneEntity) {
	c.send(p.topic, SceneUpdate{[]Unused{}, []SceneEntity{scene}})
}

func (c *Converter) misc(p part, at Time, payload []byte) {
	var d codec.MiscData
	if d.Decode(payload) != nil {
		return
	}
	state := Bumpers{at, bits(uint32(d.FrontBumpers), bumpers), bits(uint32(d.RearBumpers), bumpers)}
	c.send(p.topic+"/bumpers", state)
	c.send(p.topic+"/battery", Battery{at, float64(d.Battery) / 10})
	scene := newEntity(at, c.frame+baseLink, "bumpers")
	add := func(heading float64, pressed bool) {
		color := Color{0.5, 0.5, 0.5, 0.3}
		if pressed {
			color = Color{1, 0, 0, 1}
		}
		from := place{hullCentre.x, hullCentre.y, heading}
		scene.Cubes = append(scene.Cubes, Cube{from.ahead(bumperRadius).pose(), Vector3{0.02, 0.10, 0.10}, color})
	}
	front, rear := pioneer.Bumpers()
	for i := range bumpers {
		add(front[i], state.Front[i])
		add(rear[i], state.Rear[i])
	}
	c.draw(p, scene)
}

func (c *Converter) gripper(p part, at Time, payload []byte) {
	var d codec.GripperData
	if d.Decode(payload) != nil {
		return
	}
	state, beams := bits(uint32(d.State), 8), bits(uint32(d.Beams), 4)
	g := Gripper{at, state[0], state[1], state[2], state[3], state[4], state[5], state[6], state[7], beams[0], beams[1], beams[2], beams[3]}
	c.send(p.topic+"/state", g)
	apart := (paddlesOpen + paddlesClosed) / 2
	switch {
	case g.PaddlesOpen:
		apart = paddlesOpen
	case g.PaddlesClosed:
		apart = paddlesClosed
	}
	color := Color{0.3, 0.3, 0.3, 1}
	if g.PaddlesError || g.LiftError {
		color = Color{1, 0, 0, 1}
	}
	scene := newEntity(at, p.frame, "gripper")
	for _, y := range []float64{apart, -apart} {
		scene.Cubes = append(scene.Cubes, Cube{place{x: paddleLength / 2, y: y}.pose(), Vector3{paddleLength, 0.02, 0.08}, color})
	}
	for i, obstructed := range []bool{g.OuterBeam, g.InnerBeam} {
		if obstructed {
			x := paddleLength * float64(2-i) / 3
			scene.Lines = append(scene.Lines, newLine([]Vector3{{X: x, Y: apart}, {X: x, Y: -apart}}, Color{1, 0, 0, 1}))
		}
	}
	c.draw(p, scene)
}

// newLine returns a closed line, two pixels wide.
func newLine(points []Vector3, color Color) Line {
	return Line{Type: lineLoop, Pose: place{}.pose(), Thickness: 2, ScaleInvariant: true, Points: points, Color: color, Colors: []Color{}, Indices: []uint32{}}
}

// blobs draws the blobs of an image in front of the camera.
func (c *Converter) blobs(p part, at Time, payload []byte) {
	if c.vision.Decode(payload) != nil {
		return
	}
	view := viewWide + (viewNarrow-viewWide)*float64(c.zoom)/mostZoom
	pixel := 2 * imageDistance * math.Tan(rad(view/2)) / imageWidth // metres
	corner := func(x, y int) Vector3 {
		return Vector3{imageDistance, (imageWidth/2 - float64(x)) * pixel, (imageHeight/2 - float64(y)) * pixel}
	}
	scene, list := newEntity(at, p.frame, "blobs"), []Blob{}
	for channel := range c.vision.Count {
		for _, b := range c.vision.Channel(channel) {
			list = append(list, Blob{channel, b.Area, b.X, b.Y, b.Left, b.Right, b.Top, b.Bottom})
			points := []Vector3{corner(b.Left, b.Top), corner(b.Right, b.Top), corner(b.Right, b.Bottom), corner(b.Left, b.Bottom)}
			scene.Lines = append(scene.Lines, newLine(points, channelColor(channel)))
		}
	}
	c.send(p.topic+"/blobs", Blobs{at, list})
	c.draw(p, scene)
}

// channelColor returns one of six colours.
func channelColor(channel int) Color {
	n := channel%6 + 1
	return Color{float64(n & 1), float64(n >> 1 & 1), float64(n >> 2 & 1), 1}
}

func (c *Converter) joystick(p part, at Time, payload []byte) {
	var d codec.JoystickData
	if d.Decode(payload) != nil {
		return
	}
	axes := make([]float64, len(d.Axes))
	for i, v := range d.Axes {
		axes[i] = float64(v) / math.MaxInt16
	}
	c.send(p.topic, Joystick{at, bits(d.Buttons, 32), axes})
}

// Command converts a command to the device with this index in the list, which came at a time
// in ns since 1970, as Data does.
func (c *Converter) Command(device int, came int64, payload []byte) []Message {
	c.out = c.out[:0]
	p, at := c.parts[device], newTime(came)
	switch p.Interface {
	case "position":
		var d codec.PositionCommand
		if d.Decode(payload) == nil {
			c.send(p.topic+"/command", Velocity{at, Vector3{X: float64(d.Speed) / 1000}, Vector3{Z: rad(float64(d.TurnRate))}})
		}
	case "ptz":
		var d codec.PTZCommand
		if d.Decode(payload) == nil {
			c.send(p.topic+"/command", panTiltZoom(at, codec.PTZData(d)))
		}
	case "gripper":
		var d codec.GripperCommand
		if d.Decode(payload) == nil {
			c.send(p.topic+"/command", GripperCommand{at, int(d.Code), int(d.Arg)})
		}
	case "io":
		var d codec.IOCommand
		if d.Decode(payload) == nil {
			about := p.Channel(int(d.Channel))
			c.send(p.topic+"/command", ChannelCommand{at, about.Name, about.Unit, float64(d.Value)})
		}
	case "servo":
		var d codec.ServoCommand
		if d.Decode(payload) == nil {
			c.send(p.topic+"/command", p.jointCommand(at, d))
		}
	}
	return c.out
}

// Configuration converts a configuration of a device into a line of the log, as Data
// does.
func (c *Converter) Configuration(device int, came int64, payload []byte) []Message {
	c.out = c.out[:0]
	p := c.parts[device]
	c.send(c.robot+"/log", Log{Timestamp: newTime(came), Level: levelInfo, Name: strings.TrimPrefix(p.topic, "/"), Message: configuration(payload)})
	return c.out
}

// configuration returns a description of the request in a configuration.
func configuration(payload []byte) string {
	d, err := codec.DecodeRobotConfig(payload)
	switch {
	case err != nil:
		return fmt.Sprintf("configuration %q", payload)
	case d.Code == codec.ConfigMotors && d.Arg != 0:
		return "motor power on"
	case d.Code == codec.ConfigMotors:
		return "motor power off"
	case d.Code == codec.ConfigVelocity && d.Arg != 0:
		return "separate control of translation and rotation"
	case d.Code == codec.ConfigVelocity:
		return "direct wheel control"
	}
	return "odometry reset"
}

func panTiltZoom(at Time, d codec.PTZData) PanTiltZoom {
	return PanTiltZoom{at, rad(float64(d.Pan)), rad(float64(d.Tilt)), int(d.Zoom)}
}

// metres converts readings in mm.
func metres(mm []uint16) []float64 {
	m := make([]float64, len(mm))
	for i, v := range mm {
		m[i] = float64(v) / 1000
	}
	return m
}

// bits returns the lowest bits of a number.
func bits(v uint32, count int) []bool {
	list := make([]bool, count)
	for i := range list {
		list[i] = v>>i&1 != 0
	}
	return list
}

// Package ros converts the messages of package telemetry to messages of ROS 2, in CDR or
// JSON, with ROS's descriptions. It has no files and no sockets.
//
// Frames and units follow REP 103 and REP 105. A range without an echo is infinite (REP
// 117).
package ros

import (
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"player/formats/telemetry"
)

// Topic is a stream of messages of one type.
type Topic struct {
	Name    string // "/scan"
	Type    string // "sensor_msgs/msg/LaserScan"
	Schema  string // the type's definition in ros2msg
	Latched bool   // later subscribers also get the earlier messages (transient local)
}

// Message is a message of this package.
type Message struct {
	Topic   int // index in Topics
	Content any
}

// Converter converts the payloads of one robot into messages.
type Converter struct {
	// Reach is the reading, in m, from which on a laser sees nothing; 0: as for an LMS 200
	// and the simulator.
	Reach float64

	viewers *telemetry.Converter
	robot   string // before the name of each topic: "" or "/r1"
	devices []telemetry.Device
	sources []telemetry.Topic
	known   map[reflect.Type]definition
	topics  []Topic
	byName  map[string]int
	out     []Message

	placed int64 // when the fixed frames were sent, s since 1970
	motion telemetry.Motion
	fix    telemetry.GPS
	pose   telemetry.PoseInFrame
}

// Robot is the kind of a robot's Name.
const Robot = "robot"

// New returns a converter for the devices of a robot. robot is its name if there are several, one
// of Names, otherwise empty; it stands before the names of frames, and of topics except /tf and
// /tf_static, which all robots use.
func New(robot string, devices []telemetry.Device) *Converter {
	if robot != "" {
		robot = Name(Robot, robot)
	}
	c := &Converter{viewers: telemetry.New(robot, devices), devices: devices, known: definitions(), byName: map[string]int{}, placed: math.MinInt64 / 2}
	if robot != "" {
		c.robot = "/" + robot
	}
	c.sources = c.viewers.Topics()
	return c
}

// Topics returns the topics that messages have had so far.
func (c *Converter) Topics() []Topic { return c.topics }

// Data converts data of the device with this index in the list. taken is when the data was
// taken, ns since 1970. A payload that does not fit the protocol gives no messages. The
// result is valid until the next call.
func (c *Converter) Data(device int, taken int64, payload []byte) []Message {
	c.out = c.out[:0]
	var static TFMessage
	for _, m := range c.viewers.Data(device, taken, payload) {
		if f, ok := m.Content.(telemetry.FrameTransform); ok && !f.Moves {
			static.Transforms = append(static.Transforms, stamped(f))
			continue
		}
		c.convert(c.sources[m.Topic].Name, m.Content)
	}
	if d := c.devices[device]; d.Interface == "goto" {
		c.goalStatus(d.Index, payload)
	}
	// One message has all: later subscribers get the last one only.
	if seconds := taken / 1e9; len(static.Transforms) > 0 && (seconds < c.placed || seconds >= c.placed+staticPeriod) {
		c.placed = seconds
		c.send("/tf_static", static)
	}
	return c.out
}

// Command converts a command to the device with this index in the list, as Data does.
func (c *Converter) Command(device int, came int64, payload []byte) []Message {
	c.out = c.out[:0]
	for _, m := range c.viewers.Command(device, came, payload) {
		topic := c.sources[m.Topic].Name
		switch v := m.Content.(type) {
		case telemetry.Velocity:
			c.send(c.rename(topic, "cmd_vel"), Twist{Vector3(v.Linear), Vector3(v.Angular)})
		case telemetry.ChannelCommand:
			c.send(c.rename(topic, "io/commands"), c.group(topic, v.Timestamp, []string{v.Name}, []float64{v.Value / per(v.Unit)}))
		case telemetry.JointCommand:
			c.send(c.rename(topic, "joint_commands"), jointGoals(v))
		}
	}
	if d := c.devices[device]; d.Interface == "goto" {
		c.goal(d.Index, came, payload)
	}
	return c.out
}

// Describe replaces the description of the device with this index in the list, from its next data on.
func (c *Converter) Describe(device int, d telemetry.Description) {
	c.viewers.Describe(device, d)
	c.placed = math.MinInt64 / 2
}

// send adds a message to the output.
func (c *Converter) send(topic string, content any) {
	i, known := c.byName[topic]
	if !known {
		i = len(c.topics)
		c.byName[topic] = i
		about := c.known[reflect.TypeOf(content)]
		c.topics = append(c.topics, Topic{topic, about.name, about.text, strings.HasSuffix(topic, "/tf_static")})
	}
	c.out = append(c.out, Message{i, content})
}

// rename returns the topic in ROS of a device, by a name of the Table and a topic of the device for viewers:
// "ranger/scan" and "/r1/ranger:1/ranges" give "/r1/ranger_1/scan".
func (c *Converter) rename(topic, name string) string { return c.numbered(topic, name, 0) }

// numbered returns the topic of the reading with a number, as rename does.
func (c *Converter) numbered(topic, name string, number int) string {
	index, _ := strconv.Atoi(indexOf(topic)) // 0 if it has none
	return c.robot + "/" + TopicOf(name, index, number)
}

// indexOf returns the index of the device in a topic for viewers, empty if it is 0.
func indexOf(topic string) string {
	_, index, _ := strings.Cut(topic, ":")
	index, _, _ = strings.Cut(index, "/")
	return index
}

const (
	// staticPeriod is the time, in s, after which fixed frames are sent again: a bag that is
	// played from its middle also has them.
	staticPeriod = 10
	// laserMin, in m, is less than any of our scanners measures: a reading below it is no
	// distance.
	laserMin = 0.02
	// Readings of an LMS 200 from noEcho on, in m, up to laserMax, mean that there was no
	// echo or that the scanner was dazzled (docs/devices/rangers.md). The simulator has the same.
	noEcho, laserMax = 8.183, 8.191
	// farthest is the largest reading of the protocol, in m.
	farthest = 65.535
	// sonarMin and sonarMax, in m, are the range of a Pioneer's sonars; an echo from
	// further away is none. sonarCone is the width of the cone in rad.
	sonarMin, sonarMax, sonarCone = 0.1, 5.0, 15 * math.Pi / 180
	// Odometry has no measure of its certainty, and planners refuse zero. These variances
	// are an order of magnitude for two wheels on a floor, in m2 and rad2; unknown is for
	// values that two wheels cannot measure.
	variance, turnVariance, unknown = 1e-2, 3e-2, 1e6
)

// convert translates one message for viewers.
func (c *Converter) convert(topic string, content any) {
	switch m := content.(type) {
	case telemetry.FrameTransform:
		c.send("/tf", TFMessage{[]TransformStamped{stamped(m)}})
	case telemetry.PoseInFrame:
		c.pose = m // the motion of the same data follows
	case telemetry.Motion:
		c.motion = m
		c.odometry(c.rename(topic, "odom"))
	case telemetry.LaserScan:
		if strings.HasPrefix(topic, c.robot+"/laser") { // topics of a ranger come with its Ranges
			c.scan(c.rename(topic, "scan"), m)
		}
	case telemetry.Ranges:
		if m.Ranger != nil {
			c.ranger(topic, m.Timestamp, m.Ranger)
			return
		}
		for i, r := range m.Ranges {
			frame := c.frameOf("sonar", topic) + "_" + strconv.Itoa(i)
			c.send(c.numbered(topic, "sonar/range_#", i), Range{header(m.Timestamp, frame), ultrasound, sonarCone, sonarMin, sonarMax, sonarRange(r), 0})
		}
	case telemetry.Battery:
		nan := float32(math.NaN())
		c.send(c.rename(topic, "battery_state"), BatteryState{Header: header(m.Timestamp, ""), Voltage: float32(m.Voltage),
			Temperature: nan, Current: nan, Charge: nan, Capacity: nan, DesignCapacity: nan, Percentage: nan, Present: true})
	case telemetry.Bumpers:
		layout := MultiArrayLayout{Dim: []MultiArrayDimension{{"front, rear", 2, uint32(len(m.Front) + len(m.Rear))}, {"bumper", uint32(len(m.Front)), uint32(len(m.Front))}}}
		c.send(c.rename(topic, "bumpers"), UInt8MultiArray{layout, append(pressed(m.Front), pressed(m.Rear)...)})
	case telemetry.Blobs:
		c.send(c.rename(topic, "detections"), c.detections(topic, m))
	case telemetry.Joystick:
		joy := Joy{Header: header(m.Timestamp, "")}
		for _, v := range m.Axes {
			joy.Axes = append(joy.Axes, float32(v))
		}
		for _, b := range pressed(m.Buttons) {
			joy.Buttons = append(joy.Buttons, int32(b))
		}
		c.send(c.rename(topic, "joy"), joy)
	case telemetry.Imu:
		c.send(c.rename(topic, "imu"), inertial(m))
	case telemetry.GPS:
		c.fix = m // the place of the same data follows
	case telemetry.LocationFix:
		c.send(c.rename(topic, "fix"), satellite(m, c.fix))
	case telemetry.Channels:
		values := make([]float64, len(m.Values))
		for i, v := range m.Values {
			if values[i] = v / per(m.Units[i]); !m.Known[i] {
				values[i] = math.NaN()
			}
		}
		c.send(c.rename(topic, "io/states"), c.group(topic, m.Timestamp, m.Names, values))
	case telemetry.Joints:
		c.send(c.rename(topic, "joint_states"), jointState(m))
	case telemetry.PanTiltZoom:
		c.send(c.rename(topic, "joint_states"), JointState{Header: header(m.Timestamp, ""), Name: []string{"pan", "tilt"}, Position: []float64{m.Pan, m.Tilt}})
	}
}

// stamped returns a frame as ROS has it.
func stamped(f telemetry.FrameTransform) TransformStamped {
	return TransformStamped{header(f.Timestamp, f.ParentFrameID), f.ChildFrameID, Transform{Vector3(f.Translation), Quaternion(f.Rotation)}}
}

func (c *Converter) odometry(topic string) {
	twist := Twist{Vector3{X: c.motion.Speed}, Vector3{Z: c.motion.TurnRate}}
	pose := Pose{Point(c.pose.Pose.Position), Quaternion(c.pose.Pose.Orientation)}
	c.send(topic, Odometry{header(c.pose.Timestamp, c.pose.FrameID), c.frameOf("base_link", ""), PoseWithCovariance{pose, planar()}, TwistWithCovariance{twist, planar()}})
}

// planar returns the covariance of the values that two wheels measure: x, y, and the rotation about z.
func planar() (m [36]float64) {
	for i, v := range [...]float64{variance, variance, unknown, unknown, unknown, turnVariance} {
		m[7*i] = v
	}
	return m
}

// scan sends a scan. Readings that mean that nothing was seen are infinite.
func (c *Converter) scan(topic string, s telemetry.LaserScan) {
	most, nothing := c.Reach, func(r float64) bool { return r >= c.Reach }
	if c.Reach == 0 {
		most, nothing = noEcho, func(r float64) bool { return r >= noEcho && r <= laserMax }
		if slices.Max(s.Ranges) > laserMax {
			most = farthest
		}
	}
	ranges := make([]float32, len(s.Ranges))
	for i, r := range s.Ranges {
		if ranges[i] = float32(r); nothing(r) {
			ranges[i] = float32(math.Inf(1))
		}
	}
	c.send(topic, LaserScan{
		Header: header(s.Timestamp, s.FrameID), AngleMin: float32(s.StartAngle), AngleMax: float32(s.EndAngle),
		AngleIncrement: float32((s.EndAngle - s.StartAngle) / float64(len(ranges)-1)), RangeMin: laserMin, RangeMax: float32(most), Ranges: ranges,
	})
}

// inertial returns the message of an inertial measurement unit.
func inertial(m telemetry.Imu) Imu {
	out := Imu{Header: header(m.Timestamp, m.FrameID), Orientation: Quaternion(m.Orientation),
		AngularVelocity: Vector3(m.AngularVelocity), LinearAcceleration: Vector3(m.LinearAcceleration)}
	out.OrientationCovariance[0] = certainty(m.OrientationKnown)
	out.AngularVelocityCovariance[0] = certainty(m.AngularVelocityKnown)
	out.LinearAccelerationCovariance[0] = certainty(m.LinearAccelerationKnown)
	return out
}

// certainty returns the first element of a covariance that is not known: -1 if the value is not known either.
func certainty(known bool) float64 {
	if known {
		return 0
	}
	return -1
}

// services is NavSatStatus.Service of all receivers: which satellites they use is not known.
const services = 1

// satellite returns the message of a receiver with a fix.
func satellite(m telemetry.LocationFix, fix telemetry.GPS) NavSatFix {
	status := int8(0)
	if fix.Corrected() {
		status = 2
	}
	out := NavSatFix{Header: header(m.Timestamp, m.FrameID), Status: NavSatStatus{status, services}, Latitude: m.Latitude, Longitude: m.Longitude,
		Altitude: m.Altitude, PositionCovarianceType: m.PositionCovarianceType}
	copy(out.PositionCovariance[:], m.PositionCovariance)
	return out
}

// frameOf returns the frame of the device in a topic for viewers: "sonar1", "r1/camera".
func (c *Converter) frameOf(name, topic string) string {
	return strings.TrimPrefix(c.robot+"/", "/") + name + indexOf(topic)
}

// sonarRange returns a reading as REP 117 has it: NaN has not fired yet or is missing, and
// -Inf is too near to be measured.
func sonarRange(r float64) float32 {
	switch {
	case r == 0:
		return float32(math.NaN())
	case r < sonarMin:
		return float32(math.Inf(-1))
	case r >= sonarMax:
		return float32(math.Inf(1))
	}
	return float32(r)
}

func (c *Converter) detections(topic string, b telemetry.Blobs) Detection2DArray {
	at := header(b.Timestamp, c.frameOf("camera", topic))
	all := Detection2DArray{Header: at}
	for _, blob := range b.Blobs {
		all.Detections = append(all.Detections, Detection2D{
			Header:  at,
			Results: []ObjectHypothesisWithPose{{Hypothesis: ObjectHypothesis{strconv.Itoa(blob.Channel), 1}}},
			Bbox: BoundingBox2D{Pose2D{Position: Point2D{float64(blob.Left+blob.Right) / 2, float64(blob.Top+blob.Bottom) / 2}},
				float64(blob.Right - blob.Left), float64(blob.Bottom - blob.Top)},
		})
	}
	return all
}

// header returns a header.
func header(at telemetry.Time, frame string) Header {
	return Header{Time{int32(at.Sec), at.Nsec}, frame}
}

// pressed returns 1 for each pressed button.
func pressed(list []bool) []uint8 {
	values := make([]uint8, len(list))
	for i, p := range list {
		if p {
			values[i] = 1
		}
	}
	return values
}

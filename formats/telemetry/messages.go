package telemetry

import (
	"math"

	"player/codec"
)

// The messages below have the names, fields and units of the schemas of Foxglove
// (https://docs.foxglove.dev/docs/sdk/schemas): metres, radians and nanoseconds.

// Time is a time since 1970.
type Time struct {
	Sec  uint32 `json:"sec"`
	Nsec uint32 `json:"nsec"`
}

// Duration is a length of time.
type Duration struct {
	Sec  int32  `json:"sec"`
	Nsec uint32 `json:"nsec"`
}

// Vector3 is a position or a size.
type Vector3 struct {
	X float64 `json:"x"`
	Y float64 `json:"y"`
	Z float64 `json:"z"`
}

// Quaternion is a rotation.
type Quaternion struct {
	X float64 `json:"x"`
	Y float64 `json:"y"`
	Z float64 `json:"z"`
	W float64 `json:"w"`
}

// Pose is a place and a direction.
type Pose struct {
	Position    Vector3    `json:"position"`
	Orientation Quaternion `json:"orientation"`
}

// Color has parts of 0 to 1.
type Color struct {
	R float64 `json:"r"`
	G float64 `json:"g"`
	B float64 `json:"b"`
	A float64 `json:"a"`
}

// LaserScan is a scan in the x-y plane of its frame.
type LaserScan struct {
	Timestamp   Time      `json:"timestamp"`
	FrameID     string    `json:"frame_id"`
	Pose        Pose      `json:"pose"`
	StartAngle  float64   `json:"start_angle"`
	EndAngle    float64   `json:"end_angle"`
	Ranges      []float64 `json:"ranges"`
	Intensities []float64 `json:"intensities"`
}

// PoseInFrame is a pose in a frame.
type PoseInFrame struct {
	Timestamp Time   `json:"timestamp"`
	FrameID   string `json:"frame_id"`
	Pose      Pose   `json:"pose"`
}

// FrameTransform is the pose of a frame in its parent.
type FrameTransform struct {
	Timestamp     Time       `json:"timestamp"`
	ParentFrameID string     `json:"parent_frame_id"`
	ChildFrameID  string     `json:"child_frame_id"`
	Translation   Vector3    `json:"translation"`
	Rotation      Quaternion `json:"rotation"`

	Moves bool `json:"-"` // the frame is not fixed to its parent
}

// Frame returns the frame of a message, which replaces the earlier messages of that frame: a
// topic has transforms of several frames.
func Frame(content any) string {
	if f, ok := content.(FrameTransform); ok {
		return f.ChildFrameID
	}
	return ""
}

// levelInfo is a level of Log.
const levelInfo = 2

// Log is a line of a log.
type Log struct {
	Timestamp Time   `json:"timestamp"`
	Level     uint8  `json:"level"`
	Message   string `json:"message"`
	Name      string `json:"name"`
	File      string `json:"file"`
	Line      uint32 `json:"line"`
}

// SceneUpdate replaces the entities of the same id.
type SceneUpdate struct {
	Deletions []Unused      `json:"deletions"`
	Entities  []SceneEntity `json:"entities"`
}

// SceneEntity is a thing to draw.
type SceneEntity struct {
	Timestamp   Time       `json:"timestamp"`
	FrameID     string     `json:"frame_id"`
	ID          string     `json:"id"`
	Lifetime    Duration   `json:"lifetime"`
	FrameLocked bool       `json:"frame_locked"`
	Metadata    []Unused   `json:"metadata"`
	Arrows      []Unused   `json:"arrows"`
	Cubes       []Cube     `json:"cubes"`
	Spheres     []Unused   `json:"spheres"`
	Cylinders   []Cylinder `json:"cylinders"`
	Lines       []Line     `json:"lines"`
	Triangles   []Unused   `json:"triangles"`
	Texts       []Unused   `json:"texts"`
	Models      []Unused   `json:"models"`
}

// Unused is an element of a list that is always empty.
type Unused struct{}

// newEntity returns an entity with empty lists: a nil list would be null in JSON.
func newEntity(at Time, frame, id string) SceneEntity {
	none := []Unused{}
	return SceneEntity{
		Timestamp: at, FrameID: frame, ID: id, FrameLocked: true,
		Metadata: none, Arrows: none, Cubes: []Cube{}, Spheres: none, Cylinders: []Cylinder{}, Lines: []Line{}, Triangles: none, Texts: none, Models: none,
	}
}

// Cube is a box around its pose.
type Cube struct {
	Pose  Pose    `json:"pose"`
	Size  Vector3 `json:"size"`
	Color Color   `json:"color"`
}

// Cylinder is a cylinder around its pose, along z. The scales are the factors of the width
// at its lower and its upper end.
type Cylinder struct {
	Pose        Pose    `json:"pose"`
	Size        Vector3 `json:"size"`
	BottomScale float64 `json:"bottom_scale"`
	TopScale    float64 `json:"top_scale"`
	Color       Color   `json:"color"`
}

// lineLoop is the type of a closed Line.
const lineLoop = 1

// Line is a line through points, in one colour if there are no colours.
type Line struct {
	Type           uint8     `json:"type"`
	Pose           Pose      `json:"pose"`
	Thickness      float64   `json:"thickness"` // metres, or pixels if it is scale invariant
	ScaleInvariant bool      `json:"scale_invariant"`
	Points         []Vector3 `json:"points"`
	Color          Color     `json:"color"`
	Colors         []Color   `json:"colors"`
	Indices        []uint32  `json:"indices"`
}

// The messages below are our own, for data without a schema of Foxglove: plots and tables
// show them.

// Battery is the voltage of the robot's battery.
type Battery struct {
	Timestamp Time    `json:"timestamp"`
	Voltage   float64 `json:"voltage"`
}

// Bumpers lists which bumpers are pressed.
type Bumpers struct {
	Timestamp Time   `json:"timestamp"`
	Front     []bool `json:"front"`
	Rear      []bool `json:"rear"`
}

// Ranges are the readings of sonars in metres, in the order of PROTOCOL 7.2, or of a ranger, in the order of 7.9. Where there
// is no distance they are 0.
type Ranges struct {
	Timestamp Time      `json:"timestamp"`
	Ranges    []float64 `json:"ranges"`

	Ranger *Ranger `json:"-"` // nil: of sonars
}

// Ranger is the meaning of a ranger's readings. It is valid until the next data of the Converter.
type Ranger struct {
	FrameID string // of a ScanForm; frames of a BeamsForm have "_" and the number of the reading behind it
	Form    Form
	Rays    []codec.Rays
	Data    *codec.RangerData
}

// PointCloud is points in a frame. Their coordinates are float32, metres, x, y and z, little-endian.
type PointCloud struct {
	Timestamp   Time    `json:"timestamp"`
	FrameID     string  `json:"frame_id"`
	Pose        Pose    `json:"pose"`
	PointStride uint32  `json:"point_stride"` // bytes
	Fields      []Field `json:"fields"`
	Data        []byte  `json:"data"` // in base64
}

// Field is a coordinate of the points of a PointCloud.
type Field struct {
	Name   string `json:"name"`
	Offset uint32 `json:"offset"` // bytes
	Type   uint8  `json:"type"`   // 7: float32
}

// Motion has position's data without the pose, in m/s and rad/s.
type Motion struct {
	Timestamp Time    `json:"timestamp"`
	Speed     float64 `json:"speed"`
	TurnRate  float64 `json:"turn_rate"`
	Compass   float64 `json:"compass"`
	Stall     bool    `json:"stall"`
}

// Control names the client that drives a robot: the last client that has commanded its
// wheels and is still connected.
type Control struct {
	Timestamp Time   `json:"timestamp"`
	Driver    string `json:"driver"`  // the client's name, as the client sent it
	Address   string `json:"address"` // host:port; empty: no client drives
	Stopped   bool   `json:"stopped"` // by an emergency stop
}

// NewControl returns that no client drives at a time, in ns since 1970.
func NewControl(at int64) Control { return Control{Timestamp: newTime(at)} }

// Velocity is a command to the wheels, in m/s and rad/s, with the names of ROS.
type Velocity struct {
	Timestamp Time    `json:"timestamp"`
	Linear    Vector3 `json:"linear"`
	Angular   Vector3 `json:"angular"`
}

// PanTiltZoom is the direction of the camera, or the command to it: to the left and up
// in radians. Zoom is 0 to 1023.
type PanTiltZoom struct {
	Timestamp Time    `json:"timestamp"`
	Pan       float64 `json:"pan"`
	Tilt      float64 `json:"tilt"`
	Zoom      int     `json:"zoom"`
}

// Gripper is the state of the gripper (PROTOCOL 7.5).
type Gripper struct {
	Timestamp     Time `json:"timestamp"`
	PaddlesOpen   bool `json:"paddles_open"`
	PaddlesClosed bool `json:"paddles_closed"`
	PaddlesMoving bool `json:"paddles_moving"`
	PaddlesError  bool `json:"paddles_error"`
	LiftUp        bool `json:"lift_up"`
	LiftDown      bool `json:"lift_down"`
	LiftMoving    bool `json:"lift_moving"`
	LiftError     bool `json:"lift_error"`
	GripperLimit  bool `json:"gripper_limit"`
	LiftLimit     bool `json:"lift_limit"`
	OuterBeam     bool `json:"outer_beam"`
	InnerBeam     bool `json:"inner_beam"`
}

// GripperCommand is a command to the gripper (PROTOCOL 5.1).
type GripperCommand struct {
	Timestamp Time `json:"timestamp"`
	Command   int  `json:"command"`
	Argument  int  `json:"argument"`
}

// Blobs are the blobs of an image, in pixels from its top left.
type Blobs struct {
	Timestamp Time   `json:"timestamp"`
	Blobs     []Blob `json:"blobs"`
}

// Blob is a patch of the colour of a channel.
type Blob struct {
	Channel int `json:"channel"`
	Area    int `json:"area"`
	X       int `json:"x"`
	Y       int `json:"y"`
	Left    int `json:"left"`
	Right   int `json:"right"`
	Top     int `json:"top"`
	Bottom  int `json:"bottom"`
}

// Joystick has the pressed buttons, and the axes from -1 to 1.
type Joystick struct {
	Timestamp Time      `json:"timestamp"`
	Buttons   []bool    `json:"buttons"`
	Axes      []float64 `json:"axes"`
}

// Imu is a reading of an inertial measurement unit: the rotation of its frame, rad/s and m/s². An unknown value is 0.
type Imu struct {
	Timestamp               Time       `json:"timestamp"`
	FrameID                 string     `json:"frame_id"`
	Orientation             Quaternion `json:"orientation"`
	OrientationKnown        bool       `json:"orientation_known"`
	AngularVelocity         Vector3    `json:"angular_velocity"`
	AngularVelocityKnown    bool       `json:"angular_velocity_known"`
	LinearAcceleration      Vector3    `json:"linear_acceleration"`
	LinearAccelerationKnown bool       `json:"linear_acceleration_known"`
}

// LocationFix is a place on the Earth (WGS 84), in degrees and metres. The covariance is of east, north and up.
type LocationFix struct {
	Timestamp              Time      `json:"timestamp"`
	FrameID                string    `json:"frame_id"`
	Latitude               float64   `json:"latitude"`
	Longitude              float64   `json:"longitude"`
	Altitude               float64   `json:"altitude"`
	PositionCovariance     []float64 `json:"position_covariance"`
	PositionCovarianceType uint8     `json:"position_covariance_type"` // 0: not known, 2: its diagonal is known
}

// GPS is a receiver's report on its fix (PROTOCOL 7.11), in m/s and radians clockwise from north; -1: not known.
type GPS struct {
	Timestamp  Time    `json:"timestamp"`
	Fix        int     `json:"fix"`
	Satellites int     `json:"satellites"`
	Speed      float64 `json:"speed"`
	Course     float64 `json:"course"`
}

// Corrected reports whether the fix uses the corrections of a base station or of other satellites.
func (g GPS) Corrected() bool {
	switch codec.Fix(g.Fix) {
	case codec.DGPSFix, codec.FloatFix, codec.RTKFix:
		return true
	}
	return false
}

// Channels has the values of inputs and outputs in their units. An unknown value is 0.
type Channels struct {
	Timestamp Time      `json:"timestamp"`
	Names     []string  `json:"names"`
	Units     []string  `json:"units"` // as in PROTOCOL 8.9.7
	Values    []float64 `json:"values"`
	Known     []bool    `json:"known"`
}

// ChannelCommand sets an output to a value in its unit.
type ChannelCommand struct {
	Timestamp Time    `json:"timestamp"`
	Name      string  `json:"name"`
	Unit      string  `json:"unit"`
	Value     float64 `json:"value"`
}

// Joints has the positions and goals of joints in their units. An unknown value is 0.
type Joints struct {
	Timestamp Time    `json:"timestamp"`
	Joints    []Joint `json:"joints"`
}

// JointCommand moves joints to goals in their units, at speeds in these units each second; 0: as the driver moves
// them. Without goals it stops them.
type JointCommand struct {
	Timestamp Time      `json:"timestamp"`
	Names     []string  `json:"names"`
	Units     []string  `json:"units"`
	Goals     []float64 `json:"goals"`
	Speed     float64   `json:"speed"`
}

// Joint is one of Joints.
type Joint struct {
	Name     string  `json:"name"`
	Unit     string  `json:"unit"` // as in PROTOCOL 8.9.7
	Position float64 `json:"position"`
	Known    bool    `json:"position_known"`
	Goal     float64 `json:"goal"`
	HasGoal  bool    `json:"has_goal"`
	Moving   bool    `json:"moving"`
	Powered  bool    `json:"powered"`
	AtLimit  bool    `json:"at_limit"`
	Failed   bool    `json:"failed"`
}

// newTime returns a time of ns since 1970.
func newTime(ns int64) Time { return Time{uint32(ns / 1e9), uint32(ns % 1e9)} }

// turned returns the rotation of a thing that is tilted up by up, and then rotated by
// heading, counterclockwise seen from above, both in radians.
func turned(heading, up float64) Quaternion {
	zs, zc := math.Sincos(heading / 2)
	ys, yc := math.Sincos(-up / 2)
	return Quaternion{X: -zs * ys, Y: zc * ys, Z: zs * yc, W: zc * yc}
}

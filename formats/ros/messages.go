package ros

// The messages below come from ROS 2's packages builtin_interfaces, std_msgs, geometry_msgs,
// sensor_msgs, nav_msgs, tf2_msgs, control_msgs and vision_msgs, field by field in their order,
// with its types: metres, radians, seconds.

// Time is a time since 1970.
type Time struct {
	Sec     int32
	Nanosec uint32
}

// Header has the time of the data, and its frame.
type Header struct {
	Stamp   Time
	FrameID string `ros:"frame_id"`
}

// Vector3 is a direction, a size or a speed.
type Vector3 struct{ X, Y, Z float64 }

// Point is a place.
type Point struct{ X, Y, Z float64 }

// Quaternion is a rotation.
type Quaternion struct{ X, Y, Z, W float64 }

// Pose is a place and a direction.
type Pose struct {
	Position    Point
	Orientation Quaternion
}

// PoseWithCovariance has the covariance of x, y, z and the rotations about them, by rows.
type PoseWithCovariance struct {
	Pose       Pose
	Covariance [36]float64
}

// PoseStamped is a pose in the header's frame.
type PoseStamped struct {
	Header Header
	Pose   Pose
}

// Twist is a speed, in m/s and rad/s.
type Twist struct{ Linear, Angular Vector3 }

// TwistWithCovariance is like PoseWithCovariance.
type TwistWithCovariance struct {
	Twist      Twist
	Covariance [36]float64
}

// Transform is the pose of a frame in another.
type Transform struct {
	Translation Vector3
	Rotation    Quaternion
}

// TransformStamped has the parent in its header.
type TransformStamped struct {
	Header       Header
	ChildFrameID string `ros:"child_frame_id"`
	Transform    Transform
}

// TFMessage is a list of frames.
type TFMessage struct{ Transforms []TransformStamped }

// Odometry is a pose in the header's frame, and a speed in the child's.
type Odometry struct {
	Header       Header
	ChildFrameID string `ros:"child_frame_id"`
	Pose         PoseWithCovariance
	Twist        TwistWithCovariance
}

// LaserScan is a scan in the x-y plane of its frame.
type LaserScan struct {
	Header         Header
	AngleMin       float32 `ros:"angle_min"`
	AngleMax       float32 `ros:"angle_max"`
	AngleIncrement float32 `ros:"angle_increment"`
	TimeIncrement  float32 `ros:"time_increment"`
	ScanTime       float32 `ros:"scan_time"`
	RangeMin       float32 `ros:"range_min"`
	RangeMax       float32 `ros:"range_max"`
	Ranges         []float32
	Intensities    []float32
}

// PointField is a coordinate of the points of a PointCloud2.
type PointField struct {
	Name     string
	Offset   uint32 // bytes
	Datatype uint8  // 7: float32
	Count    uint32
}

// PointCloud2 is a list of points: its height is 1.
type PointCloud2 struct {
	Header      Header
	Height      uint32
	Width       uint32
	Fields      []PointField
	IsBigEndian bool   `ros:"is_bigendian"`
	PointStep   uint32 `ros:"point_step"` // bytes
	RowStep     uint32 `ros:"row_step"`   // bytes
	Data        []uint8
	IsDense     bool `ros:"is_dense"` // all points are valid
}

// Range is the reading of a sonar or of a single beam, along the x axis of its frame.
type Range struct {
	Header        Header
	RadiationType uint8   `ros:"radiation_type"` // 0: ultrasound, 1: infrared
	FieldOfView   float32 `ros:"field_of_view"`
	MinRange      float32 `ros:"min_range"`
	MaxRange      float32 `ros:"max_range"`
	Range         float32
	Variance      float32
}

// BatteryState is the battery's state. Unmeasured values are NaN.
type BatteryState struct {
	Header                Header
	Voltage               float32
	Temperature           float32
	Current               float32
	Charge                float32
	Capacity              float32
	DesignCapacity        float32 `ros:"design_capacity"`
	Percentage            float32
	PowerSupplyStatus     uint8 `ros:"power_supply_status"`     // 0: unknown
	PowerSupplyHealth     uint8 `ros:"power_supply_health"`     // 0: unknown
	PowerSupplyTechnology uint8 `ros:"power_supply_technology"` // 0: unknown
	Present               bool
	CellVoltage           []float32 `ros:"cell_voltage"`
	CellTemperature       []float32 `ros:"cell_temperature"`
	Location              string
	SerialNumber          string `ros:"serial_number"`
}

// Joy is the state of a joystick.
type Joy struct {
	Header  Header
	Axes    []float32
	Buttons []int32
}

// CompressedImage is a picture of a camera.
type CompressedImage struct {
	Header Header
	Format string
	Data   []uint8
}

// JointState has the positions of joints in radians or metres. An unknown one is NaN.
type JointState struct {
	Header   Header
	Name     []string
	Position []float64
	Velocity []float64
	Effort   []float64
}

// Imu is a reading of an inertial measurement unit. The first element of a covariance is -1 if the value is not known.
type Imu struct {
	Header                       Header
	Orientation                  Quaternion
	OrientationCovariance        [9]float64 `ros:"orientation_covariance"`
	AngularVelocity              Vector3    `ros:"angular_velocity"`
	AngularVelocityCovariance    [9]float64 `ros:"angular_velocity_covariance"`
	LinearAcceleration           Vector3    `ros:"linear_acceleration"`
	LinearAccelerationCovariance [9]float64 `ros:"linear_acceleration_covariance"`
}

// NavSatStatus is the fix of a NavSatFix.
type NavSatStatus struct {
	Status  int8   // -1: none, 0: a fix, 1: with corrections of satellites, 2: with corrections of a base station
	Service uint16 // 1: GPS
}

// NavSatFix is a place on the Earth (WGS 84), in degrees and metres.
type NavSatFix struct {
	Header                 Header
	Status                 NavSatStatus
	Latitude               float64
	Longitude              float64
	Altitude               float64
	PositionCovariance     [9]float64 `ros:"position_covariance"`      // of east, north, up
	PositionCovarianceType uint8      `ros:"position_covariance_type"` // 0: not known, 2: its diagonal is known
}

// InterfaceValue has the names and the values of inputs and outputs.
type InterfaceValue struct {
	InterfaceNames []string `ros:"interface_names"`
	Values         []float64
}

// DynamicInterfaceGroupValues has the inputs and outputs of devices: an InterfaceValue for each name in InterfaceGroups.
type DynamicInterfaceGroupValues struct {
	Header          Header
	InterfaceGroups []string         `ros:"interface_groups"`
	InterfaceValues []InterfaceValue `ros:"interface_values"`
}

// MultiArrayDimension is a dimension of an array.
type MultiArrayDimension struct {
	Label        string
	Size, Stride uint32
}

// MultiArrayLayout is the layout of an array.
type MultiArrayLayout struct {
	Dim        []MultiArrayDimension
	DataOffset uint32 `ros:"data_offset"`
}

// UInt8MultiArray is an array of bytes.
type UInt8MultiArray struct {
	Layout MultiArrayLayout
	Data   []uint8
}

// KeyValue is a value with its name.
type KeyValue struct{ Key, Value string }

// DiagnosticStatus is the state of a part of the robot.
type DiagnosticStatus struct {
	Level      uint8 `type:"byte"` // 0: OK, 1: a warning, 2: an error
	Name       string
	Message    string
	HardwareID string `ros:"hardware_id"`
	Values     []KeyValue
}

// Point2D is a place in an image.
type Point2D struct{ X, Y float64 }

// Pose2D is a place and a direction in an image.
type Pose2D struct {
	Position Point2D
	Theta    float64
}

// BoundingBox2D is a rectangle in an image, in pixels.
type BoundingBox2D struct {
	Center Pose2D
	SizeX  float64 `ros:"size_x"`
	SizeY  float64 `ros:"size_y"`
}

// ObjectHypothesis is a guess at the class of an object.
type ObjectHypothesis struct {
	ClassID string `ros:"class_id"`
	Score   float64
}

// ObjectHypothesisWithPose is a guess at the class of an object, and at its place.
type ObjectHypothesisWithPose struct {
	Hypothesis ObjectHypothesis
	Pose       PoseWithCovariance
}

// Detection2D is an object in an image.
type Detection2D struct {
	Header  Header
	Results []ObjectHypothesisWithPose
	Bbox    BoundingBox2D
	ID      string
}

// Detection2DArray are the objects in an image.
type Detection2DArray struct {
	Header     Header
	Detections []Detection2D
}

// packages has the package of each message.
func packages() map[string][]any {
	return map[string][]any{
		"builtin_interfaces": {Time{}},
		"std_msgs":           {Header{}, MultiArrayDimension{}, MultiArrayLayout{}, UInt8MultiArray{}},
		"geometry_msgs": {Vector3{}, Point{}, Quaternion{}, Pose{}, PoseStamped{}, PoseWithCovariance{}, Twist{}, TwistWithCovariance{},
			Transform{}, TransformStamped{}},
		"sensor_msgs": {LaserScan{}, PointField{}, PointCloud2{}, Range{}, BatteryState{}, Joy{}, JointState{}, CompressedImage{}, Imu{}, NavSatStatus{},
			NavSatFix{}},
		"diagnostic_msgs": {KeyValue{}, DiagnosticStatus{}},
		"control_msgs":    {InterfaceValue{}, DynamicInterfaceGroupValues{}},
		"nav_msgs":        {Odometry{}},
		"tf2_msgs":        {TFMessage{}},
		"vision_msgs":     {Point2D{}, Pose2D{}, BoundingBox2D{}, ObjectHypothesis{}, ObjectHypothesisWithPose{}, Detection2D{}, Detection2DArray{}},
	}
}

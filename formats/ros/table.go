package ros

import (
	"strconv"
	"strings"
)

// Row is a topic of the devices of an interface, as docs/ROS.md lists them. Bags, rosbridge and the node in Python have
// these names and types.
type Row struct {
	Interface string `json:"interface"` // "ranger"
	// Topic and Frame are the names for index 0, without the robot's name. A "#" in them is the number of a reading.
	Topic string `json:"topic"`
	Type  string `json:"type"`
	Frame string `json:"frame"` // of the header; empty: it has none
	// Command reports that the topic has commands to the device, in place of its data.
	Command bool `json:"command"`
}

const (
	scanType, rangeType  = "sensor_msgs/msg/LaserScan", "sensor_msgs/msg/Range"
	jointType, groupType = "sensor_msgs/msg/JointState", "control_msgs/msg/DynamicInterfaceGroupValues"
	poseType             = "geometry_msgs/msg/PoseStamped"
	odometryFrame        = "odom" // of goals, as of the odometry
)

// Table returns the topics of all interfaces. A ranger has one of its three topics: by the form of its readings.
func Table() []Row {
	return []Row{
		{"position", "odom", "nav_msgs/msg/Odometry", "odom", false},
		{"position", "cmd_vel", "geometry_msgs/msg/Twist", "", true},
		{"laser", "scan", scanType, "laser", false},
		{"sonar", "sonar/range_#", rangeType, "sonar_#", false},
		{"ranger", "ranger/scan", scanType, "ranger", false},
		{"ranger", "ranger/range_#", rangeType, "ranger_#", false},
		{"ranger", "ranger/points", "sensor_msgs/msg/PointCloud2", "base_link", false},
		{"misc", "battery_state", "sensor_msgs/msg/BatteryState", "", false},
		{"misc", "bumpers", "std_msgs/msg/UInt8MultiArray", "", false},
		{"vision", "detections", "vision_msgs/msg/Detection2DArray", "camera", false},
		{"ptz", "joint_states", jointType, "", false},
		{"joystick", "joy", "sensor_msgs/msg/Joy", "", false},
		{"imu", "imu", "sensor_msgs/msg/Imu", "imu", false},
		{"gps", "fix", "sensor_msgs/msg/NavSatFix", "gps", false},
		{"io", "io/states", groupType, "", false},
		{"io", "io/commands", groupType, "", true},
		{"servo", "joint_states", jointType, "", false},
		{"servo", "joint_commands", jointType, "", true},
		{"goto", "goal_status", "diagnostic_msgs/msg/DiagnosticStatus", "", false},
		{"goto", "goal_pose", poseType, odometryFrame, true},
	}
}

// TopicOf returns a name of the Table for the device with an index, and for the reading with a number: "scan_1",
// "ranger_1/range_4". The index is behind the first word of the name.
func TopicOf(name string, index, number int) string {
	if index != 0 {
		first, rest, several := strings.Cut(name, "/")
		name = first + "_" + strconv.Itoa(index)
		if several {
			name += "/" + rest
		}
	}
	return strings.ReplaceAll(name, "#", strconv.Itoa(number))
}

package ros

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"player/codec"
)

// ParseGoal parses a message on goal_pose: a PoseStamped as JSON, in m. A rotation of zeros is any heading. The frame is
// that of the odometry, and the robot's name (the parameter of New) may stand before it; an empty frame is the same.
func ParseGoal(message []byte, robot string) (goal codec.GotoCommand, err error) {
	var m struct {
		Header struct {
			Frame string `json:"frame_id"`
		}
		Pose struct {
			Position    struct{ X, Y *float64 }
			Orientation Quaternion
		}
	}
	if err := json.Unmarshal(message, &m); err != nil {
		return goal, fmt.Errorf("the message is no %s: %w", poseType, err)
	}
	frame := strings.TrimPrefix(m.Header.Frame, "/")
	if own := strings.TrimPrefix(robot+"/"+odometryFrame, "/"); frame != "" && frame != odometryFrame && frame != own {
		return goal, fmt.Errorf("the goal is in the frame %.60q: transform it to %s, in which the robot drives", frame, own)
	}
	x, y := m.Pose.Position.X, m.Pose.Position.Y
	if x == nil || y == nil {
		return goal, errors.New("the goal has no x or no y")
	}
	goal = codec.GotoCommand{X: whole(*x, "mm"), Y: whole(*y, "mm"), Heading: codec.AnyHeading}
	if q := m.Pose.Orientation; q != (Quaternion{}) {
		n := math.Hypot(math.Hypot(q.X, q.Y), math.Hypot(q.Z, q.W)) // the squares of large numbers overflow
		qx, qy, qz, qw := q.X/n, q.Y/n, q.Z/n, q.W/n
		yaw := math.Atan2(2*(qw*qz+qx*qy), qw*qw+qx*qx-qy*qy-qz*qz) * 180 / math.Pi
		goal.Heading = uint16(int(math.Round(yaw)+360) % 360)
	}
	return goal, nil
}

// goal sends a command to the goto device with an index as a pose. The command to stop has none.
func (c *Converter) goal(index int, came int64, payload []byte) {
	var d codec.GotoCommand
	if d.Decode(payload) != nil || d.X == codec.Unknown || d.Y == codec.Unknown {
		return
	}
	pose := Pose{Position: Point{X: float64(d.X) / 1000, Y: float64(d.Y) / 1000}}
	if d.Heading != codec.AnyHeading {
		pose.Orientation.Z, pose.Orientation.W = math.Sincos(float64(d.Heading) * math.Pi / 360)
	}
	at := Header{Time{int32(came / 1e9), uint32(came % 1e9)}, c.frameOf(odometryFrame, "")}
	c.send(c.robot+"/"+TopicOf("goal_pose", index, 0), PoseStamped{at, pose})
}

// goalStatus sends the data of the goto device with an index: the state, "blocked" as a warning and "stopped" with its
// reason as an error, and, after the first goal, the goal in m and the distance, if it is known.
func (c *Converter) goalStatus(index int, payload []byte) {
	var d codec.GotoData
	if d.Decode(payload) != nil {
		return
	}
	m := DiagnosticStatus{Name: "goto", Message: d.State.String()}
	switch d.State {
	case codec.GotoBlocked:
		m.Level = 1
	case codec.GotoStopped:
		m.Level, m.Message = 2, m.Message+": "+d.Reason.String()
	}
	if d.Distance != codec.UnknownAmount {
		m.Values = append(m.Values, KeyValue{"distance", metres(float64(d.Distance))})
	}
	if d.X != codec.Unknown {
		m.Values = append(m.Values, KeyValue{"x", metres(float64(d.X))}, KeyValue{"y", metres(float64(d.Y))})
	}
	c.send(c.robot+"/"+TopicOf("goal_status", index, 0), m)
}

// metres returns mm in m, with three decimals.
func metres(mm float64) string { return strconv.FormatFloat(mm/1000, 'f', 3, 64) }

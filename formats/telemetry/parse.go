package telemetry

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"
)

// levels are the levels of Log, by the levels of the server's log.
var levels = map[string]uint8{"debug": 1, "info": levelInfo, "warn": 3, "error": 4, "dpanic": 5, "panic": 5, "fatal": 5}

// ParseLogLine parses a line of the server's log: a JSON object with ts, level, msg and
// fields. at is its time in ns since 1970.
func ParseLogLine(line []byte) (l Log, at int64, err error) {
	var fields map[string]any
	if err := json.Unmarshal(line, &fields); err != nil {
		return Log{}, 0, err
	}
	text := func(name string) string {
		s, _ := fields[name].(string)
		delete(fields, name)
		return s
	}
	stamp, err := time.Parse("2006-01-02T15:04:05.000Z0700", text("ts"))
	if err != nil {
		return Log{}, 0, err
	}
	at = stamp.UnixNano()
	l = Log{Timestamp: newTime(at), Level: levels[text("level")], Name: "player"}
	var message strings.Builder
	message.WriteString(text("msg"))
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		fmt.Fprintf(&message, " %s=%v", name, fields[name])
	}
	l.Message = message.String()
	return l, at, nil
}

// ParseVelocity parses a message on cmd_vel: a geometry_msgs/Twist of ROS as JSON, in m/s and rad/s. Only the linear x
// and the angular z count. It returns mm/s and deg/s, within 16 bits.
func ParseVelocity(payload []byte) (speed, turnRate int, err error) {
	var v struct {
		Linear, Angular struct{ X, Z float64 }
	}
	if err := json.Unmarshal(payload, &v); err != nil {
		return 0, 0, fmt.Errorf("the message is not a velocity: %w", err)
	}
	return short(v.Linear.X * 1000), short(v.Angular.Z * 180 / math.Pi), nil
}

// short rounds v within the range of an int16.
func short(v float64) int {
	return int(math.Round(max(math.MinInt16, min(v, math.MaxInt16))))
}

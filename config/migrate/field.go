package migrate

import (
	"math"
	"net"
	"strconv"
	"strings"

	"player/formats/syntax"
)

// field converts a field of a driver's section, or drops it. name is the option's
// here, empty if the driver has none for it.
func (b *block) field(s *syntax.Section, f *syntax.Field, name string) {
	value, why, ok := "", "", name != ""
	if !ok {
		name = f.Name
	}
	switch f.Name {
	case "name", driverSection, "provides":
		return
	case "alwayson":
		if ok || !s.Bool(name, true) { // a simulation is always on
			return
		}
		if s.Bool(name, false) {
			value = "1"
		}
	case "pose", "size":
		value = numbers(s, f)
		if value != "" && len(f.Values) == 6 {
			b.note("pose: some drivers took the heading in radians; here it is in unit_angle, by default degrees")
			if v := s.Floats(f.Name); v[3] != 0 || v[4] != 0 {
				b.drop("roll "+f.Values[3].Text+" and pitch "+f.Values[4].Text+" of pose", "flip true is for a scanner that hangs upside down")
			}
		}
	case "plugin":
		if ok {
			return
		}
		why = noLibraries
	case "requires":
		if b.driver == "joystick" {
			why = "the dashboard drives by gamepad"
		}
	case "safe":
		if ok && s.Bool(f.Name, true) {
			return
		}
		if ok {
			value = "true"
		}
	case "invert":
		if upright := !s.Bool(f.Name, true); ok && upright {
			return
		}
		if ok && s.Bool(f.Name, false) {
			value = "true"
		}
	case "max_xaccel", "max_xdecel", "max_yawaccel", "max_yawdecel":
		if ok {
			if value = limit(s, f.Name); value == "0" { // as in the robot's memory, there and here
				return
			}
		}
	case "port":
		if ok && b.serial == "" {
			value = portOf(f)
			break
		}
		fallthrough
	default:
		if !ok {
			break
		}
		text := s.String(f.Name, "")
		if f.Name == "portopts" {
			text = portopts(text)
		}
		if text == "" || name == "port" && !isPort(text) {
			break
		}
		value = `"` + text + `"`
		if name == "port" {
			b.port = text
		}
	}
	if value == "" {
		b.drop(f.Text(), why)
	} else {
		b.set(name, value)
	}
}

// limit returns an acceleration in mm/s2 or deg/s2, the units of p2os here; empty: it does
// not fit a command. In Player the accelerations for braking are negative.
func limit(s *syntax.Section, name string) string {
	most, value := 32767.0, math.NaN()
	if strings.HasPrefix(name, "max_yaw") {
		value = s.Angle(name, value) * 180 / math.Pi
	} else {
		value = s.Length(name, value) * 1000
	}
	if value = math.Abs(math.Round(value)); !(value <= most) {
		return ""
	}
	return strconv.Itoa(int(value))
}

// numbers returns the tuple of a pose or size without its values for the third dimension;
// empty: it has another length, or is no tuple.
func numbers(s *syntax.Section, f *syntax.Field) string {
	v := f.Values
	n := len(v)
	if !f.Tuple || s.Floats(f.Name) == nil || n == 0 {
		return ""
	}
	text := "[" + v[0].Text
	if n > 1 {
		text += " " + v[1].Text
	}
	if f.Name == "pose" {
		switch n {
		case 3, 4, 6: // x y a, x y z a, x y z roll pitch a
			text += " " + v[n-1].Text
		}
	}
	if n == 5 || n > 6 || n > 3 && f.Name == "size" {
		return ""
	}
	return text + "]"
}

// isPort reports whether a text is a serial port here: a path, or HOST:PORT.
func isPort(text string) bool {
	if !strings.Contains(text, ":") || strings.HasPrefix(text, "/") || strings.HasPrefix(text, ".") {
		return net.ParseIP(text) == nil
	}
	host, port, err := net.SplitHostPort(text)
	n, wrong := strconv.ParseUint(port, 10, 16)
	return err == nil && wrong == nil && n > 0 && host != ""
}

// portOf returns a TCP port, which may be written as a string; empty: it is none.
func portOf(f *syntax.Field) string {
	if f.Tuple {
		return ""
	}
	if port, err := strconv.ParseUint(f.Values[0].Text, 10, 16); err == nil && port > 0 {
		return strconv.FormatUint(port, 10)
	}
	return ""
}

// portopts returns the port in the options of a driver of Hokuyo lasers, a serial
// port or an address: "type=serial,device=/dev/ttyACM0,timeout=1".
func portopts(text string) string {
	address, port := "", "10940"
	for _, pair := range strings.Split(text, ",") {
		switch name, value, _ := strings.Cut(pair, "="); name {
		case "device":
			return value
		case "ip":
			address = value
		case "port":
			port = value
		}
	}
	if address == "" {
		return ""
	}
	return address + ":" + port
}

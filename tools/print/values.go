package print

import (
	"encoding/hex"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"player/client"
	"player/codec"
	"player/tools"
)

// printer makes a line of the newest data of a client.
type printer struct {
	client  *client.Client
	devices []device
	aged    bool // the server sends ages
}

// device is one device, and its newest data.
type device struct {
	tools.Device
	data decoded // nil for an unknown interface
}

func newPrinter(c *client.Client, chosen []tools.Device) *printer {
	p := &printer{client: c}
	for _, d := range chosen {
		p.devices = append(p.devices, device{d, dataOf(d.Spec.Letter)})
	}
	return p
}

// decoded is data of package codec.
type decoded interface{ Decode(payload []byte) error }

// dataOf returns a variable for the data of an interface, nil if the interface is unknown.
func dataOf(letter byte) decoded {
	switch letter {
	case codec.Position:
		return new(codec.PositionData)
	case codec.Sonar:
		return new(codec.SonarData)
	case codec.Laser:
		return new(codec.LaserData)
	case codec.Misc:
		return new(codec.MiscData)
	case codec.Gripper:
		return new(codec.GripperData)
	case codec.PTZ:
		return new(codec.PTZData)
	case codec.Vision:
		return new(codec.VisionData)
	case codec.Joystick:
		return new(codec.JoystickData)
	case codec.Ranger:
		return new(codec.RangerData)
	case codec.IMU:
		return new(codec.IMUData)
	case codec.GPS:
		return new(codec.GPSData)
	case codec.IO:
		return new(codec.IOData)
	case codec.Servo:
		return new(codec.ServoData)
	case codec.Goto:
		return new(codec.GotoData)
	}
	return nil
}

// value is one value of a device. Its name in JSON has the unit appended, as in
// the tables of logs.
type value struct {
	name, unit string // "x", "mm"
	number     int
	list       []int  // instead of number, if it is not nil
	json       string // instead of both: JSON that text shows as it is
}

func numbers[T uint8 | uint16 | int16](in ...T) []int {
	out := make([]int, len(in))
	for i, v := range in {
		out[i] = int(v)
	}
	return out
}

// bits returns the n lowest bits, lowest first.
func bits(b uint8, n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = int(b >> i & 1)
	}
	return out
}

// values returns the newest data of a device. Data that cannot be decoded is a payload of its own.
func (p *printer) values(d device) []value {
	payload := p.client.Raw(d.Code)
	if d.data == nil || d.data.Decode(payload) != nil {
		return []value{{name: "payload", json: strconv.Quote(hex.EncodeToString(payload))}}
	}
	switch data := d.data.(type) {
	case *codec.PositionData:
		return []value{
			{name: "x", unit: "mm", number: int(data.X)}, {name: "y", unit: "mm", number: int(data.Y)},
			{name: "heading", unit: "deg", number: int(data.Heading)},
			{name: "speed", unit: "mm/s", number: int(data.Speed)}, {name: "turn_rate", unit: "deg/s", number: int(data.TurnRate)},
			{name: "compass", unit: "deg", number: int(data.Compass)}, {name: "stall", number: int(data.Stall)},
		}
	case *codec.SonarData:
		return []value{{name: "ranges", unit: "mm", list: numbers(data[:]...)}}
	case *codec.LaserData:
		return []value{{name: "ranges", unit: "mm", list: numbers(data[:]...)}}
	case *codec.MiscData:
		return []value{
			{name: "front_bumpers", list: bits(data.FrontBumpers, 5)}, {name: "rear_bumpers", list: bits(data.RearBumpers, 5)},
			{name: "battery", unit: "decivolt", number: int(data.Battery)},
		}
	case *codec.GripperData:
		return []value{{name: "state", list: bits(data.State, 8)}, {name: "beams", list: bits(data.Beams, 6)}}
	case *codec.PTZData:
		return []value{
			{name: "pan", unit: "deg", number: int(data.Pan)}, {name: "tilt", unit: "deg", number: int(data.Tilt)},
			{name: "zoom", number: int(data.Zoom)},
		}
	case *codec.VisionData:
		return []value{{name: "blobs", json: blobs(data)}}
	case *codec.JoystickData:
		return []value{{name: "buttons", number: int(data.Buttons)}, {name: "axes", list: numbers(data.Axes[:]...)}}
	case *codec.RangerData:
		return []value{{name: "ranges", unit: "mm", list: rangesOf(data)}}
	case *codec.IMUData:
		return []value{
			measured("roll", "mdeg", data.Roll), measured("pitch", "mdeg", data.Pitch), measured("yaw", "mdeg", data.Yaw),
			measured("roll_rate", "mdeg/s", data.RollRate), measured("pitch_rate", "mdeg/s", data.PitchRate), measured("yaw_rate", "mdeg/s", data.YawRate),
			measured("x", "mm/s2", data.X), measured("y", "mm/s2", data.Y), measured("z", "mm/s2", data.Z),
		}
	case *codec.GPSData:
		return place(data)
	case *codec.IOData:
		return []value{{name: "values", list: known(data.Values)}}
	case *codec.ServoData:
		var positions, goals []int32
		states := []int{}
		for _, j := range data.Joints {
			positions, goals, states = append(positions, j.Position), append(goals, j.Goal), append(states, int(j.State))
		}
		return []value{{name: "positions", list: known(positions)}, {name: "goals", list: known(goals)}, {name: "states", list: states}}
	case *codec.GotoData:
		heading := int(data.Heading)
		if data.Heading == codec.AnyHeading {
			heading = unknown
		}
		return []value{
			{name: "state", number: int(data.State)}, {name: "reason", number: int(data.Reason)}, {name: "tag", number: int(data.Tag)},
			measured("x", "mm", data.X), measured("y", "mm", data.Y), {name: "heading", unit: "deg", number: heading},
			amount("distance", "mm", data.Distance),
		}
	}
	return nil
}

// unknown is a number that the hardware does not measure: null in JSON.
const unknown = math.MinInt

// measured returns a value of 32 bits, which may be codec.Unknown.
func measured(name, unit string, v int32) value {
	return value{name: name, unit: unit, number: known([]int32{v})[0]}
}

// amount returns a value of 32 bits without a sign, which may be codec.UnknownAmount.
func amount(name, unit string, v uint32) value {
	n := int(v)
	if v == codec.UnknownAmount {
		n = unknown
	}
	return value{name: name, unit: unit, number: n}
}

// degrees returns an angle of 1e-7 deg, which may be codec.Unknown.
func degrees(name string, v int32) value {
	if v == codec.Unknown {
		return measured(name, "deg", v)
	}
	return value{name: name, unit: "deg", json: fmt.Sprintf("%.7f", float64(v)/1e7)}
}

// known returns numbers that may be codec.Unknown.
func known(in []int32) []int {
	out := make([]int, len(in))
	for i, v := range in {
		if out[i] = int(v); v == codec.Unknown {
			out[i] = unknown
		}
	}
	return out
}

// rangesOf returns the distances of a ranger in mm, unknown where there is none.
func rangesOf(d *codec.RangerData) []int {
	out := make([]int, len(d.Ranges))
	for i := range out {
		mm, ok := d.MM(i)
		if out[i] = mm; !ok {
			out[i] = unknown
		}
	}
	return out
}

// place returns the values of a GPS receiver.
func place(d *codec.GPSData) []value {
	fix, satellites, at := int(d.Fix), int(d.Satellites), int(d.Time)
	if d.Fix == codec.UnknownFix {
		fix = unknown
	}
	if d.Satellites == codec.UnknownSatellites {
		satellites = unknown
	}
	if d.Time == 0 {
		at = unknown
	}
	return []value{
		{name: "fix", number: fix}, {name: "satellites", number: satellites},
		degrees("latitude", d.Latitude), degrees("longitude", d.Longitude), measured("height", "mm", d.Height),
		amount("horizontal", "mm", d.Horizontal), amount("vertical", "mm", d.Vertical), {name: "time", unit: "ms", number: at},
		amount("speed", "mm/s", d.Speed), amount("course", "mdeg", d.Course),
	}
}

// blobs returns the blobs of all channels as JSON.
func blobs(d *codec.VisionData) string {
	var blobs []string
	for channel := range codec.VisionChannels {
		for _, b := range d.Channel(channel) {
			blobs = append(blobs, fmt.Sprintf(`{"channel":%d,"area_px":%d,"x_px":%d,"y_px":%d,"left_px":%d,"right_px":%d,"top_px":%d,"bottom_px":%d}`,
				channel, b.Area, b.X, b.Y, b.Left, b.Right, b.Top, b.Bottom))
		}
	}
	return "[" + strings.Join(blobs, ",") + "]"
}

// json appends a JSON object.
func (p *printer) json(dst []byte) []byte {
	dst = append(dst, '{')
	if p.aged {
		dst = fmt.Appendf(dst, `"time_s":%.6f`, p.client.ServerTime().Seconds())
	}
	for _, d := range p.devices {
		if !p.client.Has(d.Code) {
			continue
		}
		dst = fmt.Appendf(separated(dst, '{', ","), `%q:{`, d.Name())
		if age, ok := p.client.Age(d.Code); ok {
			dst = fmt.Appendf(dst, `"age_ms":%.3f`, age.Seconds()*1000)
		}
		for _, v := range p.values(d) {
			dst = v.append(fmt.Appendf(separated(dst, '{', ","), "%q:", v.column()), "null", "[", ",", "]")
		}
		dst = append(dst, '}')
	}
	return append(dst, '}')
}

// separated appends a separator unless dst ends with the opening byte.
func separated(dst []byte, opening byte, separator string) []byte {
	if dst[len(dst)-1] == opening {
		return dst
	}
	return append(dst, separator...)
}

// text appends a line for a person.
func (p *printer) text(dst []byte) []byte {
	if p.aged {
		dst = fmt.Appendf(dst, "%10.3f s", p.client.ServerTime().Seconds())
	}
	for _, d := range p.devices {
		if len(dst) > 0 {
			dst = append(dst, " | "...)
		}
		dst = append(dst, d.Name()...)
		if !p.client.Has(d.Code) {
			dst = append(dst, " no data"...)
			continue
		}
		values := p.values(d)
		switch data := d.data.(type) {
		case *codec.LaserData:
			dst = scan(dst, data[:])
			continue
		case *codec.RangerData:
			dst = nearest(dst, rangesOf(data))
			continue
		case *codec.GotoData:
			if len(values) > 1 { // it could be decoded
				dst = goal(dst, data)
				continue
			}
		}
		for _, v := range values {
			dst = v.append(fmt.Appendf(dst, " %s ", v.name), "unknown", "", " ", "")
			if v.unit != "" {
				dst = append(append(dst, ' '), v.unit...)
			}
		}
	}
	return dst
}

// scan appends the nearest reading of the laser, and those to the right, ahead and
// to the left.
func scan(dst []byte, scan []uint16) []byte {
	last := len(scan) - 1
	nearest := slices.Index(scan, slices.Min(scan))
	return fmt.Appendf(dst, " nearest %d mm at %.1f deg, right %d ahead %d left %d mm",
		scan[nearest], 180*float64(nearest)/float64(last)-90, scan[0], scan[last/2], scan[last])
}

// goal appends the state of a goto device, and where its goal is.
func goal(dst []byte, d *codec.GotoData) []byte {
	dst = append(append(dst, ' '), d.State.String()...)
	if d.State == codec.GotoStopped {
		dst = fmt.Appendf(dst, " (%v)", d.Reason)
	}
	if d.X == codec.Unknown {
		return dst
	}
	if d.Distance != codec.UnknownAmount {
		dst = fmt.Appendf(dst, ", %d mm to", d.Distance)
	} else {
		dst = append(dst, ", to"...)
	}
	dst = fmt.Appendf(dst, " x %d y %d mm", d.X, d.Y)
	if d.Heading != codec.AnyHeading {
		dst = fmt.Appendf(dst, " heading %d deg", d.Heading)
	}
	return dst
}

// nearest appends the nearest reading of a ranger, its number, and how many there are.
func nearest(dst []byte, ranges []int) []byte {
	best := -1
	for i, mm := range ranges {
		if mm != unknown && (best < 0 || mm < ranges[best]) {
			best = i
		}
	}
	if best < 0 {
		return fmt.Appendf(dst, " sees nothing with %d readings", len(ranges))
	}
	return fmt.Appendf(dst, " nearest %d mm, reading %d of %d", ranges[best], best, len(ranges))
}

// append appends the value, or none if it is unknown; a list has a separator between its elements, and is between first
// and last.
func (v value) append(dst []byte, none, first, separator, last string) []byte {
	switch {
	case v.json != "":
		return append(dst, v.json...)
	case v.list == nil:
		return appendNumber(dst, v.number, none)
	}
	dst = append(dst, first...)
	for i, n := range v.list {
		if i > 0 {
			dst = append(dst, separator...)
		}
		dst = appendNumber(dst, n, none)
	}
	return append(dst, last...)
}

func appendNumber(dst []byte, n int, none string) []byte {
	if n == unknown {
		return append(dst, none...)
	}
	return strconv.AppendInt(dst, int64(n), 10)
}

// column returns the name with its unit: turn_rate_deg_per_s.
func (v value) column() string {
	if v.unit == "" {
		return v.name
	}
	return v.name + "_" + strings.ReplaceAll(v.unit, "/", "_per_")
}

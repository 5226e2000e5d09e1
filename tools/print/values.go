package print

import (
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"player/client"
	"player/codec"
	"player/tools"
)

// printer makes a line of the newest data of a client.
type printer struct {
	client   *client.Client
	letters  []byte
	aged     bool // the server sends ages
	joystick codec.JoystickData
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

// values returns the newest data of a device.
func (p *printer) values(letter byte) []value {
	switch c := p.client; letter {
	case codec.Position:
		d := c.Position
		return []value{
			{name: "x", unit: "mm", number: int(d.X)}, {name: "y", unit: "mm", number: int(d.Y)},
			{name: "heading", unit: "deg", number: int(d.Heading)},
			{name: "speed", unit: "mm/s", number: int(d.Speed)}, {name: "turn_rate", unit: "deg/s", number: int(d.TurnRate)},
			{name: "compass", unit: "deg", number: int(d.Compass)}, {name: "stall", number: int(d.Stall)},
		}
	case codec.Sonar:
		return []value{{name: "ranges", unit: "mm", list: numbers(c.Sonar[:]...)}}
	case codec.Laser:
		return []value{{name: "ranges", unit: "mm", list: numbers(c.Laser[:]...)}}
	case codec.Misc:
		return []value{
			{name: "front_bumpers", list: bits(c.Misc.FrontBumpers, 5)}, {name: "rear_bumpers", list: bits(c.Misc.RearBumpers, 5)},
			{name: "battery", unit: "decivolt", number: int(c.Misc.Battery)},
		}
	case codec.Gripper:
		return []value{{name: "state", list: bits(c.Gripper.State, 8)}, {name: "beams", list: bits(c.Gripper.Beams, 6)}}
	case codec.PTZ:
		return []value{
			{name: "pan", unit: "deg", number: int(c.PTZ.Pan)}, {name: "tilt", unit: "deg", number: int(c.PTZ.Tilt)},
			{name: "zoom", number: int(c.PTZ.Zoom)},
		}
	case codec.Vision:
		return []value{{name: "blobs", json: p.blobs()}}
	case codec.Joystick:
		if p.joystick.Decode(c.Raw(letter)) == nil {
			return []value{{name: "buttons", number: int(p.joystick.Buttons)}, {name: "axes", list: numbers(p.joystick.Axes[:]...)}}
		}
	}
	return []value{{name: "payload", json: strconv.Quote(hex.EncodeToString(p.client.Raw(letter)))}}
}

// blobs returns the blobs of all channels as JSON.
func (p *printer) blobs() string {
	var blobs []string
	for channel := range codec.VisionChannels {
		for _, b := range p.client.Vision.Channel(channel) {
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
	for _, letter := range p.letters {
		if !p.client.Has(letter) {
			continue
		}
		dst = fmt.Appendf(separated(dst, '{', ","), `%q:{`, tools.InterfaceName(letter))
		if age, ok := p.client.Age(letter); ok {
			dst = fmt.Appendf(dst, `"age_ms":%.3f`, age.Seconds()*1000)
		}
		for _, v := range p.values(letter) {
			dst = v.append(fmt.Appendf(separated(dst, '{', ","), "%q:", v.column()), "[", ",", "]")
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
	for _, letter := range p.letters {
		if len(dst) > 0 {
			dst = append(dst, " | "...)
		}
		dst = append(dst, tools.InterfaceName(letter)...)
		if !p.client.Has(letter) {
			dst = append(dst, " no data"...)
			continue
		}
		if letter == codec.Laser {
			dst = p.scan(dst)
			continue
		}
		for _, v := range p.values(letter) {
			dst = v.append(fmt.Appendf(dst, " %s ", v.name), "", " ", "")
			if v.unit != "" {
				dst = append(append(dst, ' '), v.unit...)
			}
		}
	}
	return dst
}

// scan appends the nearest reading of the laser, and those to the right, ahead and
// to the left.
func (p *printer) scan(dst []byte) []byte {
	scan := p.client.Laser[:]
	last := len(scan) - 1
	nearest := slices.Index(scan, slices.Min(scan))
	return fmt.Appendf(dst, " nearest %d mm at %.1f deg, right %d ahead %d left %d mm",
		scan[nearest], 180*float64(nearest)/float64(last)-90, scan[0], scan[last/2], scan[last])
}

// append appends the value; a list has a separator between its elements, and is between first and last.
func (v value) append(dst []byte, first, separator, last string) []byte {
	switch {
	case v.json != "":
		return append(dst, v.json...)
	case v.list == nil:
		return strconv.AppendInt(dst, int64(v.number), 10)
	}
	dst = append(dst, first...)
	for i, n := range v.list {
		if i > 0 {
			dst = append(dst, separator...)
		}
		dst = strconv.AppendInt(dst, int64(n), 10)
	}
	return append(dst, last...)
}

// column returns the name with its unit: turn_rate_deg_per_s.
func (v value) column() string {
	if v.unit == "" {
		return v.name
	}
	return v.name + "_" + strings.ReplaceAll(v.unit, "/", "_per_")
}

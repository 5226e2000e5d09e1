package ros

import (
	"math"
	"strconv"

	"player/codec"
	"player/formats/telemetry"
)

// ultrasound and infrared are values of Range.RadiationType. A beam without a cone is taken to be infrared.
const ultrasound, infrared = 0, 1

// ranger sends the readings of a ranger: a scan, a range for each beam, or points. Their topics differ, since a topic
// has one type. Without a form there is no message.
func (c *Converter) ranger(topic string, at telemetry.Time, r *telemetry.Ranger) {
	most := float32(codec.MaxReading) * float32(r.Data.Unit) / 1000
	far := func(rays codec.Rays) float32 {
		if rays.Far > 0 {
			return float32(rays.Far / 1000)
		}
		return most
	}
	switch r.Form {
	case telemetry.ScanForm:
		start, step, ordered := telemetry.Sweep(r.Rays[0], r.Data.Ranges)
		ranges := make([]float32, len(ordered))
		for i, reading := range ordered {
			ranges[i] = rangerRange(reading, r.Data.Unit)
		}
		c.send(c.rename(topic, "ranger/scan"), LaserScan{Header: header(at, r.FrameID), AngleMin: float32(start),
			AngleMax: float32(start + step*float64(len(ranges)-1)), AngleIncrement: float32(step),
			RangeMin: float32(r.Rays[0].Near / 1000), RangeMax: far(r.Rays[0]), Ranges: ranges})
	case telemetry.BeamsForm:
		for _, beam := range r.Rays {
			radiation := uint8(infrared)
			if beam.Cone > 0 {
				radiation = ultrasound
			}
			c.send(c.numbered(topic, "ranger/range_#", beam.First), Range{header(at, r.FrameID+"_"+strconv.Itoa(beam.First)), radiation,
				float32(beam.Cone * math.Pi / 180), float32(beam.Near / 1000), far(beam), rangerRange(r.Data.Ranges[beam.First], r.Data.Unit), 0})
		}
	case telemetry.CloudForm:
		const stride = 12 // of three float32
		cloud := PointCloud2{Header: header(at, c.frameOf("base_link", "")), Height: 1, PointStep: stride, IsDense: true}
		for i, name := range []string{"x", "y", "z"} {
			cloud.Fields = append(cloud.Fields, PointField{name, uint32(i * 4), 7, 1})
		}
		telemetry.Points(r.Rays, r.Data, func(x, y float64) { cloud.Data = telemetry.AppendPoint(cloud.Data, x, y) })
		cloud.RowStep = uint32(len(cloud.Data))
		cloud.Width = cloud.RowStep / stride
		c.send(c.rename(topic, "ranger/points"), cloud)
	}
}

// rangerRange returns a reading of a ranger as REP 117 has it: infinite if nothing is in range, NaN if it was not taken.
func rangerRange(reading, unit uint16) float32 {
	switch reading {
	case codec.NothingInRange:
		return float32(math.Inf(1))
	case codec.UnknownRange:
		return float32(math.NaN())
	}
	return float32(float64(reading) * float64(unit) / 1000)
}

// per returns how many of a unit of PROTOCOL 8.9.7 are one radian, metre, volt, ampere or second. Values in other units
// stay as they are.
func per(unit string) float64 {
	switch unit {
	case "mdeg":
		return 180e3 / math.Pi
	case "deg":
		return 180 / math.Pi
	case "um":
		return 1e6
	case "mm", "mV", "mA", "ms":
		return 1e3
	}
	return 1
}

// group returns the message of an io device. Its group has the name of the device in topics: "io", "io_1".
func (c *Converter) group(topic string, at telemetry.Time, names []string, values []float64) DynamicInterfaceGroupValues {
	index, _ := strconv.Atoi(indexOf(topic)) // 0 if it has none
	return DynamicInterfaceGroupValues{header(at, ""), []string{TopicOf("io", index, 0)}, []InterfaceValue{{names, values}}}
}

// jointState returns the message of a servo device: positions only, because it reports no speeds.
func jointState(m telemetry.Joints) JointState {
	out := JointState{Header: header(m.Timestamp, "")}
	for _, j := range m.Joints {
		position := j.Position / per(j.Unit)
		if !j.Known {
			position = math.NaN()
		}
		out.Name, out.Position = append(out.Name, j.Name), append(out.Position, position)
	}
	return out
}

// jointGoals returns a command to joints: goals as positions, NaN to stop.
func jointGoals(m telemetry.JointCommand) JointState {
	out := JointState{Header: header(m.Timestamp, ""), Name: m.Names}
	for i, unit := range m.Units {
		goal := math.NaN()
		if len(m.Goals) > i {
			goal = m.Goals[i] / per(unit)
		}
		out.Position = append(out.Position, goal)
		if m.Speed > 0 {
			out.Velocity = append(out.Velocity, m.Speed/per(unit))
		}
	}
	return out
}

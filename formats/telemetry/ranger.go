package telemetry

import (
	"encoding/binary"
	"math"
	"slices"
	"strconv"

	"player/codec"
)

// Form is the form in which the readings of a ranger are shown.
type Form uint8

const (
	NoForm    Form = iota // it is not known where they look
	ScanForm              // a scan: from one point, in equal steps
	BeamsForm             // single beams, for example sonars: each has a frame
	CloudForm             // points in the frame of the robot
)

// maxBeams is how many readings of a ranger are single beams. Each has a frame, and in ROS a topic; more are points.
const maxBeams = 64

// FormOf returns the form of readings that look along rays. There is no form if there are fewer readings than the
// rays describe: the description is of other data.
func FormOf(rays []codec.Rays, readings int) Form {
	single := len(rays) <= maxBeams
	for _, r := range rays {
		if r.First+r.Count > readings {
			return NoForm
		}
		single = single && r.Count == 1
	}
	switch {
	case len(rays) == 0:
		return NoForm
	case single:
		return BeamsForm
	case len(rays) == 1 && rays[0].Step != 0:
		return ScanForm
	}
	return CloudForm
}

// mayHave reports whether a ranger may have messages on its topic with a suffix. If it is not known where its readings look,
// all may have some.
func (p part) mayHave(suffix string) bool {
	forms := map[string]Form{"": ScanForm, "/cones": BeamsForm, "/points": CloudForm}
	form := FormOf(p.Rays, codec.MaxReadings)
	return suffix == "/ranges" || form == NoForm || form == forms[suffix]
}

// Sweep returns the readings of a scan counterclockwise, the angle of the first one and the step in radians, in a frame
// whose x axis points along the middle of the scan.
func Sweep(r codec.Rays, ranges []uint16) (start, step float64, ordered []uint16) {
	ordered = slices.Clone(ranges[r.First : r.First+r.Count])
	if r.Step < 0 {
		slices.Reverse(ordered)
	}
	step = rad(math.Abs(r.Step))
	return -step * float64(r.Count-1) / 2, step, ordered
}

// Points calls fn with each point that a ranger has seen, in metres in the frame of the robot.
func Points(rays []codec.Rays, d *codec.RangerData, fn func(x, y float64)) {
	for _, r := range rays {
		for i := range r.Count {
			if mm, ok := d.MM(r.First + i); ok {
				p := place{r.X / 1000, r.Y / 1000, r.Heading + r.Step*float64(i)}.ahead(float64(mm) / 1000)
				fn(p.x, p.y)
			}
		}
	}
}

// ranger sends the readings in metres, and their form.
func (c *Converter) ranger(p part, at Time, payload []byte) {
	d := &c.readings
	if d.Decode(payload) != nil {
		return
	}
	form := FormOf(p.Rays, len(d.Ranges))
	c.send(p.topic+"/ranges", Ranges{at, rangerMetres(d, d.Ranges), &Ranger{p.frame, form, p.Rays, d}})
	switch form {
	case ScanForm:
		start, step, ordered := Sweep(p.Rays[0], d.Ranges)
		c.send(p.topic, LaserScan{Timestamp: at, FrameID: p.frame, Pose: place{}.pose(), StartAngle: start,
			EndAngle: start + step*float64(len(ordered)-1), Ranges: rangerMetres(d, ordered), Intensities: []float64{}})
	case BeamsForm:
		c.cones(p, at, d)
	case CloudForm:
		cloud := PointCloud{Timestamp: at, FrameID: c.frame + baseLink, Pose: place{}.pose(), PointStride: 3 * floatSize, Data: []byte{}}
		for i, name := range []string{"x", "y", "z"} {
			cloud.Fields = append(cloud.Fields, Field{name, uint32(i * floatSize), float32Field})
		}
		Points(p.Rays, d, func(x, y float64) { cloud.Data = AppendPoint(cloud.Data, x, y) })
		c.send(p.topic+"/points", cloud)
	}
}

const (
	// floatSize is the size of a float32 in bytes, and float32Field its Field.Type.
	floatSize    = 4
	float32Field = 7
)

// AppendPoint appends x, y and a height of zero as float32, little-endian.
func AppendPoint(dst []byte, x, y float64) []byte {
	for _, v := range [...]float64{x, y, 0} {
		dst = binary.LittleEndian.AppendUint32(dst, math.Float32bits(float32(v)))
	}
	return dst
}

// rangerMetres converts readings of a ranger. Those without a distance are 0: JSON has no infinite numbers.
func rangerMetres(d *codec.RangerData, ranges []uint16) []float64 {
	list := make([]float64, len(ranges))
	for i, r := range ranges {
		if r <= codec.MaxReading {
			list[i] = float64(r) * float64(d.Unit) / 1000
		}
	}
	return list
}

// cones draws single beams.
func (c *Converter) cones(p part, at Time, d *codec.RangerData) {
	scene := newEntity(at, c.frame+baseLink, p.topic)
	for _, r := range p.Rays {
		if mm, ok := d.MM(r.First); ok {
			scene.Cylinders = append(scene.Cylinders, newCone(middle(r), float64(mm)/1000, max(r.Cone, thinnest), Color{0.2, 0.5, 1, 0.3}))
		}
	}
	c.send(p.topic+"/cones", SceneUpdate{[]Unused{}, []SceneEntity{scene}})
}

// thinnest is how wide a beam is drawn at least, in degrees: a line would not be seen.
const thinnest = 1.0

// sendRangerFrames sends the frames of a ranger: of its scan, or of each beam.
func (c *Converter) sendRangerFrames(at Time, p part) {
	switch FormOf(p.Rays, codec.MaxReadings) {
	case ScanForm:
		mount := middle(p.Rays[0])
		c.sendFrame(at, baseLink, p.frame, mount.vector(), mount.rotation(), false)
	case BeamsForm:
		for _, r := range p.Rays {
			mount := middle(r)
			c.sendFrame(at, baseLink, p.frame+"_"+strconv.Itoa(r.First), mount.vector(), mount.rotation(), false)
		}
	}
}

package p2os

import (
	"math"
	"slices"
	"time"

	"player/codec"
	"player/codec/pioneer"
)

// placed is a sonar of a robot: its number, and where it is.
type placed struct {
	number int8
	pioneer.Mount
}

// Sonars besides those at Player's 16 places, of the parameter files of ARIA: the upper rings of a PeopleBot, and what
// is between the sonars of a PowerBot that have a place.
var (
	upperRings = pioneer.Mirrored([8][3]float64{
		{-20, 136, 90}, {24, 119, 50}, {58, 78, 30}, {77, 27, 10},
		{-191, -136, -90}, {-237, -119, -130}, {-271, -78, -150}, {-290, -27, -170},
	})
	powerBetween = [...]placed{
		{1, pioneer.Mount{X: 200, Y: 267, Heading: 65}}, {3, pioneer.Mount{X: 274, Y: 200, Heading: 35}},
		{5, pioneer.Mount{X: 320, Y: 96, Heading: 15}}, {9, pioneer.Mount{X: 320, Y: -96, Heading: -15}},
		{11, pioneer.Mount{X: 274, Y: -200, Heading: -35}}, {13, pioneer.Mount{X: 200, Y: -267, Heading: -65}},
		{17, pioneer.Mount{X: -347, Y: -267, Heading: -115}}, {19, pioneer.Mount{X: -420, Y: -200, Heading: -145}},
		{21, pioneer.Mount{X: -467, Y: -96, Heading: -165}}, {25, pioneer.Mount{X: -467, Y: 96, Heading: 165}},
		{27, pioneer.Mount{X: -420, Y: 200, Heading: 145}}, {29, pioneer.Mount{X: -347, Y: 267, Heading: 115}},
	}
)

// ring returns all sonars of a robot of a subclass, in the order of its numbers. With the owner's own sonars it returns
// those at Player's places.
func (m *Model) ring(subclass string, own bool) (all []placed) {
	for place, number := range m.Sonars {
		if number != noSonar {
			all = append(all, placed{number, m.Body.Sonars[place]})
		}
	}
	row := func(first int8, mounts []pioneer.Mount) {
		for i, mount := range mounts {
			all = append(all, placed{first + int8(i), mount})
		}
	}
	front, rear := upperRings[:codec.SonarCount/2], upperRings[codec.SonarCount/2:]
	switch {
	case own:
	case subclass == "p2pb", subclass == "p2pp":
		row(8, front)
	case subclass == "perfpb", subclass == "perfpb+":
		row(8, front)
		row(24, rear)
	case subclass == "peoplebot-sh":
		row(16, front)
		row(24, rear)
	case subclass == "powerbot", subclass == "powerbot-sh":
		all = append(all, powerBetween[:]...)
	}
	slices.SortFunc(all, func(a, b placed) int { return int(a.number) - int(b.number) })
	return all
}

// reading returns the latest range of a sonar in mm, as a reading of a ranger. A robot that has no echo says 5 m, and
// one that has not fired 0.
func (m *Model) reading(s *SIP, number int8) uint16 {
	switch mm := math.Round(float64(s.Sonar[number]) * m.Range); {
	case mm == 0:
		return codec.UnknownRange
	case mm >= sonarRange:
		return codec.NothingInRange
	default:
		return uint16(mm)
	}
}

// publishRing publishes all sonars.
func (d *Driver) publishRing(now time.Duration) {
	if !d.Link().Subscribed(d.ranger) {
		return
	}
	d.rangerData.Unit, d.rangerData.Ranges = 1, d.rangerData.Ranges[:0]
	for i := range d.sonars {
		d.rangerData.Ranges = append(d.rangerData.Ranges, d.model.reading(&d.sip, d.sonars[i].number))
	}
	d.out = d.rangerData.Append(d.out[:0])
	d.ranger.Publish(now, d.out)
}

package p2os

import (
	"math"
	"time"

	"player/codec"
	"player/codec/pioneer"
)

// placed is a sonar of a robot: its number, and where it is.
type placed struct {
	number int8
	pioneer.Mount
}

// besides is a sonar that has none of Player's 16 places: its number, counted from the first one of its row, and
// its place in mm and degrees.
type besides struct {
	number        int8
	x, y, heading int16
}

// The sonars that have none of Player's places, by the parameter files of ARIA: the upper rings of a PeopleBot, and
// every second sonar of a PowerBot.
var (
	upperFront = [...]besides{
		{0, -20, 136, 90}, {1, 24, 119, 50}, {2, 58, 78, 30}, {3, 77, 27, 10},
		{4, 77, -27, -10}, {5, 58, -78, -30}, {6, 24, -119, -50}, {7, -20, -136, -90},
	}
	upperRear = [...]besides{
		{0, -191, -136, -90}, {1, -237, -119, -130}, {2, -271, -78, -150}, {3, -290, -27, -170},
		{4, -290, 27, 170}, {5, -271, 78, 150}, {6, -237, 119, 130}, {7, -191, 136, 90},
	}
	powerBetween = [...]besides{
		{1, 200, 267, 65}, {3, 274, 200, 35}, {5, 320, 96, 15},
		{9, 320, -96, -15}, {11, 274, -200, -35}, {13, 200, -267, -65},
		{17, -347, -267, -115}, {19, -420, -200, -145}, {21, -467, -96, -165},
		{25, -467, 96, 165}, {27, -420, 200, 145}, {29, -347, 267, 115},
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
	front, rear := int8(noSonar), int8(24) // numbers of the first sonars of the upper rings
	switch {
	case own:
	case subclass == "p2pb", subclass == "p2pp":
		front, rear = 8, noSonar
	case subclass == "perfpb", subclass == "perfpb+":
		front = 8
	case subclass == "peoplebot-sh":
		front = 16
	case m.Sonars == powerBot:
		all = appendRow(all, 0, powerBetween[:])
	}
	if front != noSonar {
		all = appendRow(all, front, upperFront[:])
		if rear != noSonar {
			all = appendRow(all, rear, upperRear[:])
		}
	}
	for i := range all { // few, and mostly in order: not worth the code of package slices
		for ; i > 0 && all[i].number < all[i-1].number; i-- {
			all[i], all[i-1] = all[i-1], all[i]
		}
	}
	return all
}

// appendRow appends sonars with their numbers.
func appendRow(all []placed, first int8, row []besides) []placed {
	for _, s := range row {
		mount := pioneer.Mount{X: float64(s.x), Y: float64(s.y), Heading: float64(s.heading)}
		all = append(all, placed{first + s.number, mount})
	}
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

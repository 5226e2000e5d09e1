package urg

import (
	"time"

	"player/devices"
	"player/devices/transport"
)

// probe asks the sensor to describe itself. A sensor that is already scanning is recognised
// by its data, and continues.
func probe() *devices.Probe {
	return &devices.Probe{
		Speeds:    speeds,
		Ask:       []byte(scip2 + "\n" + parameters + "\n"),
		Wait:      200 * time.Millisecond,
		Recognise: recognise,
	}
}

func recognise(heard []byte) (found devices.Answer) {
	var l transport.Lines
	var a Answer
	var p Parameters
	for line, rest, ok := l.Next(heard); ok; line, rest, ok = l.Next(rest) {
		if !a.Describe(&p, line) || a.broken {
			continue
		}
		if a.isScan() || a.answers(parameters) && p.Check() == nil {
			found = devices.Answer{Found: true, Model: p.Model}
		}
	}
	return found
}

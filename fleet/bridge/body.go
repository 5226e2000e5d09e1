package bridge

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"player/codec"
	"player/devices"
)

const (
	// releaseText is the body of the request that gives a lease up, if it is not JSON.
	releaseText = "release"
	// maxJSON is the longest body that is read as JSON, in bytes. No request needs a tenth
	// of it, and every program that may publish can send a megabyte.
	maxJSON = 4 << 10
)

// Body is the body of a command, a configuration, or a request for a lease or a rate. It is
// JSON if it begins with a brace: every other body that means something begins otherwise.
type Body struct {
	// Token is of a lease; empty: the body has none.
	Token string
	// Answer is the last token of the subject on which the answer is published, for
	// programs that cannot send requests (AnswerSubject); empty: there is none.
	Answer string

	plain  []byte
	fields map[string]json.RawMessage // nil: the body is not JSON
}

// ReadBody reads a body. With an error, Answer is valid.
func ReadBody(data []byte) (b Body, err error) {
	if len(data) == 0 || data[0] != '{' {
		return Body{plain: data}, nil
	}
	if len(data) > maxJSON {
		return b, fmt.Errorf("a body as JSON has %d bytes, at most %d", len(data), maxJSON)
	}
	if err := json.Unmarshal(data, &b.fields); err != nil {
		return b, fmt.Errorf("the body begins with { and is not JSON: %w", err)
	}
	if _, given := b.fields["answer"]; given {
		name := ""
		if err := cmp.Or(b.take("answer", &name), CheckName(name)); err != nil {
			return b, fmt.Errorf("answer: %w", err)
		}
		b.Answer = name
	}
	return b, b.take("token", &b.Token)
}

// take reads a field, if it is there, into a pointer to a string or a bool.
func (b *Body) take(name string, into any) error {
	raw, ok := b.fields[name]
	if !ok {
		return nil
	}
	delete(b.fields, name)
	if bytes.Equal(raw, []byte("null")) {
		return fmt.Errorf("%s is null", name)
	}
	if err := json.Unmarshal(raw, into); err != nil {
		kind := "a text"
		if _, ok := into.(*bool); ok {
			kind = "true or false"
		}
		return fmt.Errorf("%s is not %s", name, kind)
	}
	return nil
}

// number reads a field that must be there, rounded.
func (b *Body) number(name string, low, high int64) (int64, error) {
	raw, ok := b.fields[name]
	if !ok {
		return 0, fmt.Errorf("%s is missing", name)
	}
	delete(b.fields, name)
	var v *float64
	if err := json.Unmarshal(raw, &v); err != nil || v == nil {
		return 0, fmt.Errorf("%s is not a number", name)
	}
	if *v >= float64(low) && *v <= float64(high) {
		return int64(math.Round(*v)), nil
	}
	return 0, fmt.Errorf("%s is %g, and must be %d to %d", name, *v, low, high)
}

// rest returns an error if there are fields that have not been read. known are all that are valid.
func (b *Body) rest(known string) error {
	if len(b.fields) == 0 {
		return nil
	}
	names := slices.Sorted(maps.Keys(b.fields))
	return fmt.Errorf("there is no field %.40q; there are %s", names[0], known)
}

// grips are the names of gripper commands (PROTOCOL 5.1).
var grips = map[string]uint8{
	"open": codec.GripOpen, "close": codec.GripClose, "stop": codec.GripStop,
	"up": codec.LiftRaise, "down": codec.LiftLower, "lift_stop": codec.LiftStop,
	"store": codec.GripStore, "deploy": codec.GripDeploy, "halt": codec.GripHalt,
	"press": codec.GripPress, "carry": codec.LiftCarry,
}

// Command returns the payload of a command to a device (PROTOCOL 5).
func (b Body) Command(spec devices.Spec) ([]byte, error) {
	if b.fields == nil {
		if len(b.plain) != spec.CommandSize {
			return nil, fmt.Errorf("a command of %s has %d bytes, or is JSON; this one has %d bytes", spec.Name, spec.CommandSize, len(b.plain))
		}
		return b.plain, nil
	}
	b.fields = maps.Clone(b.fields)
	whole := func(name string) (int16, error) {
		v, err := b.number(name, math.MinInt16, math.MaxInt16)
		return int16(v), err
	}
	switch spec.Letter {
	case codec.Position:
		speed, e1 := whole("speed")
		turn, e2 := whole("turn")
		return codec.PositionCommand{Speed: speed, TurnRate: turn}.Append(nil), cmp.Or(e1, e2, b.rest("speed, turn, token, answer"))
	case codec.PTZ:
		pan, e1 := whole("pan")
		tilt, e2 := whole("tilt")
		zoom, e3 := whole("zoom")
		c := codec.PTZCommand{Pan: pan, Tilt: tilt, Zoom: zoom}
		return c.Append(nil), cmp.Or(e1, e2, e3, b.rest("pan, tilt, zoom, token, answer"))
	case codec.Gripper:
		var name string
		if err := b.take("command", &name); err != nil {
			return nil, err
		}
		code, ok := grips[name]
		if !ok {
			return nil, fmt.Errorf("command is %.40q, and must be one of %s", name, strings.Join(slices.Sorted(maps.Keys(grips)), ", "))
		}
		argument := int64(0)
		if _, given := b.fields["argument"]; given {
			var err error
			if argument, err = b.number("argument", 0, math.MaxUint8); err != nil {
				return nil, err
			}
		}
		return codec.GripperCommand{Code: code, Arg: uint8(argument)}.Append(nil), b.rest("command, argument, token, answer")
	case codec.IO:
		channel, e1 := b.number("channel", 0, codec.MaxChannels-1)
		value, e2 := b.number("value", math.MinInt32+1, math.MaxInt32)
		return codec.IOCommand{Channel: uint8(channel), Value: int32(value)}.Append(nil), cmp.Or(e1, e2, b.rest("channel, value, token, answer"))
	case codec.Servo:
		c, err := b.servo()
		return c.Append(nil), cmp.Or(err, b.rest("joint, goal, speed, stop, token, answer"))
	}
	return nil, fmt.Errorf("%s takes no commands", spec.Name)
}

// servo reads the fields of a command to joints: "stop":true, or a goal, and whether it is of one joint and at which speed.
func (b *Body) servo() (c codec.ServoCommand, err error) {
	if _, given := b.fields["stop"]; given {
		stop := false
		if err := b.take("stop", &stop); err != nil {
			return c, err
		}
		if !stop {
			return c, errors.New("stop must be true")
		}
		return codec.StopServos(), nil
	}
	joint, speed := int64(codec.AllJoints), int64(0)
	if _, given := b.fields["joint"]; given {
		if joint, err = b.number("joint", 0, codec.MaxJoints-1); err != nil {
			return c, err
		}
	}
	if _, given := b.fields["speed"]; given {
		if speed, err = b.number("speed", 0, math.MaxUint32); err != nil {
			return c, err
		}
	}
	goal, err := b.number("goal", math.MinInt32+1, math.MaxInt32)
	return codec.ServoCommand{Joint: uint8(joint), Goal: int32(goal), Speed: uint32(speed)}, err
}

// Config returns the payload of a configuration of the robot (PROTOCOL 6).
func (b Body) Config() ([]byte, error) {
	if b.fields == nil {
		return b.plain, nil
	}
	const known = "motors, separate, reset_odometry, reset, step, of which a body has one, and answer"
	b.fields = maps.Clone(b.fields)
	switch {
	case b.Token != "":
		return nil, errors.New("a configuration needs no token")
	case len(b.fields) != 1:
		return nil, errors.New("there are " + known)
	}
	for _, c := range []struct {
		name, no, yes string // the payload if the field is false; empty: it must be true
	}{
		{"motors", "m\x00", "m\x01"},
		{"separate", "v\x00", "v\x01"},
		{"reset_odometry", "", "R"},
		{"reset", "", "R"},
		{"step", "", "s"},
	} {
		if _, given := b.fields[c.name]; !given {
			continue
		}
		var on bool
		if err := b.take(c.name, &on); err != nil {
			return nil, err
		}
		switch {
		case on:
			return []byte(c.yes), nil
		case c.no == "":
			return nil, fmt.Errorf("%s must be true", c.name)
		}
		return []byte(c.no), nil
	}
	return nil, b.rest(known)
}

// Rate returns the rate in Hz that is asked for.
func (b Body) Rate() (int, error) {
	if b.fields == nil {
		b.fields = map[string]json.RawMessage{"hz": b.plain}
	}
	if b.Token != "" {
		return 0, errors.New("a rate needs no token")
	}
	b.fields = maps.Clone(b.fields)
	hz, err := b.number("hz", 1, MaxRate)
	return int(hz), cmp.Or(err, b.rest("hz, answer"))
}

// Lease reads a request for a lease: it has the name of the holder, or gives the lease up.
func (b Body) Lease() (holder string, release bool, err error) {
	if b.fields == nil {
		if string(b.plain) == releaseText {
			return "", true, nil
		}
		return string(b.plain), false, nil
	}
	b.fields = maps.Clone(b.fields)
	err = cmp.Or(b.take("holder", &holder), b.take("release", &release), b.rest("holder, token, release, answer"))
	return holder, release, err
}

package p2os

import (
	"fmt"
	"math"
	"strconv"
	"time"
)

// A command is the effect of one command number while the robot is connected.
type command struct {
	name string
	arg  bool // no effect without its integer argument
	do   func(r *Robot, now time.Duration, a arg)
}

// commands by number. Commands without do only have a name: like unknown ones they are
// counted and have no effect, as on a microcontroller without that equipment.
var commands = map[byte]command{
	0:  {name: "PULSE"}, // resets the watchdog, as every packet does
	1:  {name: "OPEN", do: func(r *Robot, now time.Duration, _ arg) { r.open(now) }},
	2:  {name: "CLOSE", do: func(r *Robot, _ time.Duration, _ arg) { r.close() }},
	4:  {name: "ENABLE", arg: true, do: func(r *Robot, _ time.Duration, a arg) { r.enable(a.value != 0) }},
	5:  {name: "SETA", arg: true, do: func(r *Robot, _ time.Duration, a arg) { r.drive.limit(float64(a.value)) }},
	6:  {name: "SETV", arg: true, do: func(r *Robot, _ time.Duration, a arg) { r.drive.top = float64(a.value) }},
	7:  {name: "SETO", do: func(r *Robot, _ time.Duration, _ arg) { r.drive.odometry = Pose{} }},
	8:  {name: "MOVE", arg: true, do: move},
	9:  {name: "ROTATE", arg: true, do: turnRate}, // ARIA: a duplicate of RVEL
	10: {name: "SETRV", arg: true, do: func(r *Robot, _ time.Duration, a arg) { r.drive.topTurn = float64(a.value) }},
	11: {name: "VEL", arg: true, do: velocity},
	12: {name: "HEAD", arg: true, do: func(r *Robot, now time.Duration, a arg) {
		turnBy(r, math.Remainder(float64(a.value)-r.drive.odometry.Heading, 360))
	}},
	13: {name: "DHEAD", arg: true, do: func(r *Robot, _ time.Duration, a arg) { turnBy(r, float64(a.value)) }},
	15: {name: "SAY"},
	18: {name: "CONFIG"},
	19: {name: "ENCODER"},
	21: {name: "RVEL", arg: true, do: turnRate},
	23: {name: "SETRA"},
	28: {name: "SONAR", arg: true, do: func(r *Robot, _ time.Duration, a arg) { r.sonarOn = a.value != 0 }},
	29: {name: "STOP", do: func(r *Robot, _ time.Duration, _ arg) { r.drive.halt() }},
	30: {name: "DIGOUT", arg: true, do: func(r *Robot, _ time.Duration, a arg) {
		// The high byte selects the outputs (ARIA's demo, com2Bytes).
		r.digitalOut = r.digitalOut&^a.hi | a.lo&a.hi
	}},
	32: {name: "VEL2", arg: true, do: wheelSpeeds},
	33: {name: "GRIPPER", arg: true, do: func(r *Robot, _ time.Duration, a arg) { r.gripper.command(a.value) }},
	36: {name: "GRIPPERVAL", arg: true, do: func(r *Robot, _ time.Duration, a arg) { r.gripper.value(a.value) }},
	42: {name: "TTY2"},
	43: {name: "GETAUX"},
	44: {name: "BUMP_STALL"},
	47: {name: "JOYDRIVE"},
	50: {name: "HOSTBAUD"},
	55: {name: "E_STOP", do: func(r *Robot, _ time.Duration, _ arg) { r.drive.halt(); r.drive.left, r.drive.right = 0, 0 }},
	58: {name: "GYRO", arg: true, do: func(r *Robot, now time.Duration, a arg) { r.requestGyro(now, a.value != 0) }},
	66: {name: "TTY3"},
	67: {name: "GETAUX2"},
	82: {name: "ROTKP"},
	83: {name: "ROTKV"},
	84: {name: "ROTKI"},
	85: {name: "TRANSKP"},
	86: {name: "TRANSKV"},
	87: {name: "TRANSKI"},
	88: {name: "REVCOUNT", arg: true},
	89: {name: "DRIFTFACTOR", arg: true},
	90: {name: "SOUND"},
	93: {name: "TICKSMM", arg: true},
}

func commandName(number byte) string {
	if c, ok := commands[number]; ok {
		return c.name
	}
	return strconv.Itoa(int(number))
}

// velocity sets the forward speed, mm/s, and keeps the turn rate.
func velocity(r *Robot, _ time.Duration, a arg) {
	if r.motors {
		r.drive.way = goal{}
		_, rate := r.drive.wanted()
		r.drive.turn(float64(a.value), rate)
	}
}

// turnRate sets the turn rate, deg/s, left positive, and keeps the forward speed.
func turnRate(r *Robot, _ time.Duration, a arg) {
	if r.motors && !r.opts.NoRVEL {
		r.drive.heading = goal{}
		forward, _ := r.drive.wanted()
		r.drive.turn(forward, float64(a.value))
	}
}

// wheelSpeeds sets both wheels: the first byte is the right one, both signed,
// in steps of the model.
func wheelSpeeds(r *Robot, _ time.Duration, a arg) {
	if r.motors {
		r.drive.way, r.drive.heading = goal{}, goal{}
		r.drive.wantRight, r.drive.wantLeft = r.model.wheels*float64(int8(a.lo)), r.model.wheels*float64(int8(a.hi))
	}
}

// move drives straight on or back by so many mm.
func move(r *Robot, _ time.Duration, a arg) {
	if r.motors {
		r.drive.way = goal{on: true, left: float64(a.value)}
	}
}

// turnBy rotates the robot by so many degrees, left positive.
func turnBy(r *Robot, degrees float64) {
	if r.motors {
		r.drive.heading = goal{on: true, left: degrees}
	}
}

// object notes a message that a robot does not accept: it ignores it, or begins its handshake anew.
func (r *Robot) object(body []byte) {
	open := r.stage == stageOpen || r.stage == stageSynced && body[0] != 0
	c, known := commands[body[0]]
	switch {
	case !open && int(body[0]) > min(r.stage, 2):
		r.objected = append(r.objected, fmt.Sprintf("%d before SYNC%d", body[0], min(r.stage, 2)))
	case open && !known:
		r.objected = append(r.objected, fmt.Sprintf("there is no command %d", body[0]))
	case open && c.arg && !parseArg(body).given:
		r.objected = append(r.objected, c.name+" without its argument")
	}
}

package conformance

import (
	"math"
)

// arena is a room from (-3,-3) to (3,3). The first robot looks along its middle.
const arena = `include "pioneer.inc"
include "things.inc"
resolution 0.02
wall ( pose [ 0.0   3.05 0  0] size [6.2 0.1 1] )
wall ( pose [ 0.0  -3.05 0  0] size [6.2 0.1 1] )
wall ( pose [ 3.05  0.0  0 90] size [6.2 0.1 1] )
wall ( pose [-3.05  0.0  0 90] size [6.2 0.1 1] )
post ( name "post" color "red" pose [2 1 0 0] fiducial_return 7 )
puck ( name "puck" pose [1 -1.5 0 0] )
pioneer_full ( name "r0" pose [-2 0 0 0] fiducial ( range_max 8 fov 180 ) )
pioneer_full ( name "r1" pose [0 -1.5 0 0] )
position ( name "bare" pose [2.5 -2.5 0 0] size [0.2 0.2 0.2] )
`

// player3Program is a program for Player 2 or 3, and what it has to print.
type player3Program struct {
	clients     int  // in step
	stops       bool // the server ends when the program says end
	returns     bool // and begins again when it says lost
	robot       int  // that it is given
	python2     bool // only Python 2 runs it as it is
	environment []string
	arguments   []string
	check       func(*player3)
}

// player3Programs are the programs in clients/playerc/programs, in C++, C and Python, and what they
// have to print. A program without clients runs in real time, others in step. Those "in" a
// world of folder worlds are the exercises of textbooks: they are given for how many reads,
// and what is in arguments.
var player3Programs = map[string]player3Program{
	"wander in room": {clients: 1, check: func(p *player3) {
		r0 := p.pose("r0")
		p.near("odometry", 0.1, r0.X+2, r0.Y+1.5)
		if way, bumps := p.number("way", 0), p.number("bumps", 0); way < 0.1*p.rounds/10 || bumps > 0 {
			p.t.Errorf("%v m in %v rounds, %v stalls", way, p.rounds, bumps)
		}
	}},
	"wall in cave": {clients: 1, check: func(p *player3) {
		p.near("mean", 0.25, 0.7)
		if p.number("nearest", 0) < 0.25 {
			p.t.Errorf("the wall follower comes as near as %v", p.output["nearest"])
		}
	}},
	"tour in office": {clients: 1, arguments: []string{"1", "3", "7", "0", "9", "3", "1", "-2.5", "12", "-2.5"}, check: func(p *player3) {
		if arrived := p.number("arrived", 0); arrived < math.Floor(p.rounds/600) {
			p.t.Errorf("%v goals in %v rounds", arrived, p.rounds)
		}
		p.near("arrived", 0, p.number("arrived", 0), 0)
		r0 := p.pose("r0")
		p.near("odometry", 0.1, r0.X+7, r0.Y)
	}},
	"gather in room": {clients: 1, check: func(p *player3) {
		if delivered := p.number("delivered", 0); delivered < math.Floor(p.rounds/600) {
			p.t.Errorf("%v pucks in %v rounds", delivered, p.rounds)
		}
		p.near("delivered", 0, p.number("delivered", 0), 0)
		if puck := p.pose("puck"); math.Hypot(puck.X-0.5, puck.Y+1.5) < 0.1 {
			p.t.Errorf("the puck is still at %v", puck)
		}
	}},
	"follow in room": {clients: 1, check: func(p *player3) {
		if visited := p.number("visited", 0); visited < math.Floor(p.rounds/600) {
			p.t.Errorf("%v posts in %v rounds", visited, p.rounds)
		}
		p.near("visited", 0, p.number("visited", 0), 0)
	}},
	"flock in subsumption-fleet": {clients: 10, arguments: []string{"10"}, check: func(p *player3) {
		if least, stalls := p.number("flock", 1), p.number("flock", 3); least < 0.1*p.rounds/10 || stalls > 10*p.rounds/100 { // 1 % of the time of ten robots
			p.t.Errorf("the slowest has driven %v m in %v rounds, all stalled %v times", least, p.rounds, stalls)
		}
	}},
	"helpers": {check: func(p *player3) {
		p.says("host", "localhost 6665")
		p.near("angles", 1e-5, 0, 90, -math.Pi/2, 180, math.Pi/2)
		p.near("limit", 0, 3, -1, 1, 2.5)
		p.says("pose", "1,2,3 0,0,0,0,0,0 4,5 255")
	}},
	"values": {clients: 1, check: func(p *player3) {
		p.near("before", 0, 0, 0, 0, 0, 0, 0, 1, 1)
		p.says("valid", "1111111111")
		p.near("position", 1e-9, 0, 0, 0, 0, 0, 0, 0)
		p.near("size", 1e-9, 0.44, 0.38, -0.04)
		p.near("laser", 0.03, 361, 3, 4.92, 3)
		p.near("bearing", 1e-5, -math.Pi/2, 0, math.Pi/2, math.Pi/360, -math.Pi/2, math.Pi/2)
		p.near("halves", 0.03, 3, 3, 2.18, 2.18) // r1 is in the right half
		p.near("point", 0.03, 4.92, 3)
		p.near("outside", 1e-9, 8.191, 5, 5, 5, 0, 0)
		p.near("sonar", 0.03, 16, 2.86, 2.86, 4.84, 16, math.Pi/2, -math.Pi/2)
		p.near("ir", 0, 16, 0)
		p.near("bumper", 0, 2, 0, 0, 0)
		p.near("power", 0, 12.6, 100)
		p.near("gripper", 0, 1, 0)
		p.near("ptz", 0.001, 0, 0, 0.8517)
		p.near("blobs", 0, 1, 160, 120)
		p.near("blob0", 2, 0xff0000, 80-80/math.Tan(24.4*math.Pi/180)*1/3.92)
		if got := p.number("blob0", 2); math.Abs(got-(math.Hypot(3.92, 1)-0.1)) > 0.3 || p.number("blob0", 3) != 1 {
			p.t.Errorf("the post is at %v, its centre %v in its edges", got, p.output["blob0"][3])
		}
		p.near("ranger0", 1e-5, 16, 16, 10*math.Pi/180, 0)
		p.near("ranger1", 1e-5, 361, -math.Pi/2, math.Pi/2, math.Pi/360, 0)
		p.says("who", "position2d 0 1 0 0 sonar")
	}},
	"print": {clients: 1, check: func(p *player3) {
		for _, name := range []string{"#position2d", "#sonar", "#laser", "#ranger", "#gripper", "#ptz", "#blobfinder", "#bumper", "#power"} {
			if p.output[name] == nil {
				p.t.Errorf("%s is not printed", name)
			}
		}
	}},
	"wander": {clients: 1, check: func(p *player3) {
		if p.number("way", 0) < 3 || p.number("bumps", 0) > 0 {
			p.t.Errorf("in a minute: %v m, %v stalls", p.output["way"], p.output["bumps"])
		}
		r0 := p.pose("r0")
		p.near("odometry", 0.05, r0.X+2, r0.Y)
		p.near("odometry", 7, r0.X+2, r0.Y, normal(r0.Heading))
	}},
	"wall": {clients: 1, check: func(p *player3) {
		p.near("mean", 0.2, 0.7)
		if p.number("nearest", 0) < 0.25 {
			p.t.Errorf("the wall follower comes as near as %v", p.output["nearest"])
		}
	}},
	"turn": {clients: 1, check: func(p *player3) {
		p.near("turn1", 0.011, math.Pi/2)
		p.near("turn2", 0.011, math.Pi) // in (-pi, pi]
		p.near("turn3", 0.011, -math.Pi/2)
		if r0 := p.pose("r0"); math.Abs(normal(r0.Heading)+math.Pi/2) > 0.02 {
			p.t.Errorf("after three turns the heading is %v degrees", r0.Heading)
		}
	}},
	"bump": {clients: 1, check: func(p *player3) {
		p.near("bumped", 0.03, 1, 1, 1, 3+2-0.18) // the hull ends 0.18 m before the wheels
		p.near("free", 0, 0, 0)
	}},
	"collect": {clients: 1, robot: 1, check: func(p *player3) {
		p.near("open", 0, 1)
		p.near("closed", 0, 1, 1)
		if before, after := p.number("before", 0), p.number("after", 0); before-after < 0.8 {
			p.t.Errorf("the puck was carried from x = %v to %v", before, after)
		}
		puck := p.pose("puck")
		p.near("after", 0.001, puck.X, puck.Y)
	}},
	"blob": {clients: 1, check: func(p *player3) {
		r0 := p.pose("r0")
		if d := math.Hypot(2-r0.X, 1-r0.Y); d < 0.5 || d > 0.9 {
			p.t.Errorf("the robot stopped %v m before the post", d)
		}
		p.near("arrived", 0.1, r0.X+2, r0.Y)
	}},
	"ptz": {clients: 1, check: func(p *player3) {
		p.near("ptz", 0.01, math.Pi/4, -10*math.Pi/180, 0.3)
		p.near("back", 0.01, 0, 0, 0.3)
	}},
	"simulation": {clients: 1, check: func(p *player3) {
		p.near("robot", 0.01, -2, 0, 0)
		p.near("other", 0.01, 0, -1.5, 0)
		p.near("moved", 0.01, -1, 1.5, -math.Pi/2)
		p.near("taken", 0.01, -100, -100)
		p.says("unknown", "nobody")
		p.says("property", "color is in the world file")
		if r0 := p.pose("r0"); math.Hypot(r0.X+1, r0.Y-1.5) > 0.01 {
			p.t.Errorf("r0 is at %v", r0)
		}
	}},
	"swarm": {clients: 2, check: func(p *player3) {
		p.near("member0", 0.06, 0.3, 361)
		p.near("member1", 0.06, 0.6, 361)
	}},
	"indexed": {clients: 2, check: func(p *player3) {
		p.near("first", 0.06, 0.3)
		p.near("second", 0.06, 0.6, 16)
		if r1 := p.pose("r1"); math.Abs(r1.X-p.number("second", 0)) > 0.05 {
			p.t.Errorf("the second robot is at %v", r1)
		}
	}},
	"odometry": {clients: 1, check: func(p *player3) {
		p.near("set", 1e-5, 2, 3, math.Pi/2)
		r0 := p.pose("r0")
		p.near("driven", 0.01, 2, 3+r0.X+2, math.Pi/2)
		p.near("reset", 1e-9, 0, 0, 0)
	}},
	"scan": {
		clients:     1,
		environment: []string{"PLAYERC_LASER=180,180", "PLAYERC_RANGERS=laser,sonar", "PLAYERC_BLOBFINDER=80x60", "PLAYERC_BUMPERS=all", "PLAYERC_MISSING=warn"},
		check: func(p *player3) {
			p.near("scan", 0.03, 180, 3, 4.92, 3, -math.Pi/2)
			p.near("ranger", 0, 180)
			p.near("image", 0, 80, 60)
			p.near("blob0", 2, 40-40/math.Tan(24.4*math.Pi/180)*1/3.92)
			p.near("bumpers", 0, 10)
			p.near("camera", 0, 0, 0)
			p.says("playerc:", "camera:0 is not here")
		},
	},
	"values.c": {clients: 1, check: func(p *player3) {
		p.near("before", 0, 0, 8.191, 0, 0)
		p.near("size", 1e-5, 0.44, 0.38, -0.04)
		p.near("laser", 0.03, 361, 3, 4.92, 3, math.Pi/2, 8.191)
		p.near("halves", 0.03, 3, 2.18)
		p.near("point", 0.03, 4.92, 3)
		p.near("sonar", 0.03, 16, 2.86, 4.84, 16, math.Pi/2)
		p.near("ranger0", 0.03, 16, 16, 2.86)
		p.near("ranger1", 0.03, 361, -math.Pi/2, math.Pi/2, 4.92)
		p.near("blobs", 0, 1, 160, 120)
		p.says("blobs", "ff0000")
		p.near("gripper", 0, 1, 0)
		p.near("bumper", 0, 2, 0)
		p.near("power", 0.11, 12.6)
		p.near("macros", 1e-5, 180, math.Pi, -math.Pi/2, 1)
		p.says("printed:", "state 1")
		p.near("position", 0.06, 0.6, 0, 0, 0.2, 1)
		p.near("ptz", 0.01, math.Pi/6, 0.5)
		p.near("turned", 0.02, 40*math.Pi/180)
		p.near("odom", 0.05, 7, 8)
	}},
	"values.py": {clients: 1, check: func(p *player3) {
		p.near("size", 1e-5, 0.44, 0.38, -0.04)
		p.near("before", 0, 0, 0)
		p.near("laser", 0.03, 361, 3, 4.92, math.Pi/2, 4.92, 8.191)
		p.near("halves", 0.03, 3, 2.18)
		p.near("sonar", 0.03, 16, 4.84, math.Pi/2)
		p.near("ranger", 0.03, 361, 361, 4.92, math.Pi/2)
		p.near("blobs", 0.3, 1, 160, 0xff0000, math.Hypot(3.92, 1)-0.1)
		p.near("rest", 0.01, 1, 2, 12.6, 100, 0.8517)
		p.near("position", 0.06, 0.6, 0, 0.2, 0)
		p.near("true", 0.02, 0, -2, 0)
		p.near("moved", 0, 0)
		p.says("unknown", "-1 the world has no robot and no thing")
		p.says("missing", "-1 laser:300 is not here")
		p.says("position2d:", "px=")
		if puck := p.pose("puck"); puck.X != -1 || puck.Y != 2 {
			p.t.Errorf("the puck is at %v", puck)
		}
	}},
	"turn.py": {clients: 1, environment: []string{"PLAYERC_ROBOT=r0"}, check: func(p *player3) {
		p.near("mark", 0.001, 1, 7, 4, 1, 0, 1)
		p.near("values", 0.03, 361, 4.92, 5, 361, 4.92, 0, 1, 1, 0xff0000)
		p.near("pose", 0.06, 0, 0.6, math.Pi/2)
		p.near("truth", 0.06, -2, 0.6, math.Pi/2)
		p.says("missing", "laser:300 is not here")
	}},
	"collect.c": {clients: 1, check: func(p *player3) {
		p.says("nobody", "-1 cannot connect")
		p.near("unread", 0, 1)
		p.says("missing", "-1 laser:300 is not here")
		p.says("early", "-1 the device position2d is not subscribed")
		p.near("calls", 0, 0)
		p.near("closed", 0, 1)
		puck, r0 := p.pose("puck"), p.pose("r0")
		p.near("puck", 1e-4, puck.X, puck.Y)
		if puck.X > -1.2 || puck.X-r0.X > 0.4 {
			p.t.Errorf("the puck is at %v, the robot at %v", puck, r0)
		}
		p.says("unknown", "-1 the world has no robot and no thing")
	}},
	"goto": {clients: 1, check: func(p *player3) {
		p.near("first", 0.06, 1, 1, math.Pi/2)
		p.near("home", 0.06, 0, 0, math.Pi, 0.2)
		p.near("stopped", 0, 0, 0)
	}},
	"tour": {clients: 1, check: func(p *player3) {
		p.near("arrived", 0, 1, 0) // the post is in the straight line
		r0 := p.pose("r0")
		p.near("odometry", 0.06, 4.6, 1.3, 0)
		p.near("odometry", 0.02, r0.X+2, r0.Y, normal(r0.Heading))
	}},
	"geometry": {clients: 2, check: func(p *player3) {
		p.near("body", 1e-4, 0.44, 0.38, -0.04, 0)
		p.near("small", 1e-4, 0.2, 0.2, 0)
		p.near("laser", 1e-4, 0.08, 0, 0, 0, 0.156)
		p.near("config", 1e-5, -math.Pi/2, math.Pi/2, 0.001, 10, 0, 0, 0)
		p.near("sonar2", 1e-4, 0.148, 0.078, 30*math.Pi/180)
		p.near("ranger", 1e-4, 0.08, 0.156, 0, 0, 0.001, 10, 0)
		p.near("gripper", 1e-4, 0.18, 0.1, 0.215, 1, 2, 0, 0)
		p.says("bumper", "000 2")
	}},
	"car": {clients: 1, check: func(p *player3) {
		p.near("client", 0, 3, 0.5, 1, 1, 0)
		p.near("curve", 0.02, 0.2, 0.2*math.Tan(0.3)/0.32, 1)
		p.near("carlike", 0.03, p.number("driven", 0)-2, p.number("driven", 1), 0, 0, 0, p.number("driven", 2), 1)
		if p.number("driven", 1) < 0.3 {
			p.t.Errorf("the robot drove to %v", p.output["driven"])
		}
		p.near("head", 0.06, -math.Pi/2)
		p.near("set", 0.01, -1, 2, 0.5)
		p.says("property", "color is in the world file")
		p.near("watts", 0, 0, 0, 0)
	}},
	"nothing": {clients: 1, environment: []string{"PLAYERC_MISSING=warn"}, check: func(p *player3) {
		p.near("camera", 0, 0, 0, 0, 0, 0, 0, 4)
		p.near("localize", 0, 0, 0)
		p.near("planner", 0, 0, 0, 0)
		p.near("ir", 0, 0, 16)
		p.near("x", 0.05, p.pose("r0").X+2)
	}},
	"fiducials":    {clients: 1, environment: []string{"PLAYERC_ROBOT=r0"}, check: fiducials},
	"fiducials.c":  {clients: 1, environment: []string{"PLAYERC_ROBOT=r0"}, check: fiducialsOfC},
	"fiducials.py": {clients: 1, environment: []string{"PLAYERC_ROBOT=r0"}, check: fiducialsOfC},
	"globals.cc": {clients: 2, check: func(p *player3) {
		p.near("push", 0.06, 0.6, 1)
		if p.number("slow", 0) < 0.03 { // a rate of 0.001 rad/s is not 0
			p.t.Error("the robot does not turn slowly")
		}
		p.near("moved", 1e-4, -1, -2, 0)
	}},
	"far": {clients: 1, environment: []string{"PLAYERC_LASER=666,240"}, check: func(p *player3) {
		p.near("wide", 0.03, 666, 3, -2*math.Pi/3, 2*math.Pi/3)
		p.near("outside", 0, 1, 1, 1, 1)
		p.near("far", 1e-9, 666, 666, 16, 0, 8.191, 0)
	}},
	"late": {check: func(p *player3) {
		p.near("late", 0.02, p.pose("r0").X+2, 0)
	}},
	"bumpers": {clients: 3, check: func(p *player3) {
		p.near("pioneer", 0, 10)
		left, next := p.number("pioneer", 1), p.number("pioneer", 2)
		if left+next == 0 || left == next {
			p.t.Errorf("the bumpers are %v, want one of the two at the left", p.output["pioneer"])
		}
		p.near("create", 0, 2, next, left) // bit 0 of a Create is right, bit 1 left
		p.near("two", 0, 2, 1, 0)
	}},
	"rest.c": {check: func(p *player3) {
		p.near("room", 0, 1024)
		p.near("set", 0, 0, 0, 0)
		p.near("read", 0, 1, 361)
		p.near("scan", 0.03, 1, 4.92, math.Pi/2)
		p.near("deleted", 0, 0)
		p.near("gripper", 0, 0, 0, 0)
		p.says("memory", "bad_alloc")
	}},
	"everything.py": {clients: 1, environment: []string{"PLAYERC_ROBOT=r0"}, check: func(p *player3) {
		p.near("before", 0, 0, 0, 0)
		p.near("fresh", 0, 1, 1)
		p.near("seen", 0, 0)
		p.says("client", "127.0.0.1 0 1")
		p.near("laser", 0.03, 361, 4.92, 8.191, math.Pi/2, 4.92, 8.191)
		p.near("scan", 0.03, math.Pi/360, -math.Pi/2, math.Pi/2, 3, 2.18)
		p.near("sonar", 0.03, 16, 4.84, 16, math.Pi/2)
		p.near("ranger", 0.03, 361, -math.Pi/2, math.Pi/2, math.Pi/360, 8.191, 4.92)
		p.near("ring", 0.03, 16, math.Pi/2)
		p.near("bumper", 0, 0, 0)
		p.near("power", 0.11, 12.6)
		p.near("blobs", 0, 1, 160, 120, 0xff0000)
		p.near("gripper", 0, 1, 0)
		p.near("closed", 0, 1)
		p.near("ptz", 0.01, 29*math.Pi/180, -6*math.Pi/180, 0.4)
		p.near("speed", 0.01, 0.2, 0, 0, 0)
		p.near("odometry", 0.06, 5, 6)
		p.near("there", 0.06, 0.5, 0)
		p.near("puck", 1e-4, -1, 2, 0)
		p.near("destroyed", 0, 3)
		p.near("kept", 0, 1)
	}},
	"course.py": {clients: 1, python2: true, check: func(p *player3) {
		p.says("refused", "TypeError")
		p.says("seen", "0,1,2,3,4")
		p.near("ahead", 0.03, 0.98)
		r0 := p.pose("r0")
		p.near("pose", 0.06, r0.X+2, 0, 0)
		p.near("ahead", 0.03, 3-0.08-r0.X)
	}},
	"drive.py": {clients: 1, check: func(p *player3) {
		p.near("ranger", 0, 0)
		p.near("opened", 0, 1)
		p.near("closed", 0, 0, 1)
		p.near("pan", 0.5, 20)
		p.near("gripper", 0, 0, 0, 0, 0)
		p.near("pose", 0.06, 7.5, 8)
		p.near("head", 0.06, math.Pi/2)
		p.near("car", 0.01, 0.2, 0)
		p.near("stopped", 0.01, 0, 1)
		r0 := p.pose("r0")
		p.near("pose", 0.08, 7+r0.X+2, 8) // then it only turned, and drove along y
	}},
	"pair.c": {clients: 2, check: func(p *player3) {
		p.near("both", 0.06, 0.6, 0.3)
		p.near("config", 1e-5, -math.Pi/2, math.Pi/2, math.Pi/360)
		p.near("store", 0, 0, 0)
		p.near("property", 0, -1, -1)
		p.near("pose", 0.06, 1.5, 0.8, 0)
		p.near("truth", 0.02, p.number("pose", 0)-2, p.number("pose", 1))
	}},
	"edges.c": {clients: 1, check: func(p *player3) {
		p.near("goes", 0.05, 0.3, 0.3)
		p.near("stopped", 0, 0, 0)
		p.near("heads", 0.01, 0.2)
		p.near("left", 0, 0, 0)
		p.near("again", 0, 0, 0)
		p.near("subscribed", 0, 0)
		p.near("data", 0.01, 1, 0, 0.1)
		p.near("silent", 0, -1)
		if seconds := p.number("silent", 1); seconds > 5 { // the default is 10
			p.t.Errorf("a server that does not answer is given up after %v s", seconds)
		}
	}},
	"sleeper": {check: func(p *player3) {
		p.near("there", 0.02, 0.6)
	}},
	"threaded": {check: func(p *player3) {
		p.near("thread", 0, 1, 1)
		p.near("run", 0, 0)
		p.near("peek", 0, 1)
	}},
	"again": {stops: true, returns: true, check: func(p *player3) { p.near("connected", 0, 1) }},
	"lost": {stops: true, check: func(p *player3) {
		p.says("speed", "position2d:0")
		p.says("stopped", "")
	}},
	"errors": {stops: true, check: func(p *player3) {
		p.says("refused", "PlayerClient::PlayerClient: cannot connect to 127.0.0.1 port 1")
		if p.output["granted"] != nil {
			p.t.Error("a device was granted that the robot does not have")
		}
		p.says("missing", "ranger")
		p.near("bare", 0, 1)
		p.says("lost", "PlayerClient::Read: the connection to 127.0.0.1")
		p.says("speed", "Position2dProxy::SetSpeed: position2d:0")
		p.near("connected", 0, 0)
	}},
}

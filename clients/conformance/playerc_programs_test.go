package conformance

import (
	"math"
	"strings"
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
puck ( name "yellow" color "yellow" pose [-2.8 2.8 0 0] )
puck ( name "blue" color "blue" pose [-2.8 -2.8 0 0] )
pioneer_full ( name "r0" pose [-2 0 0 0] fiducial ( range_max 8 fov 180 ) )
pioneer_full ( name "r1" pose [0 -1.5 0 0] )
`

// bare has another robot, with wheels alone: a server of it can have no goto device.
const bare = arena + `position ( name "bare" pose [2.5 -2.5 0 0] size [0.2 0.2 0.2] )
`

// sweepers has two robots with four sensors at their corners, a short beam, a scanner, a camera and a gripper, and junk
// that lies about. Robot "full" also has a camera and a gripper behind, and more.
const (
	sweeperParts = `include "pioneer.inc"
include "things.inc"
resolution 0.02
define echo sensor ( range [0.1 1.5] fov 12 samples 180 )
define corners ranger
(
  echo ( pose [0.22 0.18 0 60] ) echo ( pose [0.26 0.10 0 15] )
  echo ( pose [0.26 -0.10 0 -15] ) echo ( pose [0.22 -0.18 0 -60] )
)
define feeler ranger ( sensor ( range [0 0.25] fov 4 samples 180 ) )
define scanner ranger ( sensor ( range [0 6] fov 180 samples 180 ) )
define camera blobfinder ( colors_count 2 colors ["orange" "navy"] image [160 120] fov 60 )
define hand gripper ( size [0.2 0.24 0.2] paddle_size [0.66 0.1 0.4] paddle_state ["open" "down"] )
define sweeper position
(
  size [0.5 0.4 0.3]
  color "black"
  localization "gps"
  localization_origin [0 0 0 0]
  corners ( pose [0 0 -0.05 0] )
  feeler ( pose [0.25 0 -0.22 0] )
  scanner ( pose [0.1 0 0.1 0] )
  camera ( pose [0.1 0 -0.15 0] )
  hand ( pose [0.25 0 -0.3 0] )
)
define junk model ( size [0.12 0.12 0.15] color "orange" gripper_return 1 )
define carton model ( size [0.2 0.2 0.5] color "navy" gripper_return 1 )
wall ( pose [ 0.0   3.05 0  0] size [6.2 0.1 1] )
wall ( pose [ 0.0  -3.05 0  0] size [6.2 0.1 1] )
wall ( pose [ 3.05  0.0  0 90] size [6.2 0.1 1] )
wall ( pose [-3.05  0.0  0 90] size [6.2 0.1 1] )
`
	sweepers = sweeperParts + `
sweeper ( name "one" pose [-1 1 0 0] )
sweeper ( name "other" pose [-1 -1 0 0] )
junk ( name "junk1" pose [1.5 1.8 0 0] )
junk ( name "junk2" pose [2.3 0.3 0 0] )
junk ( name "junk3" pose [0.5 -1.9 0 0] )
junk ( name "junk4" pose [2 -2 0 0] )
carton ( name "carton" pose [0.6 0.4 0 30] )
`
	several = sweeperParts + `
gps_origin [34.0205 -118.2856 60]
sweeper ( name "full" pose [1 0 0 0] camera ( pose [-0.1 0 -0.15 180] ) hand ( pose [-0.25 0 -0.3 180] ) gps () imu () )
sweeper ( name "next" pose [-1 -2 0 90] )
junk ( pose [2 0.1 0 0] )
carton ( pose [1.95 0.35 0 0] )
carton ( pose [-0.6 0.6 0 0] gripper_return 0 )
junk ( pose [-2 0.1 0 0] )
junk ( pose [-2 -0.1 0 0] )
`
)

// boardDevices are the devices of a test pattern that the programs board have.
const boardDevices = `"imu:0" "gps:0" "io:0" "servo:0" "ranger:0"`

// player3Program is a program for Player 2 or 3, with checks of its output.
type player3Program struct {
	clients     int  // in step; 0: it runs in real time
	stops       bool // the server ends when the program says end
	returns     bool // and begins again when it says lost
	python2     bool // only Python 2 runs it as it is
	environment []string
	arguments   []string
	world       string // the text of its world; empty: arena
	devices     string // of a test pattern, in place of a world
	sees        string // what the goto device of the first robot sees with; empty: what -goto chooses for each
	check       func(*player3)
}

var ofR0 = []string{"PLAYERC_ROBOT=r0"}

// player3Programs are the programs in clients/playerc/programs: families, each in the languages that have it, whose
// programs print the same. Programs "in" a world of folder worlds are the exercises of textbooks: they get the number of
// reads, and arguments.
var player3Programs = map[string]player3Program{
	"readings.cpp": {clients: 1, check: func(p *player3) {
		readings(p)
		helpers(p)
		p.says("valid", "1111111111")
		p.near("size", 1e-9, 0.44, 0.38, -0.04, 0)
		p.near("mount", 1e-4, 0.08, 0, 0, 0, 0.156)
		p.near("config", 1e-5, -math.Pi/2, math.Pi/2, -math.Pi/2, math.Pi/2, 0.001, 10, 0, 0, 0)
		p.near("halves", 0.03, 3, 2.18, 3, 2.18)
		p.near("outside", 1e-9, 8, 5, 5, 5, 0, 0, 0)
		p.near("sonar", 0.03, 16, 2.86, 4.84, 16, math.Pi/2, 2.86, -math.Pi/2)
		p.near("sonar2", 1e-4, 0.148, 0.078, 30*math.Pi/180)
		p.near("same", 1e-5, 0, 0, 0)
		p.near("ring", 0.03, 16, 16, 2.86, 16)
		p.near("sensor", 1e-4, 0.08, 0, 0, 0, 0.001, 10, 0)
		p.near("bumper", 0, 2, 0, 0, 0, 0)
		p.near("paddles", 1e-4, 0.18, 0.1, 0.215, 1, 2, 0, 0)
		p.near("blob", 0.3, math.Hypot(3.92, 1)-0.1, 1)
		p.near("centre", 2, 80-80/math.Tan(24.4*math.Pi/180)*1/3.92)
		p.says("who", "position2d 0 1 0 0 sonar")
	}},
	"readings.c": {clients: 1, check: func(p *player3) {
		readings(p)
		p.near("room", 0, 1024)
		p.near("set", 0, 0, 0, 0, 0)
		p.near("power_config", 0, 0)
		p.near("scan", 0.03, 1, 4.92, math.Pi/2)
		p.near("resolution", 1e-5, math.Pi/360)
		p.near("macros", 1e-5, 180, math.Pi, -math.Pi/2, 1)
		p.says("printed:", "state 1")
	}},
	"readings.py": {clients: 1, check: func(p *player3) {
		readings(p)
		p.near("power_config", 0, 0)
		p.near("lists", 0, 0, 0)
		p.says("position2d:", "px=")
	}},
	"driving.cpp": {clients: 1, check: func(p *player3) {
		driving(p)
		p.near("curve", 0, p.number("curve", 0), p.number("curve", 1), 1)
		p.near("pose3d", 0.03, p.number("car", 0)-2, p.number("car", 1), 0, 0, 0, p.number("car", 2), 1)
		p.near("turn1", 0.011, math.Pi) // in (-pi, pi]
		p.near("turn2", 0.011, math.Pi/2)
		p.near("turn3", 0.011, 0)
		p.near("set", 1e-5, 2, 3, math.Pi/2)
		p.near("driven", 0.01, 2, 3+p.number("way", 0), math.Pi/2)
		p.near("fastest", 0, 0.2)
		p.near("reset", 1e-9, 0, 0, 0)
		p.near("back", 0.06, 0.5, 0.5, math.Pi/2)
		p.near("ended", 0, 0, 0)
		if p.number("slow", 0) < 0.03 { // a rate of 0.001 rad/s is not 0
			p.t.Error("the robot does not turn slowly")
		}
	}},
	"driving.c": {clients: 1, check: func(p *player3) {
		driving(p)
		p.near("calls", 0, 300, 1)
		p.near("curve", 0, p.number("curve", 0), p.number("curve", 1), 0)
		p.near("turned", 0.02, 40*math.Pi/180)
		p.near("both", 0.05, 0.4, 0.4) // as fast as the goto device chooses
		p.near("ended", 0, 0, 0)
		p.near("heads", 0.01, 0.2)
		p.near("left", 0, 0, 0)
	}},
	"driving.py": {clients: 1, check: driving},
	"things.cpp": {clients: 1, environment: ofR0, check: func(p *player3) {
		things(p)
		p.near("robot", 0.01, -2, 0, 0)
		p.near("other", 0.01, 0, -1.5, 0)
		p.near("apart", 0.1, 0) // blob and fiducial
		p.near("back", 0.01, 0, 0, 0.3)
		p.near("colours", 0, 1, 1, 1)
		p.near("color", 0.002, 0, 0.2, 1, 1)
		if got := p.pose("r0").Color; got != "#0033ff" {
			p.t.Errorf("the robot is %s", got)
		}
		p.says("set", "nobody")
		p.says("get", "four floats, not 2 bytes")
		p.says("finder", "fiducial_return is in the world file")
	}},
	"things.c": {clients: 1, environment: ofR0, check: func(p *player3) {
		things(p)
		thingsOfC(p)
		p.near("property", 0, 0, 0)
	}},
	"things.py": {clients: 1, environment: ofR0, check: func(p *player3) {
		things(p)
		thingsOfC(p)
		p.near("angles", 0.5, 45, math.Pi/4)
		p.near("put", 0, 0)
	}},
	"proxies.py": {clients: 1, environment: ofR0, check: func(p *player3) {
		readings(p)
		driving(p)
		p.near("before", 0, 0, 0, 0, 0, 0)
		p.near("fresh", 0, 1, 1)
		p.near("seen", 0, 0)
		p.says("client", "127.0.0.1 0 1")
		p.near("config", 1e-5, -math.Pi/2, math.Pi/2)
		p.near("position", 0, 0, 0, 0, 0, 0, 0, 0)
		p.near("bumper", 0, 2, 0, 0, 0)
		p.near("first", 0.001, 1, 7, 4, 1, 0, 1)
		p.near("reset", 1e-9, 0, 0, 0)
		p.near("puck", 1e-4, -1, 2, 0)
		p.near("color", 0, 0, 1, 1, 1)
		p.near("shut", 0, 1)
		p.near("turned", 0.01, math.Pi/4, -10*math.Pi/180, 0.3)
		p.says("missing", "laser:300 is not here")
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
	"robots.cpp": {world: bare, clients: 5, check: func(p *player3) {
		p.near("one", 0.06, 0.3, 361, 0.3)
		p.near("other", 0.06, 0.6, 361, 0.6, 16)
		p.near("small", 1e-4, 0.2, 0.2, 0)
		p.near("other", 0.05, p.pose("r1").X)
	}},
	"robots.c": {clients: 2, check: func(p *player3) {
		p.near("both", 0.06, 0.6, 0.3, 361)
		p.near("pose", 0.06, 1.5, 0.8, 0)
		p.near("pose", 0.02, p.pose("r0").X+2, p.pose("r0").Y)
	}},
	"threads.cpp": {clients: 1, check: func(p *player3) {
		p.near("thread", 0, 1, 1)
		p.near("run", 0, 0)
		p.near("peek", 0, 1)
	}},
	"lost.cpp": {stops: true, returns: true, check: func(p *player3) {
		p.near("late", 0.02, 2, 0)
		p.near("there", 0.03, 0.6)
		p.says("speed", "position2d:0")
		p.says("stopped", "")
		p.near("connected", 0, 1)
		p.near("kept", 0, 361, 1, 1)
		p.near("again", 0, 1, 1, 1)
	}},
	"settings.cpp": {clients: 4, check: func(p *player3) {
		p.near("scan", 0.03, 180, 3, 4.92, 3, -math.Pi/2)
		p.near("ranger", 0, 180, 16)
		p.near("image", 0, 80, 60, 1)
		p.near("blob0", 2, 40-40/math.Tan(24.4*math.Pi/180)*1/3.92)
		p.near("wide", 0.03, 666, 3, -2*math.Pi/3, 2*math.Pi/3)
		p.near("outside", 0, 1, 1, 1, 1)
		p.near("two0", 0.03, 2, 1, 1, 1, 3+2-0.18) // the hull ends 0.18 m before the wheels
		p.near("free0", 0, 0, 0)
		p.near("two1", 0, 2, 1, 0)
		p.near("all1", 0, 10)
		left, next := p.number("all1", 1), p.number("all1", 2)
		if left+next == 0 || left == next {
			p.t.Errorf("the bumpers are %v, want one of the two at the left", p.output["all1"])
		}
		p.near("create1", 0, 2, next, left) // bit 0 of a Create is right, bit 1 left
		p.near("far", 1e-9, 666, 361, 16, 0, 8.191, 0)
	}},
	"errors.cpp": {stops: true, world: bare, check: func(p *player3) {
		p.says("refused", "PlayerClient::PlayerClient: cannot connect to 127.0.0.1 port 1")
		if p.output["granted"] != nil {
			p.t.Error("a device was granted that the robot does not have")
		}
		p.says("missing", "ranger")
		p.near("bare", 0, 1)
		p.says("goal", "Position2dProxy::GoTo: GoTo needs the goto device of a robot that sees: start the server with -goto")
		p.says("lost", "PlayerClient::Read: the connection to 127.0.0.1")
		p.says("speed", "Position2dProxy::SetSpeed: position2d:0")
		p.near("connected", 0, 0)
	}},
	"errors.c": {check: func(p *player3) {
		p.says("refused", "-1 cannot connect")
		p.near("unread", 0, 1)
		missing(p)
		p.says("early", "-1 the device position2d is not subscribed")
		p.near("again", 0, 0, 0)
		p.near("subscribed", 0, 0)
		p.near("data", 0.01, 1, 0, 0.1)
		p.says("memory", "bad_alloc")
		p.near("silent", 0, -1)
		if seconds := p.number("silent", 1); seconds > 5 { // the default is 10
			p.t.Errorf("a server that does not answer is given up after %v s", seconds)
		}
	}},
	"errors.py": {check: missing},
	"names.cc": {clients: 2, environment: []string{"PLAYERC_MISSING=warn"}, check: func(p *player3) {
		p.near("push", 0.06, 0.6, 1)
		for _, name := range strings.Fields("position2d sonar laser ranger gripper ptz blobfinder bumper power ir") {
			if p.output["#"+name] == nil {
				p.t.Errorf("%s is not printed", name)
			}
		}
		p.near("client", 0, 3, 0.5, 1, 1, 0)
		p.says("playerc:", "is not here")
		width, height := p.number("camera", 0), p.number("camera", 1)
		p.near("camera", 0, width, height, 24, 5, 3*width*height, 0, 1, 1)
		p.near("nowhere", 0, 0, 0, 0, 0, 0, 0, 0, 0)
		p.near("nothing", 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
		p.near("localize", 0, 0, 0)
		p.near("planner", 0, 0, 0, 0)
		p.near("ir", 0, 0, 16)
		p.near("watts", 0, 0, 0, 0)
		p.near("moved", 1e-4, -1, -2, 0)
		p.near("push", 0.05, p.pose("r0").X+2)
	}},
	"board.cpp": {devices: boardDevices, check: func(p *player3) {
		board(p)
		p.near("unknown", 0, 1, 1, 1)
		p.near("errors", 1e-9, 1.5, 1, 0, 0, 0, 0, 0)
		p.near("point", 0.001, 1081, 2.54, 0)
		p.near("speed", 1e-6, 0.5)
		p.says("home", "joint -1 moves all")
		p.says("second", "gps:1 is not here")
		p.near("thrown", 0, 6)
		for _, name := range strings.Fields("imu gps dio aio actarray") {
			if p.output["#"+name] == nil {
				p.t.Errorf("%s is not printed", name)
			}
		}
	}},
	"board.c": {devices: boardDevices, check: func(p *player3) {
		board(p)
		boardOfC(p)
		p.near("quaternion", 1e-6, 1, 0, 0, 0)
	}},
	"board.py": {devices: boardDevices, check: func(p *player3) {
		board(p)
		boardOfC(p)
	}},
	"boards.py": {devices: boardDevices, check: func(p *player3) {
		board(p)
		p.near("errors", 1e-9, 1.5, 1, 0, 0, 0)
		p.near("resolution", 1e-9, 0.001, 10, 0)
	}},
	"camera.cpp": {clients: 1, check: camera},
	"camera.c":   {clients: 1, check: camera},
	"camera.py":  {clients: 1, check: camera},
	"cameras.py": {clients: 1, check: camera},
	"several.cpp": {clients: 3, world: several, sees: "ranger:2", check: func(p *player3) {
		manyDevices(p)
		p.near("before", 1e-9, 0, 0, 1.5, 0.25, 6)
		p.near("counts", 0, 4, 180, 180, 4, 180)
		p.near("pose0", 1e-5, 0.22, 0.18, math.Pi/3)
		p.near("pose3", 1e-5, 0.22, -0.18, -math.Pi/3)
		p.near("others", 0.03, 1.5, 5-0.1)
		p.near("lasers", 0.03, 361, 180, 1.9, 6, 361)
		p.near("every", 0.03, 720, 4, 1.5, 1.5, 1.5, 0.22+1.5*math.Cos(54*math.Pi/180))
		p.near("chosen", 0.03, 180, 1.9, 361, 1.9)
		p.near("colours", 0, 0xffa500, 0x000080, 0xffa500)
		p.near("heads", 0.01, 0, 40*math.Pi/180, 0.8517)
		p.near("hands", 0, 1, 2, 1)
		p.near("mounted", 0.2, 0.35, -0.35)
		next := p.pose("next")
		p.near("started", 2, 381302.3985, 3765174.1086, 1) // by the series of USGS 1395
		p.near("driven", 0.03, p.number("truth", 0), p.number("truth", 1), p.number("truth", 2), next.Y)
		p.near("arrived", 0.1, -1.6, 1.2)
		p.near("arrived", 0.02, p.pose("full").X, p.pose("full").Y, 0)
		p.near("turning", 0.05, -10*math.Pi/180, 9.807, 0)
		p.says("missing", "ranger:6 is not here: the robot has 3 of them, and the next one:")
	}},
	"several.c": {clients: 2, world: several, check: func(p *player3) {
		manyDevices(p)
		p.near("counts", 0, 4, 180, 180, 4)
		p.near("pose1", 1e-6, 0.26, 0.1, 15*math.Pi/180)
		p.near("points", 1e-5, 4, 0.26+p.number("corners", 1)*math.Cos(15*math.Pi/180), 15*math.Pi/180)
		p.near("draw", 0, 0, 0, 0, 0, 0)
		p.near("hands", 0, 1, 2)
	}},
	"several.py": {clients: 2, world: several, check: func(p *player3) {
		manyDevices(p)
		p.near("counts", 0, 4, 180, 180, 4)
		p.near("blob", 0, 0, 1, 1)
		p.says("attribute", "no")
		p.says("text", "color=")
		p.near("graphics", 0, 0, 0, 0, 0)
		p.near("polygon", 0, 0)
		p.near("color", 0, 0)
		p.near("is", 0, 0, 0, 1, 0, 1)
		if got := p.pose("full").Color; got != "#00ff00" {
			p.t.Errorf("the robot is %s", got)
		}
		p.says("other", "-1 the property mass is in the world file")
		p.near("hands", 0, 1, 2)
	}},
	"tidy.cpp": {clients: 2, world: sweepers, check: func(p *player3) {
		p.near("counts", 0, 4, 180, 180)
		for _, name := range strings.Fields("junk1 junk2 junk3 junk4") {
			if at := p.pose(name); at.X > -1.9 {
				p.t.Errorf("%s is at %v, %v", name, at.X, at.Y)
			}
		}
		if p.number("carried", 0) < 1 || p.number("carried", 1) < 1 {
			p.t.Errorf("the robots carried %v", p.output["carried"])
		}
	}},
	"wander.cpp": {clients: 1, check: func(p *player3) {
		wander(p, 3)
		p.near("odometry", 7, p.pose("r0").X+2, p.pose("r0").Y, normal(p.pose("r0").Heading))
		p.near("odometry", 0.05, p.pose("r0").X+2, p.pose("r0").Y)
	}},
	"wander.cpp in room": {clients: 1, check: func(p *player3) {
		wander(p, 0.1*p.rounds/10)
		p.near("odometry", 0.1, p.pose("r0").X+2, p.pose("r0").Y+1.5)
	}},
	"wander.cpp in subsumption-fleet": {clients: 10, arguments: []string{"10"}, check: func(p *player3) {
		most := 10 * p.rounds / 100 // 1 % of the time of ten robots
		if least, stalls := p.number("way", 0), p.number("stalls", 0); least < 0.1*p.rounds/10 || stalls > most {
			p.t.Errorf("the slowest has driven %v m in %v rounds, all stalled %v times", least, p.rounds, stalls)
		}
	}},
	"wall.cpp":         {clients: 1, check: func(p *player3) { wall(p, 0.2) }},
	"wall.cpp in cave": {clients: 1, check: func(p *player3) { wall(p, 0.25) }},
	"tour.cpp": {clients: 1, check: func(p *player3) {
		p.near("arrived", 0, 1, 0) // the post is in the straight line
		r0 := p.pose("r0")
		p.near("odometry", 0.06, 4.6, 1.3, 0)
		p.near("odometry", 0.02, r0.X+2, r0.Y, normal(r0.Heading))
	}},
	"tour.cpp in office": {clients: 1, arguments: strings.Fields("1 3 7 0 9 3 1 -2.5 12 -2.5"), check: func(p *player3) {
		if arrived := p.number("arrived", 0); arrived < math.Floor(p.rounds/600) {
			p.t.Errorf("%v goals in %v rounds", arrived, p.rounds)
		}
		p.near("arrived", 0, p.number("arrived", 0), 0)
		p.near("odometry", 0.1, p.pose("r0").X+7, p.pose("r0").Y)
	}},
}

package conformance

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"player/client/simulation"
)

// helpers checks the functions that need no robot.
func helpers(p *player3) {
	p.says("host", "localhost 6665")
	p.near("angles", 1e-5, 0, 90, -math.Pi/2, 180, math.Pi/2)
	p.near("limit", 0, 3, -1, 1, 2.5)
	p.says("pose", "1,2,3 0,0,0,0,0,0 4,5 255")
}

func readings(p *player3) {
	p.near("before", 0, 0, 0, 0, 0)
	if p.output["lists"] == nil {
		p.near("empty", 1e-9, 8, 5)
	}
	p.near("position", 1e-9, 0, 0, 0, 0, 0, 0)
	if p.output["fresh"] == nil { // playercpp has no size
		p.near("size", 1e-5, 0.44, 0.38, -0.04)
	}
	p.near("laser", 0.03, 361, 3, 4.92, 3, 8)
	p.near("bearing", 1e-5, -math.Pi/2, 0, math.Pi/2, math.Pi/360)
	p.near("halves", 0.03, 3, 2.18) // r1 is in the right half
	p.near("point", 0.03, 4.92, 3)
	p.near("sonar", 0.03, 16, 2.86, 4.84, 16, math.Pi/2)
	p.near("ring", 0.03, 16, 16, 2.86)
	p.near("ranger", 0.03, 361, 4.92, 8)
	p.near("angle", 1e-5, -math.Pi/2, math.Pi/2, math.Pi/360, 10*math.Pi/180)
	p.near("bumper", 0, 2, 0, 0)
	p.near("power", 0, 12.6, 100)
	p.near("gripper", 0, 1, 0)
	p.near("ptz", 0.001, 0, 0, 0.8517)
	p.near("blobs", 0, 1, 160, 120, 0xff0000)
	p.near("blob", 0.3, math.Hypot(3.92, 1)-0.1)
}

// board checks the data of a test pattern (devices/testpattern), and the effects of commands on it.
func board(p *player3) {
	p.near("before", 0, 0, 0, 0, 0, 0)
	p.near("imu", 1e-5, 0, 0, 9.807, 0, 0, 0, 0, 9.807)
	p.near("gps", 1e-7, 34.0205, -118.2856, 60, 1, 9)
	p.near("utm", 0.002, 381302.3985, 3765174.1086) // by the series of USGS 1395
	p.near("scan", 1e-6, 1081, 1, 2, 2.08, p.number("scan", 4), 30, 0.02)
	p.near("angles", 1e-5, -0.75*math.Pi, 0.75*math.Pi, 0.25*math.Pi/180)
	p.near("inputs", 0, 1, 0, 0, 0, 0)
	p.near("volts", 1e-5, 1, 12.6, 0)
	p.near("joints", 1e-5, 2, -math.Pi/2, math.Pi/2, 75*math.Pi/180, 1, 0, 0)
	p.near("moved", 1e-4, math.Pi/6, 150*math.Pi/180, 1, 0)
	p.near("multi", 1e-4, 0.5, 0.5)
	p.near("limit", 1e-4, -math.Pi/2, 0.5)
}

func boardOfC(p *player3) {
	p.near("set", 0, 0, 0, -1, 0)
	p.near("reset", 0, -1, -1)
	p.near("power", 0, 0, 0)
	p.near("motors", 0, 1)
	p.near("all", 0, 0, -1, 0)
	p.near("both", 1e-4, 0.25, 0.25)
	p.near("intensities", 0, 0, 0)
}

// camera checks that a picture shows the red post, where the blob is.
func camera(p *player3) {
	p.near("before", 0, 0, 0)
	width, height := p.number("picture", 0), p.number("picture", 1)
	p.near("picture", 0, width, height, 24, 5, 1)
	if size := p.number("size", 0); width < 160 || height < 120 || size < 1000 || size > width*height*3/4 {
		p.t.Errorf("a picture of %vx%v in %v bytes", width, height, size)
	}
	p.near("raw", 0, width*height*3, 0)
	if red := p.number("red", 0); red < 20 || red > width*height/20 {
		p.t.Errorf("%v of the pixels are red", red)
	}
	p.near("middle", 0.02, p.number("blob", 0))
	p.near("saved", 0, p.number("size", 0), width*height*3+float64(len(fmt.Sprintf("P6\n%v %v\n255\n", width, height))))
}

// manyDevices checks the data of a robot with several devices of each kind.
func manyDevices(p *player3) {
	p.near("sensors", 0, 4, 1, 1)
	p.near("corners", 1e-9, 1.5, p.number("corners", 1), p.number("corners", 2), 1.5)
	if left, right := p.number("corners", 1), p.number("corners", 2); left > 0.8 || right < 1.4 {
		p.t.Errorf("the corners are %v", p.output["corners"])
	}
	p.near("feeler", 1e-9, 0.25, 0.25)
	p.near("scanner", 0.03, 3, 1.9, 3, -math.Pi/2, math.Pi/2, math.Pi/179, 0.1, 6)
	p.near("blobs", 0, 2, 3)
}

func driving(p *player3) {
	p.near("ahead", 0.06, 0.6, 0, 0, 0.2, 0)
	p.near("curve", 0.02, 0.2, 0.2*math.Tan(0.3)/0.32)
	p.near("stands", 0, p.number("stands", 0), p.number("stands", 1), p.number("stands", 2), 0, 0)
	p.near("head", 0.06, p.number("head", 0), p.number("head", 1), -math.Pi/2)
	p.near("driven", 0.06, 2, 3.6, math.Pi/2)
	p.near("there", 0.06, 2.8, 3.2, p.number("there", 2))
	if math.Abs(p.number("there", 2)) < math.Pi-0.06 {
		p.t.Errorf("there is %v, want the heading pi", p.output["there"])
	}
	if p.number("stands", 1) < 0.05 {
		p.t.Errorf("the robot drove no curve to %v", p.output["stands"])
	}
	// Where the odometry was set, the robot had turned about: both axes point the other way in the world.
	p.near("truth", 0.06, p.number("stands", 0)-2-0.8, p.number("stands", 1)-0.6+0.4, 0)
}

func things(p *player3) {
	p.near("before", 0, 0, 0)
	p.near("first", 0.001, 1, 7, 4, 1, 0)
	post := math.Hypot(2-p.number("there", 0), 1-p.number("there", 1))
	p.near("post", 0.001, post)
	if post < 0.5 || post > 0.85 {
		p.t.Errorf("the robot stopped %v m before the post", post)
	}
	p.near("moved", 0.01, -1, 1.5, -math.Pi/2)
	p.near("ptz", 0.01, math.Pi/4, -10*math.Pi/180, 0.3, 1)
	p.near("open", 0, 1, 0)
	p.near("inner", 0, 2)
	p.near("closed", 0, 1, 1)
	puck, r0 := p.pose("puck"), p.pose("r0")
	p.near("carried", 0.001, puck.X, puck.Y)
	if way := p.number("fetched", 0) - puck.X; way < 0.45 || puck.X-r0.X > 0.4 {
		p.t.Errorf("the puck was carried %v m to %v, the robot is at %v", way, puck, r0)
	}
	p.near("taken", 0.01, -100, -100)
	p.says("unknown", "the world has no robot and no thing that can move with the name nobody")
}

func thingsOfC(p *player3) {
	p.near("geometry", 0, 0, 0)
	p.near("fresh", 0, 1, 1)
	p.near("moved", 0.01, -1, 1.5, -math.Pi/2, 0)
	p.near("gripper", 0, 0, 0, 0, 0)
	p.says("unknown", "-1 the world")
}

func missing(p *player3) {
	p.says("laser", "-1 laser:300 is not here")
	p.says("fiducial", "-1 fiducial:300 is not here")
}

func wander(p *player3, least float64) {
	if way, stalls := p.number("way", 0), p.number("stalls", 0); way < least || stalls > 0 {
		p.t.Errorf("%v m, want %v, and %v stalls", way, least, stalls)
	}
}

func wall(p *player3, tolerance float64) {
	p.near("mean", tolerance, 0.7)
	if p.number("nearest", 0) < 0.25 {
		p.t.Errorf("the wall follower comes as near as %v", p.output["nearest"])
	}
}

// player3 is a program for Player 2 and 3 that has run.
type player3 struct {
	t      *testing.T
	output map[string][]string // its output, by the first word of a line
	truth  simulation.State
	rounds float64 // of the exercises
}

// number returns a number that the program printed.
func (p *player3) number(name string, field int) float64 {
	p.t.Helper()
	words := p.output[name]
	if field >= len(words) {
		p.t.Fatalf("the program did not print %s %d", name, field)
	}
	v, err := strconv.ParseFloat(words[field], 64)
	if err != nil {
		p.t.Fatalf("%s: %v", name, err)
	}
	return v
}

// near compares numbers that the program printed in a line.
func (p *player3) near(name string, tolerance float64, want ...float64) {
	p.t.Helper()
	for i, w := range want {
		if got := p.number(name, i); math.Abs(got-w) > tolerance {
			p.t.Errorf("%s is %v, want %v", name, p.output[name], want)
			return
		}
	}
}

// says checks for text in a line that the program printed.
func (p *player3) says(name, text string) {
	p.t.Helper()
	if got, printed := p.output[name]; !printed || !strings.Contains(strings.Join(got, " "), text) {
		p.t.Errorf("%s %q lacks %q", name, got, text)
	}
}

// pose is the true pose of a robot or a thing.
func (p *player3) pose(name string) simulation.Mover {
	p.t.Helper()
	m, ok := p.truth.Mover(name)
	if !ok {
		p.t.Fatalf("the world has no %s", name)
	}
	return m
}

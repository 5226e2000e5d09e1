package stage

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"player/codec"
	"player/devices/stage/floor"
	"player/e2e/must"
)

// see returns the blobs that the first robot's camera sees now.
func see(w *World) *codec.VisionData {
	var v codec.VisionData
	w.robots[0].drawChannels(w.tracker.pixels)
	w.tracker.find(&v)
	return &v
}

// aim points the camera without delay.
func aim(r *Robot, pan, tilt, zoom float64) {
	r.cameras[0].head = head{pan: pan, tilt: tilt, zoom: zoom, wantPan: pan, wantTilt: tilt, wantZoom: zoom}
}

// A box of known size at a known place has its blob where a pinhole camera
// shows it. The lens is at (0.08, 0), 0.45 m above the floor.
func TestBlobIsWhereThePinholeShowsIt(t *testing.T) {
	for _, tt := range []struct {
		name            string
		box             string
		pan, tilt, zoom float64
		left, right     float64 // slopes of the box's sides: left over ahead
		top, bottom     float64 // slopes of its ends: up over ahead
	}{
		{"ahead", "pose [2.58 0 0 0] size [1 0.4 0.45]", 0, 0, 0, 0.1, -0.1, 0, -0.225},
		{"on the left", "pose [2.58 0.4 0 0] size [1 0.4 0.45]", 0, 0, 0, 0.3, 0.0666, 0, -0.225},
		{"zoomed", "pose [2.58 0 0 0] size [1 0.1 0.475]", 0, 0, 1023, 0.025, -0.025, 0.0125, -9},
		{"above the horizon", "pose [2.58 0 0.65 0] size [1 0.4 0.1]", 0, 0, 0, 0.1, -0.1, 0.15, 0.2 / 3},
		{"panned to it", "pose [0.08 -2.5 0 0] size [0.4 1 0.45]", -90, 0, 0, 0.1, -0.1, 0, -0.225},
		{"tilted down", "pose [2.58 0 0 0] size [1 0.2 0.2]", 0, -10, 0, 0.05, -0.05, -0.25 / 3, -0.225},
	} {
		w, r := robotIn(t, robotWorld+`pioneer_full ( ) model ( color "blue" `+tt.box+` )`)
		aim(r, tt.pan, tt.tilt, tt.zoom)
		v := see(w)
		blobs := v.Channel(2)
		if len(v.Blobs) != 1 || len(blobs) != 1 {
			t.Errorf("%s: blobs %+v", tt.name, v)
			continue
		}
		focal := 80 / math.Tan(r.cameras[0].head.fov()/2)
		tilted := func(slope float64) float64 { return math.Tan(math.Atan(slope) - floor.Radians(tt.tilt)) }
		want := [4]float64{
			max(0, 80-focal*tt.left), min(160, 80-focal*tt.right) - 1,
			max(0, 60-focal*tilted(tt.top)), min(120, 60-focal*tilted(tt.bottom)) - 1,
		}
		b := blobs[0]
		for i, got := range [4]int{b.Left, b.Right, b.Top, b.Bottom} {
			if math.Abs(float64(got)-want[i]) > 1.1 {
				t.Errorf("%s: [left right top bottom] = [%d %d %d %d], want %.1f", tt.name, b.Left, b.Right, b.Top, b.Bottom, want)
				break
			}
		}
		if area := (b.Right - b.Left + 1) * (b.Bottom - b.Top + 1); b.Area > area || b.Area < area*7/10 {
			t.Errorf("%s: area %d in a box of %d", tt.name, b.Area, area)
		}
		if b.X < (b.Left+b.Right)/2-6 || b.X > (b.Left+b.Right)/2+6 || b.Y < b.Top || b.Y > b.Bottom {
			t.Errorf("%s: centre (%d,%d) of %+v", tt.name, b.X, b.Y, b)
		}
	}
}

func TestOcclusion(t *testing.T) {
	const post = `post ( color "blue" pose [3 0 0 0] )` + "\n" // 0.6 m high
	plan := `model ( color "gray" pose [1.5 0 0 0] fit "picture" bitmap "` + writePNG(t, "  #  ", "  #  ", "  #  ", "  #  ") + `" `
	for _, tt := range []struct {
		name, hides string
		blobs       int
	}{
		{"nothing between", ``, 1},
		{"a wall", `wall ( pose [2 0 0 90] size [2 0.1 1] )`, 0},
		{"a wall behind", `wall ( pose [4 0 0 90] size [2 0.1 1] )`, 1},
		{"a low wall", `wall ( pose [2 0 0 90] size [2 0.1 0.3] )`, 1},
		{"a bridge", `wall ( pose [2 0 1 90] size [2 0.1 1] )`, 1},
		{"a pole in the middle", `wall ( pose [2 0 0 90] size [0.04 0.04 2] )`, 2},
		{"a robot", `pioneer2dx ( pose [2 0 0 90] size [0.44 0.8 1] )`, 0},
		{"a floor plan", plan + `size [5 4 1] )`, 0},
		{"a low floor plan", plan + `size [5 4 0.3] )`, 1},
		{"what the laser does not see", `wall ( pose [2 0 0 90] size [2 0.1 1] ranger_return -1 )`, 0},
	} {
		w := newWorld(t, robotWorld+`pioneer_full ( )`+"\n"+post+tt.hides)
		if v := see(w); len(v.Channel(2)) != tt.blobs {
			t.Errorf("%s: %+v", tt.name, v)
		}
	}
}

func TestChannels(t *testing.T) {
	for _, tt := range []struct {
		model, camera string
		channel       int // -1: none
	}{
		{`color "red"`, "", 0}, {`color "yellow"`, "", 3}, {`color "gray"`, "", -1},
		{`color "gray" channel 17`, "", 17}, {`color "red" blob_return 0`, "", -1},
		{`color "white" light 1`, "", 31}, {`color_rgba [0 1 0 1]`, "", 1},
		{`color "green"`, `colors ["blue" "green"]`, 1}, {`color "red"`, `colors ["blue" "green"]`, -1},
		{`color "green"`, `colors ["blue" "#00ff00"] colors_count 2`, 1},
		{`color "black"`, `colors ["blue" "black"]`, 1}, {`color "black" blob_return 0`, `colors ["blue" "black"]`, -1},
		{`color "red"`, `range 1`, -1},
	} {
		w := newWorld(t, robotWorld+"pioneer2dx ( camera ( "+tt.camera+" ) )\nmodel ( pose [3 0 0 0] size [0.5 0.5 1]\n"+tt.model+"\n)")
		v, want := see(w), -1
		for channel := range v.Count {
			if v.Count[channel] > 0 {
				want = channel
			}
		}
		if want != tt.channel {
			t.Errorf("%s, camera %s: channel %d, want %d", tt.model, tt.camera, want, tt.channel)
		}
	}
}

// The light above a low wall is seen, and the wall hides things behind it.
func TestLightOverALowWall(t *testing.T) {
	w := newWorld(t, robotWorld+`pioneer_full ( ) wall ( pose [2 0 0 90] size [3 0.1 0.4] )
model ( light 1 pose [4 0.5 0.5 0] size [0.3 0.3 1] ) puck ( pose [3 0 0 0] )`)
	v := see(w)
	if len(v.Channel(LightChannel)) != 1 || len(v.Blobs) != 1 {
		t.Fatalf("%+v", v)
	}
	if x := v.Blobs[0].X; x >= 80 || x < 40 {
		t.Errorf("the light on the left is at column %d", x)
	}
}

func TestRobotSeesNeitherItselfNorBehind(t *testing.T) {
	w := newWorld(t, robotWorld+`pioneer_full ( ) post ( color "blue" pose [-2 0 0 0] )`)
	for _, tilt := range []float64{-25, 0, 25} {
		if aim(w.robots[0], 0, tilt, 0); len(see(w).Blobs) != 0 {
			t.Errorf("tilt %v: %+v", tilt, see(w).Blobs)
		}
	}
}

func TestAtMostTenBlobsAChannelLargestFirst(t *testing.T) {
	text := robotWorld + "pioneer_full ( )\n"
	for i := range 12 {
		text += "wall ( color \"green\" size [0.1 0." + string(rune('1'+i%5)) + " 0.4] pose [6 " +
			[]string{"-2.5", "-2", "-1.6", "-1.2", "-0.8", "-0.4", "0", "0.4", "0.8", "1.2", "1.6", "2"}[i] + " 0 0] )\n"
	}
	blobs := see(newWorld(t, text)).Channel(1)
	if len(blobs) != codec.MaxBlobs {
		t.Fatalf("%d blobs", len(blobs))
	}
	if !slices.IsSortedFunc(blobs, func(a, b codec.Blob) int { return b.Area - a.Area }) {
		t.Errorf("not the largest first: %+v", blobs)
	}
}

// The blobs of random images equal the blobs of a flood fill.
func TestBlobsAreConnectedPatches(t *testing.T) {
	random := rand.New(rand.NewPCG(13, 14))
	tr := newTracker()
	for range 30 {
		density := 1 + random.IntN(6)
		for i := range tr.pixels.paint {
			if tr.pixels.paint[i] = -1; random.IntN(8) < density {
				tr.pixels.paint[i] = int8(random.IntN(2))
			}
		}
		var got codec.VisionData
		tr.find(&got)
		for channel := range 2 {
			want := floodFill(tr.pixels, int8(channel))
			slices.SortFunc(want, func(a, b codec.Blob) int { return b.Area - a.Area })
			for i, b := range got.Channel(channel) {
				if b.Area != want[i].Area || !slices.Contains(want, b) {
					t.Fatalf("channel %d blob %d is %+v, want area %d", channel, i, b, want[i].Area)
				}
			}
			if len(got.Channel(channel)) != min(len(want), codec.MaxBlobs) {
				t.Fatalf("channel %d: %d blobs of %d", channel, len(got.Channel(channel)), len(want))
			}
		}
	}
}

func floodFill(p *canvas[int8], channel int8) (blobs []codec.Blob) {
	seen := map[int]bool{}
	for start := range p.paint {
		if p.paint[start] != channel || seen[start] {
			continue
		}
		b := codec.Blob{Left: imageWidth, Top: imageHeight}
		sumX, sumY := 0, 0
		todo := []int{start}
		seen[start] = true
		for len(todo) > 0 {
			i := todo[len(todo)-1]
			todo = todo[:len(todo)-1]
			x, y := i%imageWidth, i/imageWidth
			b.Area++
			sumX, sumY = sumX+x, sumY+y
			b.Left, b.Right, b.Top, b.Bottom = min(b.Left, x), max(b.Right, x), min(b.Top, y), max(b.Bottom, y)
			for _, n := range [][2]int{{x - 1, y}, {x + 1, y}, {x, y - 1}, {x, y + 1}} {
				k := n[1]*imageWidth + n[0]
				if n[0] >= 0 && n[0] < imageWidth && n[1] >= 0 && n[1] < imageHeight && p.paint[k] == channel && !seen[k] {
					seen[k] = true
					todo = append(todo, k)
				}
			}
		}
		b.X, b.Y = (sumX+b.Area/2)/b.Area, (sumY+b.Area/2)/b.Area
		blobs = append(blobs, b)
	}
	return blobs
}

// The head slews at the rates of the real one, and stops at its target or at
// its limits.
func TestHeadSlews(t *testing.T) {
	w, r := robotIn(t, robotWorld+`pioneer_full ( )`)
	r.cameras[0].head.command(codec.PTZCommand{Pan: 120, Tilt: -40, Zoom: 1023})
	var z codec.PTZData
	w.Step(steps(250 * time.Millisecond))
	if r.cameras[0].head.read(&z); z.Pan != 20 || z.Tilt != -13 && z.Tilt != -12 || z.Zoom != 128 {
		t.Errorf("after 0.25 s: %+v", z)
	}
	w.Step(steps(time.Second))
	if r.cameras[0].head.read(&z); z.Pan != 100 || z.Tilt != -25 {
		t.Errorf("at the limits: %+v", z)
	}
	w.Step(steps(time.Second))
	if r.cameras[0].head.read(&z); z != (codec.PTZData{Pan: 100, Tilt: -25, Zoom: 1023}) {
		t.Errorf("at the limits: %+v", z)
	}
	if fov := r.cameras[0].head.fov() * 180 / math.Pi; !near(fov, 4.4, 1e-9) {
		t.Errorf("zoomed in it sees %v degrees", fov)
	}
	r.cameras[0].head.command(codec.PTZCommand{Pan: -3, Tilt: 4, Zoom: -5})
	w.Step(steps(3 * time.Second))
	if r.cameras[0].head.read(&z); z != (codec.PTZData{Pan: -3, Tilt: 4}) {
		t.Errorf("commanded -3, 4, -5: %+v", z)
	}
	if fov := r.cameras[0].head.fov() * 180 / math.Pi; !near(fov, 48.8, 1e-9) {
		t.Errorf("zoomed out it sees %v degrees", fov)
	}
}

// The head goes home when its last client has left, whether others have the robot open or
// not, and does not move when it is opened.
func TestHeadGoesHome(t *testing.T) {
	w := loadRoom(t)
	b := newBench(t, w)
	r := w.robots[0]
	aim := func() {
		b.open(t, 0, "z")
		c := codec.PTZCommand{Pan: 40, Tilt: 10, Zoom: 500}
		b.command(0, codec.PTZ, c.Append(nil))
		b.run(2 * time.Second)
		if r.cameras[0].head.pan != 40 || r.cameras[0].head.tilt != 10 || r.cameras[0].head.zoom != 500 {
			t.Fatalf("the head is at %+v", r.cameras[0].head)
		}
	}
	b.open(t, 0, "p")
	aim()
	b.close(0, "z")
	b.run(2 * time.Second)
	if r.cameras[0].head != (head{}) {
		t.Errorf("with the robot open: the head is at %+v", r.cameras[0].head)
	}
	b.close(0, "p")
	aim()
	b.close(0, "z")
	b.open(t, 0, "z")
	b.run(time.Second)
	if r.cameras[0].head != (head{}) {
		t.Errorf("with the robot closed: the head is at %+v", r.cameras[0].head)
	}
}

// The scene of the subsumption experiments has the required properties: the
// light is seen above the low wall, the sonars detect the wall, no range
// sensor detects the hassock.
func TestSubsumptionScene(t *testing.T) {
	w := must.Get(Load("../../simulation/worlds/subsumption.world"))(t)
	r := w.robots[0]
	aim(r, 43, 0, 0)
	if lights := see(w).Channel(LightChannel); len(lights) != 1 || math.Abs(float64(lights[0].X)-80) > 10 {
		t.Errorf("the light from the start: %v", lights)
	}
	aim(r, 0, 0, 0)
	r.body.place(Pose{X: 2.2, Y: 2.0, Heading: floor.Radians(42)})
	if lights, ranges := see(w).Channel(LightChannel), r.readSonars(); len(lights) != 1 || ranges[1] > 500 {
		t.Errorf("at the wall: the light %v, sonars %v", lights, ranges)
	}
	r.body.place(Pose{X: 4.2, Y: 2.6, Heading: math.Pi / 2})
	if sonar, laser := r.readSonars()[3], r.readLaser()[180]; sonar < 2000 || laser < 2000 {
		t.Errorf("before the hassock: sonar %d, laser %d", sonar, laser)
	}
	r.drive.command(300, 0)
	if w.Step(200); !r.stalled() {
		t.Error("the hassock is not solid")
	}
}

func BenchmarkCamera(b *testing.B) {
	w := loadRoom(b)
	var v codec.VisionData
	for b.Loop() {
		w.robots[0].drawChannels(w.tracker.pixels)
		w.tracker.find(&v)
	}
}

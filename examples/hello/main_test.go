package main

import (
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"go.uber.org/zap"

	"player/codec"
	"player/devices"
	"player/devices/stage"
	"player/e2e/acceptance"
	"player/e2e/needs"
)

// host is a server for one robot. Its clock jumps from deadline to deadline.
type host struct {
	devices.Host // nil: simulated robots open no ports
	at           time.Duration
}

func (h *host) WakeAt(_ *devices.Link, at time.Duration)                { h.at = at }
func (h *host) SetupDone(_ time.Duration, _ *devices.Device, err error) {}

// In four simulated minutes (twenty at night), in any world of ours, the robot never stands still for two, whichever it
// is. Of a crowd, whose robots are alike, it drives the first. Worlds in step
// are left out: their time waits for programs of their own.
func TestHelloDrivesOn(t *testing.T) {
	needs.Time(t)
	const crowd = 8 // robots and cameras
	worlds, err := filepath.Glob("../../simulation/worlds/*.world")
	if err != nil || len(worlds) == 0 {
		t.Fatal(worlds, err)
	}
	for _, path := range append(worlds, "../scenario/building.world") {
		world, err := stage.Load(path)
		if err != nil {
			t.Fatal(err)
		}
		robots := world.Instances()
		if len(robots) > crowd {
			robots = robots[:1]
		}
		for i, robot := range robots {
			if !slices.ContainsFunc(robot.Provides, func(s devices.Spec) bool { return s.Letter == codec.Sonar }) {
				continue
			}
			t.Run(filepath.Base(path)+" "+strconv.Itoa(i), func(t *testing.T) {
				t.Parallel()
				drivesOn(t, path, i)
			})
		}
	}
}

// drivesOn has hello drive one robot of a world, of which all others stand.
func drivesOn(t *testing.T, path string, i int) {
	world, err := stage.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	h := &host{}
	table := devices.NewTable(zap.NewNop())
	if _, err := table.Attach(world.Instances()[i]); err != nil {
		t.Fatal(err)
	}
	table.Connect(h)
	now := time.Second
	for _, letter := range []byte("sp") {
		if pending, err := table.Device(letter).Subscribe(now, h); pending || err != nil {
			t.Fatalf("device %c: pending %v, error %v", letter, pending, err)
		}
	}
	world.SetSpeed(now, 1)
	var robot hello
	var sonar codec.SonarData
	var position codec.PositionData
	const patience = 2 * 60 * 10
	rounds := acceptance.Rounds(4, 20) * 60 * 10
	stood, at := 0, world.Robots()[i].Pose()
	for round := range rounds {
		for end := time.Second + time.Duration(round+1)*100*time.Millisecond; h.at <= end; {
			now = max(h.at, now+1)
			h.at = math.MaxInt64
			if next := table.Links()[0].Wake(now); next != 0 {
				h.at = min(h.at, next)
			}
		}
		if err := sonar.Decode(table.Device('s').Data()); err != nil {
			t.Fatal(err)
		}
		if err := position.Decode(table.Device('p').Data()); err != nil {
			t.Fatal(err)
		}
		speed, turn := robot.steer(sonar, position.Stall != 0)
		table.Device('p').SetCommand(now, codec.PositionCommand{Speed: int16(speed), TurnRate: int16(turn)}.Append(nil))
		next := world.Robots()[i].Pose()
		if stood++; math.Hypot(next.X-at.X, next.Y-at.Y) > 0.1 {
			stood, at = 0, next
		}
		if stood > patience {
			t.Fatalf("it stands still at %v since minute %d", at, (round-stood)/600)
		}
	}
}

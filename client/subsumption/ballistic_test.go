package subsumption

import (
	"testing"
	"time"
)

func TestBump(t *testing.T) {
	left, right, rear := scene(bumped(BumpLeft)), scene(bumped(BumpRight)), scene(bumped(BumpRear))
	clear := scene()
	forward, backward := Signals{Command: Command{Speed: 300}}, Signals{Command: Command{Speed: -150}}
	back, ahead := want(-150, 0), want(300, 0)
	turnLeft, turnRight := want(150, 80), want(150, -80)
	for _, c := range []struct {
		name    string
		b       Bump
		moments []moment
	}{
		{"the right bumper, to the end", Bump{}, []moment{
			{0, clear, Signals{}, none},
			{50 * ms, right, Signals{}, back},
			{100 * ms, clear, Signals{}, back},
			{1049 * ms, clear, Signals{}, back},
			{1050 * ms, clear, Signals{}, turnLeft},
			{1549 * ms, clear, Signals{}, turnLeft},
			{1550 * ms, clear, Signals{}, ahead},
			{1799 * ms, clear, Signals{}, ahead},
			{1800 * ms, clear, Signals{}, none},
			{1850 * ms, clear, Signals{}, none},
		}},
		{"the left bumper", Bump{}, []moment{{0, left, Signals{}, back}, {1000 * ms, clear, Signals{}, turnRight}}},
		{"both", Bump{}, []moment{{0, scene(bumped(BumpLeft | BumpRight)), Signals{}, back}, {1000 * ms, clear, Signals{}, turnLeft}}},
		{"from behind", Bump{}, []moment{{0, rear, Signals{}, want(150, 0)}, {1000 * ms, clear, Signals{}, turnLeft}, {1500 * ms, clear, Signals{}, ahead}}},
		{"between two obstacles", Bump{}, []moment{{0, scene(bumped(BumpLeft | BumpRear)), Signals{}, want(-50, -80)}, {1000 * ms, clear, Signals{}, turnRight}}},
		{"a bumper that stays pressed does not start again while it runs", Bump{}, []moment{
			{0, left, Signals{}, back}, {500 * ms, left, Signals{}, back}, {1000 * ms, left, Signals{}, turnRight},
		}},
		{"but at the end", Bump{}, []moment{{0, left, Signals{}, back}, {1750 * ms, left, Signals{}, back}, {2749 * ms, left, Signals{}, back}}},
		{"a new bump aborts and starts again", Bump{}, []moment{
			{0, left, Signals{}, back},
			{100 * ms, clear, Signals{}, back},
			{1100 * ms, clear, Signals{}, turnRight},
			{1200 * ms, right, Signals{}, back},
			{2199 * ms, clear, Signals{}, back},
			{2200 * ms, clear, Signals{}, turnLeft},
		}},
		{"hit from behind while it backs up", Bump{}, []moment{
			{0, left, Signals{}, back},
			{500 * ms, rear, Signals{}, want(50, -80)}, // away from the obstacle, in the direction of its turn
			{1000 * ms, clear, Signals{}, want(50, -80)},
			{1200 * ms, right, Signals{}, want(-50, 80)}, // surrounded: the other way
			{2200 * ms, clear, Signals{}, turnLeft},
		}},
		{"hit from the front while it goes forward", Bump{}, []moment{{0, rear, Signals{}, want(150, 0)}, {500 * ms, left, Signals{}, want(-50, -80)}}},
		{"a bump after the first part is a new one", Bump{}, []moment{{0, left, Signals{}, back}, {1000 * ms, clear, Signals{}, turnRight}, {1100 * ms, rear, Signals{}, want(150, 0)}}},
		{"subsumed, it aborts", Bump{}, []moment{{0, left, Signals{}, back}, {50 * ms, clear, subsumed, none}, {100 * ms, clear, Signals{}, none}}},
		{"subsumed, a new bump counts", Bump{}, []moment{{0, left, Signals{}, back}, {50 * ms, right, subsumed, back}}},
		{"blocked wheels, forward", Bump{}, []moment{
			{0, scene(stalled), forward, back},
			{50 * ms, scene(stalled), backward, back}, // the report of a stall lasts longer than the stall
			{100 * ms, clear, backward, back},
			{150 * ms, scene(stalled), backward, want(50, 80)},
		}},
		{"a stall that outlasts its bump is not another one", Bump{}, []moment{
			{0, scene(stalled, bumped(BumpLeft)), forward, back},
			{50 * ms, scene(stalled), backward, back},
			{1000 * ms, clear, backward, turnRight},
		}},
		{"blocked wheels, backward", Bump{}, []moment{{0, scene(stalled), backward, want(150, 0)}}},
		{"blocked wheels with a pressed bumper are one bump", Bump{}, []moment{{0, scene(stalled, bumped(BumpLeft)), forward, back}, {1000 * ms, clear, forward, turnRight}}},
		{"a long pause ends it", Bump{}, []moment{{0, left, Signals{}, back}, {time.Minute, clear, Signals{}, none}}},
		{"parameters", Bump{Speed: 200, Turn: 30, Back: 100 * ms, Swing: 200 * ms, Forward: 300 * ms}, []moment{
			{0, left, Signals{}, want(-100, 0)},
			{100 * ms, clear, Signals{}, want(100, -30)},
			{300 * ms, clear, Signals{}, want(200, 0)},
			{600 * ms, clear, Signals{}, none},
		}},
	} {
		t.Run(c.name, func(t *testing.T) { play(t, &c.b, c.moments) })
	}
}

func TestEscape(t *testing.T) {
	going := Signals{Command: Command{Speed: 300}}
	backing := Signals{Command: Command{Speed: -150}}
	turning := Signals{Command: Command{Turn: 80}}
	here, there := scene(at(100, 0, 0)), scene(at(100, 250, 0))
	wallLeft := scene(at(100, 0, 0), thing(0, 300))
	back, swing, drive := want(-150, 0), want(0, 80), want(150, 0)
	for _, c := range []struct {
		name    string
		e       Escape
		moments []moment
	}{
		{"caught for six seconds", Escape{}, []moment{
			{0, here, going, none},
			{5999 * ms, here, going, none},
			{6000 * ms, here, going, back},
			{6999 * ms, here, backing, back},
			{7000 * ms, here, backing, swing},
			{8499 * ms, here, turning, swing},
			{8500 * ms, here, turning, drive},
			{9499 * ms, here, going, drive},
			{9500 * ms, there, going, none},
		}},
		{"turns away from the wall", Escape{}, []moment{{0, here, going, none}, {6000 * ms, wallLeft, going, back}, {7000 * ms, wallLeft, backing, want(0, -80)}}},
		{"it gets away", Escape{}, []moment{{0, here, going, none}, {3000 * ms, there, going, none}, {6000 * ms, there, going, none}, {9000 * ms, there, going, back}}},
		{"it is meant to stand", Escape{}, []moment{{0, here, going, none}, {3000 * ms, here, Signals{}, none}, {6000 * ms, here, going, none}, {9000 * ms, here, going, back}}},
		{"it wants to turn and cannot", Escape{}, []moment{{0, here, turning, none}, {6000 * ms, scene(at(100, 0, 119)), turning, back}}},
		{"it has turned, not much, from where it looked", Escape{}, []moment{{0, scene(at(100, 0, 200)), turning, none}, {6000 * ms, scene(at(100, 0, 90)), turning, back}}},
		{"it turns round", Escape{}, []moment{{0, here, turning, none}, {3000 * ms, scene(at(100, 0, 240)), turning, none}, {6000 * ms, scene(at(100, 0, 0)), turning, none}}},
		{"a bump while it backs up ends that", Escape{}, []moment{
			{0, here, going, none}, {6000 * ms, here, going, back},
			{6100 * ms, scene(bumped(BumpRear)), backing, want(50, 80)}, // while it turns, its corners need room
			{7599 * ms, here, turning, want(50, 80)},
			{7600 * ms, here, turning, drive},
			{7700 * ms, scene(stalled), going, none},
		}},
		{"a bump while it turns does not", Escape{}, []moment{
			{0, here, going, none}, {6000 * ms, here, going, back}, {7000 * ms, here, backing, swing},
			{7100 * ms, scene(bumped(BumpLeft)), turning, swing},
		}},
		{"subsumed, it aborts", Escape{}, []moment{{0, here, going, none}, {6000 * ms, here, going, back}, {6050 * ms, here, Signals{Subsumed: true, Command: Command{Speed: 1}}, none}}},
		{"caught again", Escape{}, []moment{
			{0, here, going, none}, {6000 * ms, here, going, back}, {9500 * ms, here, going, none},
			{12049 * ms, here, going, none}, {15500 * ms, here, going, back},
		}},
		{"parameters", Escape{Speed: 200, Turn: 50, Back: 10 * ms, Swing: 20 * ms, Forward: 30 * ms, Patience: time.Second, Progress: 300}, []moment{
			{0, here, going, none}, {500 * ms, there, going, none}, {1000 * ms, there, going, want(-100, 0)},
			{1010 * ms, here, backing, want(0, 50)}, {1030 * ms, here, turning, want(100, 0)}, {1060 * ms, here, going, none},
		}},
	} {
		t.Run(c.name, func(t *testing.T) { play(t, &c.e, c.moments) })
	}
}

package lines

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

// A wheel's distances, from a board that counts with 16 bits, with 32, or without limit: the
// steps add up to the true distance although lines are delayed, come together and get lost,
// and although the board restarts.
func TestTurning(t *testing.T) {
	const (
		period = 50 * time.Millisecond
		unit   = 0.45 // mm
	)
	for name, print := range map[string]func(counts int) float64{
		"16 bits": func(n int) float64 { return float64(int16(n)) }, "unsigned 16 bits": func(n int) float64 { return float64(uint16(n)) },
		"32 bits": func(n int) float64 { return float64(int32(n)) }, "without end": func(n int) float64 { return float64(n) },
	} {
		for seed := range uint64(100) {
			rnd := rand.New(rand.NewPCG(seed, 0))
			var (
				c                  turning
				way, speed, before [2]float64 // mm, mm/s
				sum, true          [2]float64 // mm
				late               [][2]float64
				until              time.Duration
				restarts, detected int
			)
			first := [...]int{0, 32000, 65000, math.MaxInt32 - 2000, -32000}[rnd.IntN(5)]
			way = [2]float64{unit * float64(first), unit * float64(first)}
			line := func() [2]float64 {
				return [2]float64{unit * print(int(math.Round(way[0]/unit))), unit * print(int(math.Round(way[1]/unit)))}
			}
			c.begin(time.Second, line())
			for n := 1; n <= 2000; n++ {
				now := time.Second + time.Duration(n)*period
				if end := n > 1950; end {
					speed = [2]float64{}
				} else if rnd.IntN(50) == 0 {
					speed = [2]float64{float64(rnd.IntN(1001) - 500), float64(rnd.IntN(1001) - 500)}
				}
				c.command(now, speed)
				for i := range way {
					way[i] += speed[i] * period.Seconds()
					true[i] += speed[i] * period.Seconds()
				}
				if far := max(math.Abs(way[0]), math.Abs(way[1])); len(late) == 0 && rnd.IntN(300) == 0 && far > 1500 {
					speed, way = [2]float64{}, [2]float64{}
					c.command(now, speed)
					restarts++
				}
				if rnd.IntN(20) != 0 {
					late = append(late, line())
				}
				if until < now && rnd.IntN(40) == 0 {
					until = now + time.Duration(rnd.IntN(900))*time.Millisecond
				}
				if now < until {
					continue
				}
				for _, line := range late {
					steps, restarted := c.update(now, line, [2]float64{unit, unit}, before)
					if restarted {
						detected++
					}
					sum[0], sum[1] = sum[0]+steps[0], sum[1]+steps[1]
				}
				late, before = late[:0], speed
			}
			// A line or two may be lost before a restart.
			limit := 1 + float64(restarts)*500*period.Seconds()*2
			if d := max(math.Abs(sum[0]-true[0]), math.Abs(sum[1]-true[1])); d > limit || detected != restarts {
				t.Errorf("%s, seed %d: the steps add up to %.0f mm, the way is %.0f mm, %d restarts, %d detected", name, seed, sum, true, restarts, detected)
			}
		}
	}
}

// A line is held back while the robot drives on, because the newest command is lost: its way is no restart.
func TestTurningBehindALostCommand(t *testing.T) {
	const ms = time.Millisecond
	var c turning
	unit := [2]float64{1, 1}
	c.begin(0, [2]float64{80, 150})
	c.command(10*ms, [2]float64{-250, -310})
	c.command(450*ms, [2]float64{65, -25}) // is lost
	for _, line := range []struct {
		at    time.Duration
		way   [2]float64
		steps [2]float64
	}{
		{515 * ms, [2]float64{62, 131}, [2]float64{-18, -19}}, // of 60 ms
		{577 * ms, [2]float64{-66, -29}, [2]float64{-128, -160}},
	} {
		steps, restarted := c.update(line.at, line.way, unit, [2]float64{})
		if restarted || steps != line.steps {
			t.Errorf("at %v the wheels have driven %v mm, want %v; restarted: %v", line.at, steps, line.steps, restarted)
		}
	}
}

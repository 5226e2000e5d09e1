package transporttest_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"player/codec"
	"player/devices/transport/transporttest"
	"player/devices/wheels"
	"player/e2e/must"
	"player/simulation/emulator/line"
)

// pause lets time pass as in a program that is paused: the hardware goes on, and its bytes come together afterwards, as far
// as the kernel has kept them.
func (r *rig) pause(d time.Duration) {
	r.paused, r.kept = true, nil
	for range d / ms {
		r.Skip(ms)
		r.clock.Advance(r.Now())
	}
	r.paused = false
	const room = 4095 // of N_TTY
	r.Port().Say(r.kept[:min(len(r.kept), room)])
	r.Pass(0)
}

// TestPauses: after a pause of the program, data comes again and the wheels obey at once, the pose is right or the log says
// once that a movement is missing, and no log line says that the robot has switched its motors off or was restarted.
func TestPauses(t *testing.T) {
	for _, p := range []product{createProduct(), kobukiProduct()} {
		for _, length := range []time.Duration{time.Second, 5 * time.Second, 12 * time.Second, 63 * time.Second} {
			for _, before := range []time.Duration{0, 60 * time.Second} {
				t.Run(fmt.Sprint(p.kind.Name, " ", length, " after ", before), func(t *testing.T) {
					r := newRig(t, p, line.Options{Latency: 60 * ms})
					r.connect()
					r.Pass(before)
					must.Do(t, r.Client.Configure(r.Now(), []byte{codec.ConfigMotors, 0}))
					r.Pass(500 * ms)
					must.Do(t, r.Client.Configure(r.Now(), []byte{codec.ConfigMotors, 1}))
					drive := func(speed int16) {
						r.Client.SetCommand(r.Now(), codec.PositionCommand{Speed: speed}.Append(nil))
					}
					reset := func() pose {
						must.Do(t, r.Client.Configure(r.Now(), []byte{codec.ConfigOdometry}))
						return r.hardware.(interface{ now() spot }).now().pose
					}
					from := reset()
					drive(200)
					r.Pass(30 * ms)
					for _, again := range []bool{false, true} { // with motors that were just switched on, and some time later
						r.pause(length)
						drive(0)
						r.Pass(300 * ms)
						if !r.still() || !r.isUp() || r.Client.Age(r.Now()) > 50*ms || r.Client.MotorsOff(r.Now()) {
							t.Fatalf("again %v: still %v, up %v, motors off %v, log %q", again, r.still(), r.isUp(), r.Client.MotorsOff(r.Now()), r.Messages())
						}
						missing, others := 0, 0
						for _, message := range r.Messages() {
							switch {
							case strings.HasSuffix(message, wheels.LogMissing):
								missing++
							case strings.HasPrefix(message, "warn") && !strings.HasSuffix(message, "damaged input"):
								others++
								t.Error(message)
							}
						}
						d := transporttest.Data[codec.PositionData](t, r.Client)
						off := r.hardware.(interface{ now() spot }).now().from(from).x - float64(d.X)
						if right := math.Abs(off) < 10; missing > 1 || !right && missing == 0 || missing > 0 && length < 3*time.Second {
							t.Fatalf("again %v: the pose is wrong by %.0f mm, and %d movements are said to be missing", again, off, missing)
						}
						from = reset()
						drive(200)
						r.Pass(5 * time.Second)
						if d := transporttest.Data[codec.PositionData](t, r.Client); d.Speed < 195 || d.Speed > 205 {
							t.Fatalf("again %v: it goes on at %d mm/s", again, d.Speed)
						}
					}
				})
			}
		}
	}
}

package stage

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"player/codec"
)

// population is 100 moving robots with sonars, ten of them also with lasers.
func population(t testing.TB) *bench {
	text := arena(100, "pioneer2dx")
	w := newWorld(t, strings.Replace(text, "pioneer2dx", "pioneer_full", 10))
	b := newBench(t, w)
	for i := range w.robots {
		letters := "ps"
		if i < 10 {
			letters = "psl"
		}
		b.open(t, i, letters)
		b.drive(i, int16(100+3*i), int16(i%40-20))
	}
	b.run(10 * time.Second)
	return b
}

// One tick of one robot among a hundred: the time for which the server's
// loop is busy.
func BenchmarkTickInPopulation(b *testing.B) {
	p := population(b)
	wakes, start := p.wakes, p.now
	busy := make([]time.Duration, 0, 1<<20)
	runtime.LockOSThread() // to measure processor time: the machine also does other work
	defer runtime.UnlockOSThread()
	for b.Loop() {
		at, _ := p.queue.Next()
		before := threadTime()
		p.run(at - p.now)
		busy = append(busy, threadTime()-before)
	}
	slices.Sort(busy)
	b.ReportMetric(float64(busy[len(busy)*999/1000].Microseconds()), "µs-p99.9")
	b.ReportMetric(float64(busy[len(busy)-1].Microseconds()), "µs-worst")
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(p.wakes-wakes), "ns/wake")
	b.ReportMetric((p.now-start).Seconds()/b.Elapsed().Seconds(), "x-real-time")
}

func threadTime() time.Duration {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t) != nil {
		return 0
	}
	return time.Duration(t.Nano())
}

func BenchmarkTickRoom(b *testing.B) {
	p := benchInRoom(b, allDevices)
	p.drive(0, 100, 30)
	for b.Loop() {
		p.run(publishPeriod)
	}
}

// The cost as a function of the number of robots.
func BenchmarkPopulation(b *testing.B) {
	for _, n := range []int{1, 10, 100, 300} {
		w := newWorld(b, arena(n, "pioneer_full"))
		for i, r := range w.robots {
			r.drive.command(int16(100+i%300), int16(i%40-20))
		}
		w.Step(100)
		r := w.robots[n/2]
		d := NewDriver(w, r)
		b.Run(fmt.Sprintf("%d robots/step", n), func(b *testing.B) {
			for b.Loop() {
				w.Step(1)
			}
		})
		b.Run(fmt.Sprintf("%d robots/sonar", n), func(b *testing.B) {
			for b.Loop() {
				r.scanSonars(w.scanner(r), &d.sonarData)
			}
		})
		b.Run(fmt.Sprintf("%d robots/laser", n), func(b *testing.B) {
			for b.Loop() {
				r.scanLaser(w.scanner(r), 0, &d.lasers[0].data)
			}
		})
		b.Run(fmt.Sprintf("%d robots/camera", n), func(b *testing.B) {
			for b.Loop() {
				r.drawChannels(w.tracker.pixels)
				w.tracker.find(&d.visionData)
			}
		})
	}
}

// Populations that are read completely: each robot drives, and its laser and its
// sonars are read ten times a second, exact and with noise. Every report is made as fast
// as possible. On one processor x-real-time is of processor time, so that other work of
// the machine does not count; on more it is of real time.
func BenchmarkRealTime(b *testing.B) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	all := runtime.GOMAXPROCS(0)
	for _, n := range []int{10, 100, 300, 1000} {
		for _, errors := range []string{"", "noise [0.01 0 0]", "noise [0.01 0.01 0.2]"} {
			for _, letters := range []string{"ps", "psl"} {
				for _, processors := range slices.Compact([]int{1, all}) {
					b.Run(fmt.Sprintf("%d robots/%s/%s/%d processors", n, errors, letters, processors), func(b *testing.B) {
						runtime.GOMAXPROCS(processors)
						p := newBench(b, newWorld(b, "speedup 1000\n"+flawed(n, errors, "")))
						for i := range n {
							p.open(b, i, letters)
							p.drive(i, int16(100+i%300), int16(i%40-20))
						}
						spend := func() { // a report of each robot
							for sim := p.world.sim + publishPeriod; p.world.sim < sim; {
								p.run(publishPeriod / 1000)
							}
						}
						for range 10 {
							spend()
						}
						runtime.LockOSThread()
						defer runtime.UnlockOSThread()
						start, before := p.world.sim, threadTime()
						for b.Loop() {
							spend()
						}
						spent := threadTime() - before
						if processors > 1 {
							spent = b.Elapsed()
						}
						b.ReportMetric((p.world.sim-start).Seconds()/spent.Seconds(), "x-real-time")
					})
				}
			}
		}
	}
}

// The costs of the sonars and of the laser of a robot, one robot after the other, as in a report of all. Robots
// are measured ten at a time, and the least of fifteen rounds counts: a machine that does other work
// changes it little.
func BenchmarkScans(b *testing.B) {
	const group, rounds = 10, 15
	for _, n := range []int{100, 1000} {
		b.Run(fmt.Sprintf("%d robots", n), func(b *testing.B) {
			w := newWorld(b, "speedup 1000\n"+flawed(n, "noise [0.01 0 0]", ""))
			for i, r := range w.robots {
				r.drive.motors = true
				r.drive.command(int16(100+i%300), int16(i%40-20))
			}
			w.Step(200)
			var sonar codec.SonarData
			var laser codec.LaserData
			for b.Loop() { // the measures are below
			}
			for name, scan := range map[string]func(r *Robot){
				"ns-sonars": func(r *Robot) { r.scanSonars(w.scanner(r), &sonar) },
				"ns-laser":  func(r *Robot) { r.scanLaser(w.scanner(r), 0, &laser) },
				"ns-both":   func(r *Robot) { c := w.scanner(r); r.scanSonars(c, &sonar); r.scanLaser(c, 0, &laser) },
			} {
				least := slices.Repeat([]time.Duration{time.Hour}, n/group)
				for range rounds {
					for k := range least {
						start := time.Now()
						for _, r := range w.robots[k*group : (k+1)*group] {
							scan(r)
						}
						least[k] = min(least[k], time.Since(start))
					}
				}
				sum := time.Duration(0)
				for _, d := range least {
					sum += d
				}
				b.ReportMetric(float64(sum.Nanoseconds())/float64(n), name)
			}
		})
	}
}

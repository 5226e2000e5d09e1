package stage

import (
	"math/rand/v2"
	"time"
)

// beginning is a robot's state when the world starts.
type beginning struct {
	drive    drive
	odometry odometry
	battery  battery
	grippers []gripper
	slip     [3]float64 // widths of odom_error
}

// begin notes how the world starts.
func (w *World) begin() {
	for _, b := range w.bodies {
		b.start = b.pose
	}
	for _, r := range w.robots {
		r.start.drive, r.start.odometry, r.start.battery = r.drive, r.odometry, r.battery
		for _, g := range r.grippers {
			r.start.grippers = append(r.start.grippers, *g)
		}
	}
	w.sow(w.seed)
}

// Seed returns the seed of the random numbers.
func (w *World) Seed() uint64 { return w.seed }

// sow seeds all random draws except colours.
func (w *World) sow(seed uint64) {
	w.seed = seed
	for i, r := range w.robots {
		r.noise = newNoise(seed, r.Name)
		if r.start.slip != [3]float64{} {
			r.start.odometry.draw(r.start.slip, rand.New(rand.NewPCG(seed, uint64(i))))
			r.odometry.slip = r.start.odometry.slip
		}
	}
}

// Reset returns the world to its start, with another seed: poses, batteries, odometry, grippers and
// colours, and the simulated time. Clients stay connected, and every robot reports at once.
// With the same seed and the same commands, everything that follows is the same as in a new
// process.
func (w *World) Reset(now time.Duration, seed uint64) {
	w.moved++
	w.unpaint()
	for _, r := range w.robots {
		for i, g := range r.grippers {
			if g.gripped != nil {
				g.drop()
			}
			*g = r.start.grippers[i]
		}
	}
	for _, b := range w.bodies {
		b.place(b.start)
	}
	w.crowd = newCrowd(w.bodies, w.floor()) // with the order of a new one
	w.sow(seed)
	for _, r := range w.robots {
		r.drive, r.odometry, r.battery, r.stalledUntil = r.start.drive, r.start.odometry, r.start.battery, 0
		for _, c := range r.cameras {
			c.head = head{}
		}
	}
	if w.lockstep.need == 0 {
		w.epoch += w.sim // the time that robots report never goes back
	}
	w.sim = 0
	if w.truth != nil {
		w.truth.next = 0
		w.truth.sample(w)
	}
	for _, s := range w.drivers {
		s.due = 0
	}
	w.rebase(now)
	w.rearm(now)
}

package web

import (
	"cmp"
	"context"
	"strings"
	"sync"
	"time"

	"player/codec"
	"player/config/rights"
)

// driveOrder is what a page says on a drive socket: one of these. Orders that a
// commander has not come to yet are merged into one.
type driveOrder struct {
	Drive  *[2]int   `json:"drive"`  // mm/s forward, deg/s counterclockwise
	Look   *[3]int   `json:"look"`   // pan, tilt in deg, zoom (PROTOCOL 5.1)
	Grip   *[2]uint8 `json:"grip"`   // gripper command and argument (PROTOCOL 5.1)
	Motors *bool     `json:"motors"` // power of the motors
	Reset  bool      `json:"reset"`  // of the odometry

	heard time.Time // when the page said Drive
}

// with asks for what either asks for. Where they differ, the newer one counts.
func (o driveOrder) with(newer driveOrder) driveOrder {
	if newer.Drive == nil {
		newer.Drive, newer.heard = o.Drive, o.heard
	}
	newer.Look = cmp.Or(newer.Look, o.Look)
	newer.Grip = cmp.Or(newer.Grip, o.Grip)
	newer.Motors = cmp.Or(newer.Motors, o.Motors)
	newer.Reset = newer.Reset || o.Reset
	return newer
}

// needs is what a page must be allowed for an order.
func (o driveOrder) needs() rights.Set {
	if o.Motors != nil || o.Reset {
		return rights.Write | rights.Config
	}
	return rights.Write
}

// driveReport is what a page is told on a drive socket.
type driveReport struct {
	Held  string `json:"held"`            // devices that it has write access to
	Error string `json:"error,omitempty"` // what an order came to
}

// driver has one robot do what one page says.
type driver struct {
	page                    *page
	report                  report
	wheels, camera, gripper *commander
}

// drive serves one drive socket. When it ends, so do the Player connections,
// each by itself, and the robot's server stops the wheels.
func (s *server) drive(ctx context.Context, p *page) error {
	d := driver{page: p, report: report{news: make(chan struct{}, 1)}}
	d.wheels = newCommander(p, codec.Position, &d.report)
	d.camera = newCommander(p, codec.PTZ, &d.report)
	d.gripper = newCommander(p, codec.Gripper, &d.report)
	return converse(ctx, p, d.order, d.run)
}

// order gives an order to whom it concerns, and waits for nothing. What
// concerns all clients of the microcontroller has no effect while nothing of it
// is open (PROTOCOL 6.6), so that, too, is for the wheels.
func (d *driver) order(_ context.Context, o driveOrder) error {
	if err := d.page.need(o.needs()); err != nil {
		d.report.failed(err)
		return nil
	}
	switch {
	case o.Look != nil:
		d.camera.put(o)
	case o.Grip != nil:
		d.gripper.put(o)
	default:
		d.wheels.put(o)
	}
	return nil
}

// run runs the commanders and tells the page about them, until one of them
// fails. It does not wait for the others: they end with ctx.
func (d *driver) run(ctx context.Context) error {
	ended := make(chan error, 3)
	for _, c := range []*commander{d.wheels, d.camera, d.gripper} {
		go func() { ended <- c.run(ctx) }()
	}
	for {
		select {
		case err := <-ended:
			return err
		case <-d.report.news:
			if err := d.page.tell(ctx, d.report.take()); err != nil {
				return err
			}
		}
	}
}

// report is what the page is to be told next. Commanders write it and do not
// wait: one that waited for the page would not stop the robot.
type report struct {
	mu   sync.Mutex
	next driveReport
	news chan struct{} // room for one
}

// holds reports whether the page has write access to a device.
func (r *report) holds(device byte, held bool) {
	r.change(func(next *driveReport) {
		next.Held = strings.ReplaceAll(next.Held, string(device), "")
		if held {
			next.Held += string(device)
		}
	})
}

// failed reports what an order came to.
func (r *report) failed(err error) {
	r.change(func(next *driveReport) { next.Error = err.Error() })
}

func (r *report) change(fn func(next *driveReport)) {
	r.mu.Lock()
	fn(&r.next)
	r.mu.Unlock()
	select {
	case r.news <- struct{}{}:
	default: // whoever takes the report finds this, too
	}
}

// take returns the report. An error is reported once.
func (r *report) take() driveReport {
	r.mu.Lock()
	defer r.mu.Unlock()
	taken := r.next
	r.next.Error = ""
	return taken
}

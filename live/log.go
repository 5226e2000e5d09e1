package live

import (
	"context"
	"time"

	"player/foxglove"
	"player/status"
)

const (
	// logPeriod is how often a viewer that shows the log is sent new lines.
	logPeriod = 500 * time.Millisecond
	// controlPeriod is how often a viewer that shows who drives is told so. Each time wakes
	// the loop.
	controlPeriod = 500 * time.Millisecond
)

// sendLog hands the lines that are kept to the outbox, and then the new ones.
func (v *viewer) sendLog(ctx context.Context, channel uint32) error {
	last := uint64(0)
	return every(ctx, logPeriod, func() error {
		var lines [][]byte
		lines, last = v.server.config.Recent(last)
		for _, line := range lines {
			if content, at, err := foxglove.ParseLogLine(line); err == nil {
				v.Outbox.Put(channel, "", at, content)
			}
		}
		return nil
	})
}

// every calls fn at once and then in each period, until ctx ends or fn fails.
func every(ctx context.Context, period time.Duration, fn func() error) error {
	ticker := time.NewTicker(period)
	defer ticker.Stop()
	for {
		if err := fn(); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}

// sendControl hands who drives a robot to the outbox, again and again: a viewer that plays
// a minute back finds it there.
func (v *viewer) sendControl(ctx context.Context, channel uint32, port int) error {
	_ = every(ctx, controlPeriod, func() error {
		now, err := v.server.config.Status(ctx)
		if err != nil {
			return err // the viewer has gone, or the server ends
		}
		at := time.Now().UnixNano()
		v.Outbox.Put(channel, "", at, controlOf(now, port, at))
		return nil
	})
	return nil
}

// controlOf returns who drives the robot at a port.
func controlOf(now status.Status, port int, at int64) foxglove.Control {
	c := foxglove.NewControl(at)
	for _, r := range now.Robots {
		if r.Port != port {
			continue
		}
		c.Stopped = r.Stopped
		for _, client := range r.Clients {
			if r.Commander != nil && client.Address == *r.Commander {
				c.Address, c.Driver = client.Address.String(), client.Name
			}
		}
	}
	return c
}

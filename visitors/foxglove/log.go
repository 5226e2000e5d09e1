package foxglove

import (
	"context"
	"sync"
	"time"

	"player/formats/telemetry"
	"player/server/status"
	"player/visitors"
)

const (
	// logPeriod is how often a viewer that shows the log is sent new lines.
	logPeriod = 500 * time.Millisecond
	// controlPeriod is how often a viewer of the control topic gets the status.
	controlPeriod = 500 * time.Millisecond
	// statusAge is the highest age of a status that viewers get: half of the period. So all viewers together wake the
	// loop at most four times a second, although their periods begin at different moments.
	statusAge = controlPeriod / 2
)

// statuses has the robots' server's last status. A status lists all robots and clients, so
// it is made once for all viewers and topics.
type statuses struct {
	mu  sync.Mutex
	at  time.Time // of now
	now *status.Status
}

// status returns the newest status, and when it was made. It is not changed any more.
func (s *server) status(ctx context.Context) (*status.Status, time.Time, error) {
	n := &s.statuses
	n.mu.Lock()
	defer n.mu.Unlock()
	if time.Since(n.at) < statusAge {
		return n.now, n.at, nil
	}
	now, err := s.config.Status(ctx)
	if err != nil {
		return nil, time.Time{}, err
	}
	n.now, n.at = now, time.Now()
	return n.now, n.at, nil
}

// sendLog hands the lines that are kept to the outbox, and then the new ones.
func (v *viewer) sendLog(ctx context.Context, channel uint32) error {
	last := uint64(0)
	return visitors.Every(ctx, logPeriod, func() error {
		var lines [][]byte
		lines, last = v.server.config.Recent(last)
		for _, line := range lines {
			if content, at, err := telemetry.ParseLogLine(line); err == nil {
				v.Outbox.Put(channel, "", at, content)
			}
		}
		return nil
	})
}

// sendControl queues the driving client of a robot in the outbox in each period, also
// without a change: a viewer that plays back a minute of data finds it there.
func (v *viewer) sendControl(ctx context.Context, channel uint32, port int) error {
	_ = visitors.Every(ctx, controlPeriod, func() error {
		now, made, err := v.server.status(ctx)
		if err != nil {
			return err // the viewer has gone, or the server ends
		}
		at := made.UnixNano()
		v.Outbox.Put(channel, "", at, controlOf(now, port, at))
		return nil
	})
	return nil
}

func controlOf(now *status.Status, port int, at int64) telemetry.Control {
	c := telemetry.NewControl(at)
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

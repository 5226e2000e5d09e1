package live

import (
	"context"
	"time"

	"player/foxglove"
)

// logPeriod is how often a viewer that shows the log is sent new lines.
const logPeriod = 500 * time.Millisecond

// watchLog starts or stops to send the server's log.
func (v *viewer) watchLog(on bool) {
	switch {
	case on && v.stopLog == nil:
		ctx, stop := context.WithCancel(v.ctx)
		v.stopLog = stop
		v.start(func(context.Context) error { return v.sendLog(ctx) })
	case !on && v.stopLog != nil:
		v.stopLog()
		v.stopLog = nil
	}
}

// sendLog hands the lines that are kept to the outbox, and then the new ones.
func (v *viewer) sendLog(ctx context.Context) error {
	ticker := time.NewTicker(logPeriod)
	defer ticker.Stop()
	channel := uint32(v.server.topics[logTopic] + 1)
	for last := uint64(0); ; {
		var lines [][]byte
		lines, last = v.server.config.Recent(last)
		for _, line := range lines {
			if content, at, err := foxglove.ParseLogLine(line); err == nil {
				v.outbox.Put(channel, "", at, content)
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}

package foxglove

import (
	"time"

	"player/formats/telemetry"
	"player/visitors"
)

// newFeed returns the feed of a robot, which passes new data to the outbox. Data of a replayed log has the times
// of the log.
func (v *viewer) newFeed(robot Robot) *visitors.Feed {
	converter := robot.converter()
	return v.Feed(robot.Robot, converter.Describe, func(news []visitors.News) error {
		now, speed := time.Now().UnixNano(), 1.0
		if robot.replay != nil {
			p, err := v.playback(robot.replay)
			if err != nil {
				return err
			}
			now, speed = p.Time, p.Speed
		}
		for _, n := range news {
			if !n.Known {
				continue // the device has no data
			}
			at := now - int64(float64(n.Age)*speed)
			for _, m := range converter.Data(robot.Device(n.Device), at, n.Payload) {
				if channel, offered := v.server.topics[converter.Topics()[m.Topic].Name]; offered {
					v.Outbox.Put(uint32(channel+1), telemetry.Frame(m.Content), at, m.Content)
				}
			}
		}
		return nil
	})
}

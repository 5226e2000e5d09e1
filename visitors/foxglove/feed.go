package foxglove

import (
	"strings"
	"time"

	"player/formats/foxglove"
	"player/visitors"
)

// feed is what a viewer watches of a robot.
type feed struct {
	*visitors.Feed
	viewer    *viewer
	robot     Robot
	converter *foxglove.Converter
	channels  []uint32 // by topic of the converter; 0: it is not offered
}

func (v *viewer) newFeed(robot int) *feed {
	f := &feed{viewer: v, robot: v.server.config.Robots[robot]}
	f.converter = f.robot.converter()
	for _, topic := range f.converter.Topics() {
		id := uint32(0)
		if i, offered := v.server.topics[topic.Name]; offered {
			id = uint32(i + 1)
		}
		f.channels = append(f.channels, id)
	}
	f.Feed = v.Feed(f.robot.Robot, v.status, f.send)
	return f
}

// letters returns the letters of devices, by their indexes.
func (r Robot) letters(devices []int) string {
	var b strings.Builder
	for _, i := range devices {
		b.WriteByte(r.Devices[i].Letter)
	}
	return b.String()
}

// send hands new data to the outbox. That of a replayed log has the times of the log.
func (f *feed) send(news []visitors.News) error {
	now, speed := time.Now().UnixNano(), 1.0
	if f.robot.replay != nil {
		p, err := f.viewer.playback(f.robot.replay)
		if err != nil {
			return err
		}
		now, speed = p.Time, p.Speed
	}
	for _, n := range news {
		at := now - int64(float64(n.Age)*speed)
		for _, m := range f.converter.Data(f.robot.Device(n.Device), at, n.Payload) {
			if channel := f.channels[m.Topic]; channel != 0 {
				f.viewer.Outbox.Put(channel, foxglove.Frame(m.Content), at, m.Content)
			}
		}
	}
	return nil
}

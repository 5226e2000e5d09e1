package logfile

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"sort"
	"time"

	"player/formats/telemetry"
)

// Summary describes the content of a log.
type Summary struct {
	Server   string    // version of the server that wrote it; empty if unknown
	Start    time.Time // of the server; zero if unknown
	Channels []ChannelSummary
	// Descriptions has the last description of each device that has one, by the topic of its data.
	Descriptions map[string]telemetry.Description
	Cameras      []string // that it may have pictures of, sorted
	First, Last  int64    // of the devices' messages, ns since 1970
	Messages     int      // of devices
	Damage       error    // see Reader.Damage
}

// ChannelSummary describes the content of one channel.
type ChannelSummary struct {
	Channel
	Messages int
	Widest   int // bytes of the largest payload: of some devices it changes
}

// Scan reads a log to its end: a summary needs all of it. The channels are sorted by topic.
// The error is an error of Open, or reports a log without channels.
func Scan(path string) (*Summary, error) {
	r, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	s := &Summary{}
	counts := map[Channel]ChannelSummary{}
	for {
		m, err := r.Next()
		if err == io.EOF {
			break
		}
		if s.Messages == 0 {
			s.First, s.Last = m.Time, m.Time
		}
		s.First, s.Last = min(s.First, m.Time), max(s.Last, m.Time)
		s.Messages++
		c := counts[*m.Channel]
		c.Messages, c.Widest = c.Messages+1, max(c.Widest, len(m.Payload))
		counts[*m.Channel] = c
	}
	for _, c := range r.channels {
		if _, counted := counts[*c]; !counted { // it has no messages
			counts[*c] = ChannelSummary{}
		}
	}
	s.Server, s.Start, s.Damage = r.server, r.start, r.Damage()
	for c, summary := range counts {
		summary.Channel = c
		s.Channels = append(s.Channels, summary)
	}
	s.Descriptions = map[string]telemetry.Description{}
	for topic, lines := range r.descriptions {
		s.Descriptions[topic] = parseDescription(lines)
	}
	s.Cameras = slices.Compact(slices.Sorted(maps.Values(r.cameras)))
	// slices.SortFunc is 19 kB larger.
	sort.Slice(s.Channels, func(i, j int) bool { return s.Channels[i].Topic() < s.Channels[j].Topic() })
	switch {
	case len(s.Channels) > 0:
		return s, nil
	case s.Damage != nil:
		return nil, fmt.Errorf("%s: this log contains no device: %w", path, s.Damage)
	}
	return nil, fmt.Errorf("%s: this log contains no device", path)
}

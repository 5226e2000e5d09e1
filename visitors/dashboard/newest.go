package dashboard

import (
	"sync"
	"time"

	"player/visitors"
)

// newestLimit is the highest age of data that is embedded in a page. A page that is reloaded
// has shown it just now; a page that is opened later would show older data as the present.
const newestLimit = time.Second

// newest keeps the newest data of each robot that a page watches. The next page is sent with
// it: data by a socket comes three round trips later.
type newest struct {
	mu     sync.Mutex
	robots map[string]readings // by address
}

// readings are the newest data of a robot, by device.
type readings map[byte]reading

type reading struct {
	at      time.Time // when it was put here
	age     time.Duration
	known   bool // the age
	payload []byte
}

// put keeps a copy of data.
func (r readings) put(n visitors.News) {
	kept := r[n.Device].payload[:0]
	r[n.Device] = reading{time.Now(), n.Age, n.Known, append(kept, n.Payload...)}
}

// put keeps a copy of data.
func (n *newest) put(robot string, news visitors.News) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.robots == nil {
		n.robots = map[string]readings{}
	}
	if n.robots[robot] == nil {
		n.robots[robot] = readings{}
	}
	n.robots[robot].put(news)
}

// frame returns a message of a stream, with the number 0, with a robot's newest data. It
// returns nil if there is none that is new enough.
func (n *newest) frame(robot string) []byte {
	n.mu.Lock()
	defer n.mu.Unlock()
	var frame []byte
	for device, r := range n.robots[robot] {
		since := time.Since(r.at)
		if since > newestLimit {
			continue
		}
		if frame == nil {
			frame = appendFrameHeader(nil, 0, 0)
		}
		frame = appendFrameBlock(frame, device, r.age+since, r.known, r.payload)
	}
	return frame
}

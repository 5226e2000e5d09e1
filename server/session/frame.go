package session

import (
	"encoding/binary"
	"slices"
	"time"

	"player/codec"
	"player/codec/compact"
)

// Period returns how often the session needs a frame, or zero for never: the
// client's own rate in continuous mode, and a short retry period while a
// requested frame is held for a device's first data. A request that waits for new
// data needs none: see News.
func (s *Session) Period() time.Duration {
	switch {
	case !s.hasBlocks():
		return 0
	case !s.onRequest:
		return s.period
	case s.asked > 0 && !s.awaits:
		return heldRetry
	}
	return 0
}

// News implements devices.Waiter: a device that is open for reading has new data,
// perhaps for a request that waits for it (8.2, 8.8).
func (s *Session) News() {
	if s.asked > 0 {
		s.changed()
	}
}

// awaitNews has the session notified of new data if its requests wait for it.
func (s *Session) awaitNews(now time.Duration) {
	s.awaits = s.onRequest && s.onlyNew
	for i := range s.slots {
		p := &s.slots[i]
		s.awaits = s.awaits || s.onRequest && p.access.reads() && p.device.Steps()
	}
	for i := range s.slots {
		p := &s.slots[i]
		waits := s.awaits && p.access.reads()
		before := p.waits
		p.waits = waits
		switch {
		case waits && !before:
			p.device.AddWaiter(now, s)
		case !waits && before:
			p.device.RemoveWaiter(now, s)
		}
	}
}

// Waits implements devices.Waiter.
func (s *Session) Waits() bool { return s.asked > 0 && !s.hasNews() }

// passOn notifies the devices of a request that waits for their data.
func (s *Session) passOn(now time.Duration) {
	for i := range s.slots {
		if p := &s.slots[i]; p.waits {
			p.device.Asked(now)
		}
	}
}

// hasNews reports whether a device in the next frame has data that this client has not
// been sent.
func (s *Session) hasNews() bool {
	return slices.ContainsFunc(s.slots, func(p slot) bool { return p.isShown() && p.isNew() })
}

func (p *slot) isNew() bool { return p.device.HasData() && p.device.Seq() != p.sent }

// Asked returns how many frames the client has asked for and not been sent
// (4.3).
func (s *Session) Asked() int { return s.asked }

// Collapse reduces the frames asked for to one: the network is congested, and the
// newest data serves all requests (4.3).
func (s *Session) Collapse() { s.asked = min(s.asked, 1) }

// isShown reports whether frames have a block for p. While a request waits for
// setups (2.7) they have those that were open before it.
func (p *slot) isShown() bool { return p.shown && p.access.reads() && !p.pending }

// dates reports whether frames have the block of device y.
func (s *Session) dates() bool { return s.dated && s.freshness.reads() }

// hasBlocks reports whether a frame would contain any block.
func (s *Session) hasBlocks() bool {
	return s.dates() || slices.ContainsFunc(s.slots, func(p slot) bool { return p.isShown() })
}

// AppendFrame appends a frame with the data of this moment: one block for
// every device open for reading, in order of first opening (3.2), the
// freshness block first (8.1), all in one block if frames are compact (8.4). It
// appends nothing while the frame is held for a device's first data (3.3), or if the
// client wants only new data and there is none (8.2).
func (s *Session) AppendFrame(dst []byte, now time.Duration) []byte {
	if s.onRequest && s.asked == 0 || s.awaits && !s.hasNews() || s.isHeld(now) {
		return dst
	}
	start := len(dst)
	small := s.compact()
	if small {
		dst = codec.AppendBlockHeader(dst, codec.KindCompact, 0)
	}
	if s.dates() {
		dst = s.appendFreshness(dst, now, small)
	}
	blocks := len(dst)
	for i := range s.slots {
		p := &s.slots[i]
		if !s.shows(p) {
			continue
		}
		if small {
			dst = p.device.AppendItem(dst, s.form.Scan)
		} else {
			dst = p.device.AppendBlock(dst)
		}
		p.sent = p.device.Seq()
	}
	if s.onlyNew && len(dst) == blocks {
		return dst[:start]
	}
	if small {
		setSize(dst[start:])
	}
	if s.asked > 0 {
		if s.asked--; s.asked > 0 {
			s.passOn(now) // the next request begins to wait
		}
	}
	return dst
}

// shows reports whether the next frame has a block for p.
func (s *Session) shows(p *slot) bool {
	return p.isShown() && (!s.onlyNew || p.isNew())
}

// isHeld reports whether a device that was opened less than a second ago still
// has no data. In the only-new mode a device without data has no block, so no
// frame is held for it; nor is one that waits for new data.
func (s *Session) isHeld(now time.Duration) bool {
	if s.onlyNew || s.awaits {
		return false
	}
	for i := range s.slots {
		p := &s.slots[i]
		if p.isShown() && !p.device.HasData() && now < p.since+firstDataLimit {
			return true
		}
	}
	return false
}

// NetworkFull is called before AppendFrame and sets whether the network is full, for clients
// whose frames are then compact (8.4.1).
func (s *Session) NetworkFull(full bool) { s.full = full }

// compact reports whether the next frame is compact.
func (s *Session) compact() bool {
	return s.form.Arg == codec.FramesCompact || s.form.Arg == codec.FramesAuto && s.full
}

// appendFreshness appends the block of device y, or its item in a compact block.
func (s *Session) appendFreshness(dst []byte, now time.Duration, small bool) []byte {
	if small {
		s.ages = s.appendAges(s.ages[:0], now)
		return compact.Append(dst, codec.Server, s.ages, codec.Scan{})
	}
	start := len(dst)
	dst = s.appendAges(codec.AppendBlockHeader(dst, codec.Server, 0), now)
	setSize(dst[start:])
	return dst
}

// appendAges appends the payload of device y: the time, and the age of every block
// after it.
func (s *Session) appendAges(dst []byte, now time.Duration) []byte {
	dst = binary.BigEndian.AppendUint64(dst, uint64(now.Microseconds()))
	for i := range s.slots {
		p := &s.slots[i]
		if !s.shows(p) {
			continue
		}
		age := codec.NoAge
		if p.device.HasData() {
			age = uint32(min(max(p.device.Age(now).Microseconds(), 0), int64(codec.MaxAge)))
		}
		dst = binary.BigEndian.AppendUint32(dst, age)
	}
	return dst
}

// setSize completes the header of a block. The devices' largest payloads together are
// below the u16 of its size.
func setSize(block []byte) {
	binary.BigEndian.PutUint16(block[1:], uint16(len(block)-codec.BlockHeaderSize))
}

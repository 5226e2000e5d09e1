package session

import (
	"encoding/binary"
	"time"

	"player/codec"
	"player/codec/compact"
)

const (
	// firstDataLimit is how long a frame waits for a device's first data
	// before its block is sent empty (3.3). Old clients count blocks and hang
	// if one is missing.
	firstDataLimit = time.Second
	// firstDataRetry is the time between two checks whether the first data has come for a
	// requested frame. Each check costs one wake, and delays the frame by this at most.
	firstDataRetry = 10 * time.Millisecond
)

// frames decides which frames the client gets, and makes them.
type frames struct {
	period    time.Duration // in continuous mode
	onRequest bool          // request/reply mode (4.2)
	asked     int           // frames requested and not yet sent (4.3)
	onlyNew   bool          // (8.2)
	awaits    bool          // a frame waits for new data (8.2, 8.8)
	form      codec.Config  // (8.4)
	congested bool          // the client's network is congested
	ages      []byte        // payload of device y, of a client with compact frames
}

// Period returns how often the session needs a frame, or zero for never: the
// client's own rate in continuous mode, and a short retry period while a
// requested frame waits for a device's first data. A request that waits for new
// data needs none: see News.
func (s *Session) Period() time.Duration {
	switch f := &s.frames; {
	case !s.hasBlocks():
		return 0
	case !f.onRequest:
		return f.period
	case f.asked > 0 && !f.awaits:
		return firstDataRetry
	}
	return 0
}

// News implements devices.Waiter: a device that is open for reading has new data,
// perhaps for a request that waits for it (8.2, 8.8).
func (s *Session) News() {
	if s.frames.asked > 0 {
		s.notify()
	}
}

// awaitNews registers the session as a Waiter of the devices whose new data its requests wait for.
func (s *Session) awaitNews(now time.Duration) {
	f := &s.frames
	f.awaits = f.onRequest && f.onlyNew
	for i := range s.slots {
		sl := &s.slots[i]
		f.awaits = f.awaits || f.onRequest && sl.access.reads() && sl.device.Steps()
	}
	for i := range s.slots {
		sl := &s.slots[i]
		before := sl.waits
		sl.waits = f.awaits && sl.access.reads()
		switch {
		case sl.waits && !before:
			sl.device.AddWaiter(now, s)
		case !sl.waits && before:
			sl.device.RemoveWaiter(now, s)
		}
	}
}

// Waits implements devices.Waiter.
func (s *Session) Waits() bool { return s.frames.asked > 0 && !s.slots.haveNews() }

// notifyDevices notifies the devices that a request of this client waits for their data.
func (s *Session) notifyDevices(now time.Duration) {
	for i := range s.slots {
		if sl := &s.slots[i]; sl.waits {
			sl.device.Asked(now)
		}
	}
}

// Asked returns how many frames the client has asked for that were not sent yet (4.3).
func (s *Session) Asked() int { return s.frames.asked }

// Collapse reduces the frames asked for to one: the network is congested, and the
// newest data serves all requests (4.3).
func (s *Session) Collapse() { s.frames.asked = min(s.frames.asked, 1) }

// hasAges reports whether frames have the block of device y, with the ages of the data.
func (s *Session) hasAges() bool { return s.agesShown && s.freshness.reads() }

// hasBlocks reports whether a frame would contain any block.
func (s *Session) hasBlocks() bool { return s.hasAges() || s.slots.areShown() }

// SetCongested sets whether the network of the client is congested, before AppendFrame. Some clients
// want compact frames then (8.4.1).
func (s *Session) SetCongested(full bool) { s.frames.congested = full }

// AppendFrame appends a frame with the data of this moment: one block for
// every device open for reading, in order of first opening (3.2), the
// freshness block first (8.1), all in one block if frames are compact (8.4). It
// appends nothing while the frame waits for a device's first data (3.3), or if the
// client wants only new data and there is none (8.2).
func (s *Session) AppendFrame(dst []byte, now time.Duration) []byte {
	f := &s.frames
	if f.onRequest && f.asked == 0 || f.awaits && !s.slots.haveNews() || f.lackFirstData(now, s.slots) {
		return dst
	}
	start := len(dst)
	if dst = f.append(dst, now, s.hasAges(), s.slots); len(dst) == start && f.onlyNew {
		return dst
	}
	if f.asked > 0 {
		if f.asked--; f.asked > 0 {
			s.notifyDevices(now) // the next request begins to wait
		}
	}
	return dst
}

// append appends the blocks of a frame. It appends nothing if the client wants only new
// data and there is none.
func (f *frames) append(dst []byte, now time.Duration, withAges bool, all slots) []byte {
	start := len(dst)
	small := f.compact()
	if small {
		dst = codec.AppendBlockHeader(dst, codec.KindCompact, 0)
	}
	if withAges {
		dst = f.appendFreshness(dst, now, all)
	}
	blocks := len(dst)
	for i := range all {
		sl := &all[i]
		if !f.show(sl) {
			continue
		}
		if small {
			dst = sl.device.AppendItem(dst, f.form.Scan)
		} else {
			dst = sl.device.AppendBlock(dst)
		}
		sl.sent = sl.device.Seq()
	}
	if f.onlyNew && len(dst) == blocks {
		return dst[:start]
	}
	if small {
		setSize(dst[start:])
	}
	return dst
}

// show reports whether the next frame has a block for sl.
func (f *frames) show(sl *slot) bool { return sl.isShown() && (!f.onlyNew || sl.isNew()) }

// lackFirstData reports whether a frame has to wait for the first data of a device that was opened
// less than a second ago. In the only-new mode no frame waits for it, because a device without data
// has no block. A frame that waits for new data does not wait for first data as well.
func (f *frames) lackFirstData(now time.Duration, all slots) bool {
	if f.onlyNew || f.awaits {
		return false
	}
	for i := range all {
		sl := &all[i]
		if sl.isShown() && !sl.device.HasData() && now < sl.since+firstDataLimit {
			return true
		}
	}
	return false
}

// compact reports whether the next frame is compact.
func (f *frames) compact() bool {
	return f.form.Arg == codec.FramesCompact || f.form.Arg == codec.FramesAuto && f.congested
}

// appendFreshness appends the block of device y, or its item in a compact block.
func (f *frames) appendFreshness(dst []byte, now time.Duration, all slots) []byte {
	if f.compact() {
		f.ages = f.appendAges(f.ages[:0], now, all)
		return compact.Append(dst, codec.Server, f.ages, codec.Scan{})
	}
	start := len(dst)
	dst = f.appendAges(codec.AppendBlockHeader(dst, codec.Server, 0), now, all)
	setSize(dst[start:])
	return dst
}

// appendAges appends the payload of device y: the time, and the age of every block
// after it.
func (f *frames) appendAges(dst []byte, now time.Duration, all slots) []byte {
	dst = binary.BigEndian.AppendUint64(dst, uint64(now.Microseconds()))
	for i := range all {
		sl := &all[i]
		if !f.show(sl) {
			continue
		}
		age := codec.NoAge
		if sl.device.HasData() {
			age = uint32(min(max(sl.device.Age(now).Microseconds(), 0), int64(codec.MaxAge)))
		}
		dst = binary.BigEndian.AppendUint32(dst, age)
	}
	return dst
}

// setSize writes the size of a block into its header. A u16 is enough for the largest payloads of
// all devices together.
func setSize(block []byte) {
	binary.BigEndian.PutUint16(block[1:], uint16(len(block)-codec.BlockHeaderSize))
}

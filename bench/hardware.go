package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"player/bench/load"
	"player/bench/stats"
	"player/codec"
	"player/simulation/emulator/line"
	"player/simulation/emulator/p2os"
	"player/simulation/emulator/rplidar"
	"player/simulation/emulator/sick"
	"player/simulation/emulator/sony"
)

// hardware is emulated hardware on a serial line.
type hardware struct {
	name   string
	driver string // its port option is "port"
	letter byte   // of the device
	size   int    // of its data in bytes
	news   string // note of the packets that bring news, in the line's record
	start  func(line.Options) (cable, error)
	// packet is the bytes of a packet with news, and period the time between two: the
	// bare loop gets such packets.
	packet int
	period time.Duration
}

// cable is the line of emulated hardware.
type cable interface {
	Now() time.Duration
	Record() []line.Entry
	Close()
}

// allHardware lists the hardware of the real-time cells.
func allHardware() []hardware {
	return []hardware{
		{"robot", "p2os", codec.Position, codec.PositionSize, "SIP", func(o line.Options) (cable, error) {
			return p2os.Start(p2os.Options{Line: o})
		}, 43, 100 * time.Millisecond},
		// Ten times as fast as one on a real line, for as many more samples.
		{"laser", "sicklms200", codec.Laser, codec.LaserSize, "scan", func(o line.Options) (cable, error) {
			return sick.Start(sick.Options{Line: o, Rate: 50})
		}, 732, 20 * time.Millisecond},
		// The driver publishes a position with the answer about the zoom.
		{"camera", "evid30", codec.PTZ, codec.PTZSize, "zoom inquiry", func(o line.Options) (cable, error) {
			return sony.Start(sony.Options{Line: o})
		}, 7, 100 * time.Millisecond},
		// Standard scan: its samples come in one piece every 16 ms. A scan is news with
		// the piece that ends the front half of a turn.
		{"rplidar", "rplidar", codec.Laser, codec.LaserSize, "samples", func(o line.Options) (cable, error) {
			return rplidar.Start(rplidar.Options{Line: o, NoExpress: true})
		}, 160, 180 * time.Millisecond},
	}
}

// realTime is the age of data inside the robot: from the last byte on the serial
// line to the client's socket.
func realTime() []cell {
	var all []cell
	for _, h := range allHardware() {
		// The robot has 150 news in this time.
		all = append(all, cell{Name: "real-time/" + h.name, Kind: inside, Hardware: h.name, Window: 15 * time.Second, Servers: []server{player, floor}})
	}
	return all
}

// hardware is a real-time cell's hardware.
func (c cell) hardware() hardware {
	all := allHardware()
	return all[slices.IndexFunc(all, func(h hardware) bool { return h.name == c.Hardware })]
}

// measureInside takes the age of the data of emulated hardware when it arrives at
// a client. The hardware and the client are in this process and share a clock. All of
// them share one processor, as on a robot's computer with one core: to wake another
// processor of a virtual machine takes longer than all else, and up to milliseconds.
func (w *workshop) measureInside(ctx context.Context, s server, c cell, window time.Duration) (*load.Dist, error) {
	h := c.hardware()
	if s == floor {
		h.news, h.start = packetNote, h.startPackets
	}
	cable, err := h.start(line.Options{Link: w.serialPort()})
	if err != nil {
		return nil, err
	}
	defer cable.Close()
	spread, err := oneProcessor(ctx) // the server inherits it
	if err != nil {
		return nil, err
	}
	defer spread()
	p, err := w.start(ctx, s, c, nil)
	if err != nil {
		return nil, err
	}
	arrivals, err := p.receive(ctx, h, window, cable.Now)
	if err = errors.Join(err, p.stop()); err != nil {
		return nil, fmt.Errorf("%w: %s", err, last(p.said.Bytes()))
	}
	return agesOf(arrivals, cable.Record(), h.news)
}

// packetNote names the packets of startPackets in the line's record.
const packetNote = "packet"

// startPackets starts hardware that sends packets of the same size as often and ignores
// its input: the bare loop has no protocol.
func (h hardware) startPackets(o line.Options) (cable, error) {
	o.Baud = 38400 // a new pseudo-terminal's
	p := &packets{packet: make([]byte, h.packet), period: h.period}
	return p, p.Attach(o, p)
}

// packets implements line.Device.
type packets struct {
	line.End
	packet []byte
	period time.Duration
	due    time.Duration
}

func (p *packets) Frame(buf []byte) (int, string) { return len(buf), "" }
func (p *packets) Receive(time.Duration, []byte)  {}
func (p *packets) Advance(now time.Duration) time.Duration {
	if now >= p.due {
		p.Send(p.packet, packetNote)
		p.due = now + p.period
	}
	return p.due
}

// agesOf compares arrivals with the packets that brought the news: the newest one
// before each. Packets come much slower than the server passes them on.
func agesOf(arrivals []time.Duration, record []line.Entry, news string) (*load.Dist, error) {
	var sent []time.Duration
	for _, e := range record {
		if e.Dir == line.DeviceToHost && e.Note == news {
			sent = append(sent, e.At)
		}
	}
	var ages stats.Histogram
	for _, at := range arrivals {
		i, _ := slices.BinarySearch(sent, at)
		if i == 0 {
			return nil, errors.New("a frame came before the hardware had news")
		}
		ages.Add(at - sent[i-1])
	}
	if ages.Count == 0 {
		return nil, errors.New("no frame came")
	}
	d := load.DistOf(&ages)
	return &d, nil
}

// receive opens the device of the hardware, and returns when its frames arrived
// during a window. It keeps one request for new data outstanding.
func (p *process) receive(ctx context.Context, h hardware, window time.Duration, now func() time.Duration) (arrivals []time.Duration, err error) {
	if err := p.awaitListening(ctx); err != nil {
		return nil, err
	}
	// A plain descriptor: the runtime's poller would add its own time to a read.
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	if err := unix.Connect(fd, &unix.SockaddrInet4{Port: p.port, Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		return nil, err
	}
	// Not a timeout of the socket: with one, a read that a signal interrupts fails.
	limit := time.AfterFunc(patience+window+patience, func() { _ = unix.Shutdown(fd, unix.SHUT_RD) })
	defer limit.Stop()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	// Request/reply mode, new data only (PROTOCOL 4).
	opening := "xy\x00\x02r\x01" + "xy\x00\x02n\x01" + "dr\x00\x02" + string(h.letter) + "r"
	want := "r\x00\x02" + string(h.letter) + "r"
	reply := make([]byte, len(want))
	if _, err := unix.Write(fd, []byte(opening)); err != nil {
		return nil, err
	}
	if _, _, err := unix.Recvfrom(fd, reply, unix.MSG_WAITALL); err != nil || string(reply) != want {
		return nil, fmt.Errorf("the reply is %q, want %q (%v)", reply, want, err)
	}
	frame := make([]byte, 3+h.size)
	for end := now() + window; now() < end && ctx.Err() == nil; {
		if _, err := unix.Write(fd, []byte("xy\x00\x01d")); err != nil {
			return nil, err
		}
		n, _, err := unix.Recvfrom(fd, frame, unix.MSG_WAITALL)
		arrivals = append(arrivals, now())
		switch {
		case err != nil:
			return nil, fmt.Errorf("no frame: %w", err)
		case n < len(frame) || frame[0] != h.letter:
			return nil, fmt.Errorf("a frame of %d bytes, want %d: % .8X", n, len(frame), frame[:n])
		}
	}
	return arrivals, ctx.Err()
}

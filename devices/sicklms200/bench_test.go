package sicklms200

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"player/codec"
	"player/devices"
	"player/devices/devicetest"
	"player/devices/evid30"
	"player/devices/p2os"
	"player/devices/transport/transporttest"
	"player/e2e/must"
)

const ms = time.Millisecond

// bench is a driver with a client.
type bench struct {
	*transporttest.Bench
	driver *Driver
	laser  *devices.Device
}

// newBench returns one whose block names the devices; none: the usual ones.
func newBench(t testing.TB, named ...devices.Spec) *bench {
	t.Helper()
	driver := New("/dev/laser")
	instance := Kind().Instance(driver)
	if len(named) > 0 {
		instance.Select(named)
	}
	b := &bench{Bench: transporttest.NewBench(t, instance, Kind(), p2os.Kind(), evid30.Kind()), driver: driver}
	b.laser = b.Client
	return b
}

// ranger opens the ranger, which the block must name.
func (b *bench) ranger() *devices.Device {
	b.T.Helper()
	d := b.Link.Device(codec.Ranger)
	_ = must.Get(d.Subscribe(b.Now(), b))(b.T)
	return d
}

func (b *bench) ranges() codec.LaserData { return transporttest.Data[codec.LaserData](b.T, b.laser) }

// requestNames are the requests as they are on the wire.
var requestNames = map[string]string{
	"02 00 02 00 20 25 35 08":                         "stop",
	"02 00 02 00 20 24 34 08":                         "stream",
	"02 00 02 00 20 40 50 08":                         "38400",
	"02 00 0A 00 20 00 53 49 43 4B 5F 4C 4D 53 BE C5": "password",
	"02 00 01 00 31 15 12":                            "status?",
	"02 00 01 00 74 50 12":                            "configuration?",
	"02 00 05 00 3B B4 00 32 00 3B 1F":                "variant",
}

func requestName(b []byte) string {
	if name, ok := requestNames[fmt.Sprintf("% X", b)]; ok {
		return name
	}
	if len(b) > 5 && b[4] == 0x77 {
		return "configuration"
	}
	return fmt.Sprintf("% X", b)
}

// laser plays the far end.
type laser struct {
	bench     *bench
	baud      int
	streaming bool
	config    []byte
	variant   Variant

	locked  bool // it accepts a variant in configuration mode only
	open    bool // it is in configuration mode
	off     bool
	mute    bool           // it does not stream, although it reports so
	deaf    map[string]int // how many requests of a name get lost on the way to it
	dumb    map[string]int // how many answers to a name get lost on the way back
	answers map[string]string
	late    map[string]time.Duration // more time to answer
	heard   []string
	ticking bool
}

const (
	ackOK   = "02 80 03 00 A0 00 10 16 0A"
	ackDeny = "02 80 03 00 A0 01 10 14 0B"
	nackHex = "02 80 02 00 92 10 7F 33"
)

func (b *bench) newLaser(baud int) *laser {
	l := &laser{bench: b, baud: baud, config: make([]byte, 34), variant: wanted,
		deaf: map[string]int{}, dumb: map[string]int{}, answers: map[string]string{}, late: map[string]time.Duration{}}
	l.config[Units] = byte(Millimetres)
	b.Heard = func(p *transporttest.Port, sent []byte) {
		if p.Baud == l.baud && !l.off {
			l.obey(sent)
		}
	}
	return l
}

// newLaser returns a bench with a laser.
func newLaser(t testing.TB, baud int, named ...devices.Spec) (*bench, *laser) {
	t.Helper()
	b := newBench(t, named...)
	return b, b.newLaser(baud)
}

// ready returns a bench with a connected laser.
func ready(t testing.TB, baud int) (*bench, *laser) {
	t.Helper()
	b, l := newLaser(t, baud)
	b.Ready()
	return b, l
}

func (l *laser) obey(sent []byte) {
	name := requestName(sent)
	if l.deaf[name] > 0 {
		l.deaf[name]--
		return
	}
	l.heard = append(l.heard, name)
	answer, baud := devicetest.Hex(l.bench.T, ackOK), l.baud
	given, scripted := l.answers[name]
	switch {
	case scripted:
		answer = devicetest.Hex(l.bench.T, given)
	case name == "stop":
		l.streaming, l.open = false, false
	case name == "stream":
		l.streaming, l.open = true, false
		l.tick()
	case name == "38400":
		baud = 38400
	case name == "password":
		l.streaming, l.open = false, true
	case name == "status?":
		data := make([]byte, 150)
		data[106], data[108] = byte(l.variant.Angle), byte(l.variant.Resolution)
		answer = appendTelegram(nil, addressHost, byte(CodeStatus), append(data, 0x10)...)
	case name == "variant" && l.locked && !l.open:
		answer = appendTelegram(nil, addressHost, byte(CodeVariantSet), 0, byte(l.variant.Angle), 0, byte(l.variant.Resolution), 0, 0x10)
	case name == "variant":
		l.variant = wanted
		answer = appendTelegram(nil, addressHost, byte(CodeVariantSet), 1, 180, 0, 50, 0, 0x10)
	case name == "configuration?":
		answer = appendTelegram(nil, addressHost, byte(CodeConfig), append(slices.Clone(l.config), 0x10)...)
	case name == "configuration" && !l.open:
		answer = appendTelegram(nil, addressHost, byte(CodeConfigSet), append(append([]byte{0}, l.config...), 0x10)...)
	case name == "configuration":
		l.config = slices.Clone(sent[5 : len(sent)-2])
		answer = appendTelegram(nil, addressHost, byte(CodeConfigSet), append(append([]byte{1}, l.config...), 0x10)...)
	}
	if l.dumb[name] > 0 {
		l.dumb[name]--
		l.baud = baud
		return
	}
	l.bench.After(10*ms+l.late[name], func() {
		l.say(answer)
		l.baud = baud
	})
}

func (l *laser) say(b []byte) {
	if p := l.bench.Port(); p.Baud == l.baud && !l.off {
		p.Say(b)
	}
}

func (l *laser) tick() {
	if !l.ticking {
		l.ticking = true
		l.bench.After(200*ms, l.turn)
	}
}

func (l *laser) turn() {
	if l.ticking = l.streaming; l.streaming {
		l.bench.After(200*ms, l.turn)
		if !l.mute {
			count := l.variant.Angle*100/l.variant.Resolution + 1
			values := slices.Repeat([]uint16{1000}, int(1+count))
			values[0] = count | uint16(l.config[Units])<<unitShift
			if l.config[4]&2 != 0 { // real-time indices, of scan and telegram
				values = append(values, 0x0201)
			}
			l.say(scanTelegram(CodeScan, values))
		}
	}
}

package nmea

import (
	"bytes"
	"errors"
	"time"

	"player/codec"
	"player/devices"
	"player/devices/transport"
)

const (
	// listen is how long the driver waits for a sentence at each speed: receivers send once a second or more often.
	listen = 1600 * time.Millisecond
	// rounds is how often the driver listens at each speed. A sentence that begins before the first byte is lost.
	rounds = 2
)

// speeds has the receivers' speeds in baud, by the standard and by the makers, the most usual first.
var speeds = []int{9600, 4800, 38400, 115200, 57600}

// setupTime is the time for all attempts.
var setupTime = time.Duration(rounds*len(speeds)) * listen

var (
	errSilent = errors.New("no receiver sends NMEA 0183: check power, and that its TX is connected to RX")
	errOther  = errors.New("the receiver sends, but neither GGA nor RMC: switch these sentences on")
)

// Driver reads a receiver, which sends without being asked.
type Driver struct {
	transport.Transport

	parser transport.Parser
	fields sentence
	date   time.Time // of the last RMC, zero: unknown
	now    epoch     // being received
	usual  uint8     // the kinds that an epoch had, a bit each: when all have come, it is published
	out    []byte
}

// Kind declares the driver.
func Kind() devices.Kind {
	return devices.Kind{
		Name: "nmea", Doc: "receivers of GPS and its like that send NMEA 0183", SetupLimit: setupTime + transport.Grace,
		Probe:    &devices.Probe{Speeds: speeds, Wait: listen, Recognise: recognise},
		Provides: []devices.Spec{devices.GPS()},
		Options: []devices.Option{
			{Name: "port", Default: devices.SerialPort("/dev/ttyACM0"), Doc: "serial port, or HOST:PORT"},
		},
		New: func(a devices.Args) (devices.Driver, error) {
			d := &Driver{parser: transport.NewParser(inspect, packetSize)}
			d.Protocol = transport.Protocol{
				Address: a.String("port"), Name: "a receiver of GPS", Speeds: speeds,
				Begin: d.begin, Limit: setupTime, Steps: []transport.Step{{}},
				Framing: &d.parser.Framing, Receive: d.receive,
				Silent: errSilent, Stuck: func(transport.Phase) error { return errOther },
			}
			for range rounds {
				for i := range speeds {
					d.Protocol.Search = append(d.Protocol.Search, transport.Attempt{Speed: i, Wait: listen})
				}
			}
			return d, nil
		},
	}
}

// recognise is Probe.Recognise.
func recognise(heard []byte) (a devices.Answer) {
	for b := range transport.Packets(heard, inspect, packetSize) {
		if split(nil, b).kind() != other {
			a.Found = true
		}
	}
	return a
}

func (d *Driver) begin(time.Duration) transport.Phase {
	d.date, d.usual = time.Time{}, 0
	d.clear(nil)
	return 0
}

// clear begins an epoch.
func (d *Driver) clear(at []byte) {
	d.now.seen, d.now.data = 0, codec.UnknownGPS()
	d.now.n = copy(d.now.at[:], at)
}

func (d *Driver) receive(now time.Duration, p []byte) {
	for b, rest := d.parser.Next(p); b != nil && d.IsOpen(); b, rest = d.parser.Next(rest) {
		d.Found()
		if d.IsUp() {
			d.Heard(now)
		}
		if d.fields = split(d.fields, b); d.fields.kind() != other {
			d.take(now, d.fields.kind())
		}
	}
}

// take takes a sentence of an epoch. An epoch is published when it has the sentences of the last one, or when the next
// one begins.
func (d *Driver) take(now time.Duration, k kind) {
	if k != gst {
		d.Up(now)
	}
	at := d.fields.field(1)
	if !bytes.Equal(at, d.now.at[:d.now.n]) || d.now.seen&(1<<k) != 0 {
		if d.now.seen != 0 {
			if d.now.seen != d.usual { // else it was published
				d.publish(now)
			}
			d.usual = d.now.seen
		}
		last, known := timeOfDay(d.now.at[:d.now.n])
		if of, ok := timeOfDay(at); ok && known && of < last {
			d.date = time.Time{} // it is another day, which the next RMC names
		}
		d.clear(at)
	}
	if k == rmc {
		if date := dateOf(d.fields.field(9)); !date.IsZero() {
			d.date = date
		}
	}
	d.now.add(k, d.fields, d.date)
	if d.now.seen == d.usual {
		d.publish(now)
	}
}

// publish publishes an epoch. Errors alone are no data.
func (d *Driver) publish(now time.Duration) {
	if d.now.seen == 1<<gst {
		return
	}
	d.out = d.now.data.Append(d.out[:0])
	d.Link().Device(codec.GPS).Publish(now, d.out)
}

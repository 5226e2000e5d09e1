package evid30

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"time"

	"go.uber.org/zap"

	"player/codec"
	"player/devices"
	"player/devices/transport"
	"player/timers/limited"
)

// logDisobeys is a message of the log, by which tests find lines.
const logDisobeys = "the camera does not carry out a command"

const (
	baud = 9600 // the camera's only speed

	// setupLimit is how long a client waits for an absent camera.
	setupLimit = 2 * time.Second
	// answerLimit bounds the answer to an inquiry or the acknowledgement of a command.
	// The camera takes one or two frames of video, and the bytes of the longest exchange
	// take 19 ms; the original server allowed 100 ms. A shorter limit would repeat a
	// request while its answer is coming.
	answerLimit = 200 * time.Millisecond
	// greetLimit is answerLimit during setup, which accepts late answers.
	greetLimit = 120 * time.Millisecond
	// greetTime bounds setup: each of the four requests three times. A client gets
	// the error within 1.5 s.
	greetTime = 12 * greetLimit
	// minExchange is the shortest time from one request to the next: the bytes
	// of the shortest inquiry and its answer take 12.5 ms at 9600 baud. It never
	// slows a camera down, and keeps a simulated one from spinning the loop.
	minExchange = 12 * time.Millisecond
	// restPeriod is the period of polls while no client reads the position: the camera must
	// answer within the 2 s after which hardware counts as lost.
	restPeriod = 800 * time.Millisecond
	// maxTries is how often an unacknowledged command is sent. A lost byte costs one try; a
	// command that is refused three times is dropped until a client repeats it, so that
	// inquiries go on.
	maxTries = 3
)

var (
	errNoCamera  = errors.New("no camera answers: is it switched on, and the cable in its VISCA IN?")
	errStandby   = errors.New("the camera is on standby: switch it on with its remote control")
	errRestarted = errors.New("the camera was switched on anew, or another one was plugged in")
)

// phase of the conversation with the camera.
type phase uint8

const (
	greeting phase = iota // until a position is answered
	running               // inquiries, and commands between them
	leaving               // the way home
)

// request is an inquiry or a command. The next one is sent when it was answered, or
// after answerLimit.
type request uint8

const (
	nothing request = iota
	setAddress
	clearInterface
	inquireVersion
	inquirePanTilt
	inquireZoom
	turn
	zoom
	cancel
)

// texts are the requests without arguments.
var texts = [...]string{
	setAddress: SetAddress, clearInterface: ClearInterface,
	inquireVersion: InquireVersion, inquirePanTilt: InquirePanTilt, inquireZoom: InquireZoom, cancel: "",
}

// greets holds the requests of setup.
var greets = [...]request{setAddress, clearInterface, inquireVersion, inquirePanTilt}

// Driver is Player's ptz device, a Sony EVI-D30, D31, D70 or D100 on a serial line. It asks
// the camera for its model; without an answer it assumes an EVI-D30, which the original
// server drove without asking. It polls position and zoom when the last values have been
// read, or while a command runs, and sends commands in between: for each of head and zoom
// the newest one, and at most two run at a time.
//
// The camera never moves without a command: neither when it is opened (with the original
// server it did), nor when it is back after an outage. When the last client closes it, it
// goes to 0, 0, 0 if a client has moved it.
type Driver struct {
	transport.Transport

	ranges Ranges
	device *devices.Device

	parser transport.Parser

	phase   phase
	greeted int           // requests of setup that have ended
	giveUp  time.Duration // when setup fails
	answers bool          // the camera has answered for its position, its model unknown
	unnamed int           // inquiries for the model without an answer
	trouble error         // the error if setup fails

	request request // not answered yet, or nothing
	sent    time.Duration
	began   time.Duration // when a position was asked for, the first half
	out     []byte        // the bytes of request

	inquired  request // the inquiry sent last
	commanded bool    // a command was sent since
	head      head

	missed     bool          // a request has failed since data was published
	pan, tilt  int16         // degrees
	at         time.Duration // when they were received, zero once they are published
	data       []byte        // a payload
	complaints limited.Line
}

// New returns a driver for the camera on a serial port.
func New(port string, ranges Ranges) *Driver {
	d := &Driver{ranges: ranges}
	d.parser = transport.NewParser(inspect, MaxPacket)
	d.Protocol = transport.Protocol{
		Address: port, Name: "a camera", Speeds: []int{baud},
		Begin: d.begin, Framing: &d.parser.Framing, Receive: d.receive, Wake: d.wake, Silent: errNoCamera,
		LastWords: []byte("\xFF" + ClearInterface), // FF ends a packet that was cut off
	}
	return d
}

// Kind declares the driver.
func Kind() devices.Kind {
	return devices.Kind{
		Name: "evid30", Doc: "Sony EVI-D30, D70 or D100 pan-tilt-zoom camera", Provides: []devices.Spec{devices.PTZ()}, SetupLimit: setupLimit,
		Probe: probe(),
		Options: []devices.Option{
			{Name: "port", Default: devices.SerialPort("/dev/ttyS2"), Doc: "serial port, or HOST:PORT"},
			{Name: "model", Default: "", Doc: "`EVI-D30`, `EVI-D70` or `EVI-D100`; empty: the camera is asked"},
			{Name: "pan", Default: []float64{}, Doc: "range of another camera: least and greatest degrees, camera units in a degree"},
			{Name: "tilt", Default: []float64{}, Doc: "the same for the tilt"},
			{Name: "zoom", Default: 0, Min: 0, Max: math.MaxInt16, Doc: "camera units at telephoto; 0: the model's"},
		},
		New: func(a devices.Args) (devices.Driver, error) {
			ranges, err := newRanges(a.String("model"), a.Floats("pan"), a.Floats("tilt"), a.Int("zoom"))
			return New(a.String("port"), ranges), err
		},
	}
}

func (d *Driver) Setup(now time.Duration, link *devices.Link) {
	d.device = link.Device(codec.PTZ)
	d.head.moved = false
	d.Transport.Setup(now, link)
}

// Shutdown implements devices.Driver. A camera that clients have moved is
// stopped and sent home; the driver does not wait until it is there.
func (d *Driver) Shutdown(now time.Duration) {
	home := d.IsUp() && d.head.moved
	switch {
	case !d.Leave(now):
	case !home:
		d.Finish(now, nil)
	default:
		d.phase = leaving
		d.head.aim(codec.PTZCommand{})
		d.head.clear = d.head.busy() || d.request == turn || d.request == zoom
		if d.request == nothing {
			d.next(now)
		} else {
			d.WakeAt(d.sent + answerLimit)
		}
	}
}

// Command implements devices.Commanded. It is sent when the request under way has
// been answered.
func (d *Driver) Command(_ time.Duration, device *devices.Device) {
	var c codec.PTZCommand
	if d.phase == running && d.IsUp() && c.Decode(device.Command()) == nil {
		d.head.aim(c)
		d.hurry()
	}
}

func (d *Driver) Wanted(*devices.Device) { d.hurry() }

// hurry has the next request sent as soon as the camera can receive it.
func (d *Driver) hurry() {
	if d.phase == running && d.IsUp() && d.request == nothing {
		d.WakeAt(d.soonest())
	}
}

// soonest is when the camera can receive the next request: the two halves of a position are
// sent at once, and have the time of two.
func (d *Driver) soonest() time.Duration {
	if d.inquired == inquireZoom && !d.commanded {
		return d.began + 2*minExchange
	}
	return d.sent + minExchange
}

// begin is Protocol.Begin. It sets the camera's address and clears the camera's commands, because the driver's are also
// cleared; then it asks for the position. The requests are a cycle and not a table: their answers may come late, and the
// model may come after the position.
func (d *Driver) begin(now time.Duration) transport.Phase {
	d.phase, d.greeted, d.giveUp, d.trouble = greeting, 0, now+greetTime, errNoCamera
	d.answers, d.unnamed = false, 0
	d.at = 0
	d.head = head{moved: d.head.moved, model: d.ranges.fixed()}
	d.send(now, greets[0])
	return 0
}

// wake is Protocol.Wake: the next request is due.
func (d *Driver) wake(now time.Duration) {
	if d.request != nothing {
		d.parser.Reset()
		d.failed(now, noAnswer)
		d.request = nothing
	}
	d.next(now)
}

// next sends the next request.
func (d *Driver) next(now time.Duration) {
	command := d.head.next(now)
	switch {
	case d.phase == greeting:
		d.greet(now)
	case d.phase == leaving && command == nothing:
		d.Finish(now, nil)
	case command != nothing && (d.phase == leaving || !d.commanded):
		d.send(now, command)
	case d.inquired == inquirePanTilt && d.at != 0:
		d.send(now, inquireZoom)
	case d.rests(now):
		d.WakeAt(d.sent + restPeriod)
	default:
		d.send(now, inquirePanTilt)
	}
}

// rests reports whether there is nothing to ask the camera for a while.
func (d *Driver) rests(now time.Duration) bool {
	return d.head.settled() && !d.missed && !d.device.Wanted() && now < d.sent+restPeriod
}

// greet sends the next request of setup.
func (d *Driver) greet(now time.Duration) {
	d.greeted++
	next := greets[d.greeted%len(greets)]
	switch {
	case now+greetLimit > d.giveUp:
		if d.trouble == errNoCamera {
			d.Absent(now)
		} else {
			d.Down(now, d.trouble)
		}
		return
	case d.answers && d.head.model == nil:
		next = inquireVersion
	case d.answers, next == inquireVersion && d.head.model != nil:
		next = inquirePanTilt
	}
	d.send(now, next)
}

// identify sets the camera's model.
func (d *Driver) identify(now time.Duration, v Version) {
	model, err := d.ranges.of(v)
	if err != nil {
		d.Down(now, err)
		return
	}
	d.Log().Info("camera found", zap.Stringer("model", v))
	d.head.model = model
}

func (d *Driver) send(now time.Duration, r request) {
	d.out = append(d.out[:0], texts[r]...)
	switch r {
	case inquirePanTilt, inquireZoom:
		if r == inquirePanTilt {
			d.began = now
		}
		d.inquired, d.commanded = r, false
	case turn, zoom:
		d.out, d.commanded = d.head.append(d.out, r), true
	case cancel:
		d.out = AppendCancel(d.out, d.head.victim)
	}
	d.request, d.sent = r, now
	limit := answerLimit
	if d.phase == greeting {
		limit = greetLimit
	}
	d.WakeAt(now + limit)
	d.Port().Write(d.out)
}

// end ends the request: it was answered.
func (d *Driver) end(now time.Duration) {
	d.request = nothing
	// The second half of a position, and a rest, need no wake of their own to begin.
	half := d.inquired == inquirePanTilt && !d.commanded
	rests := d.phase == running && d.inquired == inquireZoom && d.head.next(now) == nothing && d.rests(now)
	if at := d.soonest(); at > now && !half && !rests {
		d.WakeAt(at)
		return
	}
	d.next(now)
}

func (d *Driver) receive(now time.Duration, p []byte) {
	if d.request == setAddress { // the answer's content does not matter: there is one camera
		if bytes.IndexByte(p, terminator) >= 0 {
			d.end(now)
		}
		return
	}
	for packet, in := d.parser.Next(p); packet != nil; packet, in = d.parser.Next(in) {
		if r, ok := DecodeReply(packet); !ok || !d.take(now, r) {
			d.parser.Stats.Garbage += uint64(len(packet))
		}
	}
}

// take handles a reply; ok is false if the reply makes no sense.
func (d *Driver) take(now time.Duration, r Reply) (ok bool) {
	switch r.Kind {
	case Ack:
		d.head.acknowledged(now, r.Socket)
		if d.request == turn || d.request == zoom {
			d.end(now)
		}
	case Completion:
		d.head.release(r.Socket)
		if d.request == clearInterface && r.Socket == 0 {
			d.head.cleared()
			d.end(now)
		}
	case Answer:
		return d.answer(now, r)
	case Error:
		d.refused(now, r)
	case NetworkChange:
		if d.phase == running {
			d.Down(now, errRestarted)
		}
	}
	return true
}

// answer takes the answer to an inquiry; ok is false if it makes no sense.
func (d *Driver) answer(now time.Duration, r Reply) (ok bool) {
	if v, ok := r.Version(); ok {
		if d.phase == greeting && d.head.model == nil {
			d.identify(now, v)
		}
		d.answered(now, inquireVersion)
		return true
	}
	model := d.head.model
	if pan, tilt, ok := r.PanTilt(); ok {
		switch {
		case model == nil:
			d.answers = true
		case !model.plausible(pan, tilt):
			if d.phase == greeting {
				d.trouble = fmt.Errorf("the camera is beyond the ranges of %s: which model is it? Set the option model, or pan, tilt and zoom", model.Name)
			}
			return false
		default:
			d.pan, d.tilt, d.at = int16(model.PanDegrees(pan)), int16(model.TiltDegrees(tilt)), now
			d.watch(now, turn, [2]int16{pan, tilt}, int(model.Tilt.Scale))
			if d.phase == greeting {
				d.greetingDone(now)
				return true
			}
		}
		d.answered(now, inquirePanTilt)
		return true
	}
	if units, ok := r.Zoom(); ok && model != nil && model.plausibleZoom(units) {
		if d.at != 0 {
			position := codec.PTZData{Pan: d.pan, Tilt: d.tilt, Zoom: int16(model.ZoomPlayer(units))}
			d.data = position.Append(d.data[:0])
			d.device.Publish(d.at, d.data)
			d.Heard(now)
			d.at, d.missed = 0, false
		}
		d.watch(now, zoom, [2]int16{int16(units)}, model.Zoom/100)
		d.answered(now, inquireZoom)
		return true
	}
	return false
}

// watch compares where the camera is with where it was commanded to go.
func (d *Driver) watch(now time.Duration, r request, at [2]int16, tolerance int) {
	if d.phase == running && d.head.sees(now, r, at, tolerance) {
		d.complain(now, "it is elsewhere")
	}
}

// greetingDone ends setup: the camera has reported where it is, in time or late.
func (d *Driver) greetingDone(now time.Duration) {
	d.phase = running
	d.end(now)
	d.Up(now) // last: a client may close the device in it
}

// answered continues after an answer, unless the answer came too late.
func (d *Driver) answered(now time.Duration, inquiry request) {
	if d.request == inquiry {
		d.end(now)
	}
}

// refused handles an error: of the request, or of an acknowledged command.
func (d *Driver) refused(now time.Duration, r Reply) {
	inquiry := d.request == inquirePanTilt || d.request == inquireZoom || d.request == inquireVersion
	switch {
	case r.Fault == Cancelled || r.Fault == NoSocket:
		d.head.release(r.Socket)
		if d.request == cancel && r.Socket == d.head.victim {
			d.end(now)
		}
	case d.request == nothing, inquiry && r.Socket != 0:
		d.head.failed(r.Socket)
		d.complain(now, r.Fault.String())
	default:
		d.failed(now, r.Fault)
		d.end(now)
	}
}

// noAnswer is the fault if the camera does not answer.
const noAnswer Fault = 0

// failed gives up the request.
func (d *Driver) failed(now time.Duration, f Fault) {
	d.missed = true
	switch d.request {
	case inquirePanTilt:
		if f == NotExecutable {
			d.trouble = errStandby
		}
	case inquireVersion:
		d.unnamed++
		if f == BadSyntax || f == BadLength || d.answers && d.unnamed >= maxTries {
			d.Log().Info("the camera does not report its model: it is taken for an EVI-D30")
			d.head.model = d.ranges.unnamed()
		}
	case clearInterface:
		d.head.cleared()
	case cancel:
		d.head.release(d.head.victim)
	case turn, zoom:
		d.head.refused(f, d.phase == leaving)
		why := "no acknowledgement"
		if f != noAnswer {
			why = f.String()
		}
		d.complain(now, why)
	}
}

// complain logs a command that the camera does not carry out, once a second.
func (d *Driver) complain(now time.Duration, why string) {
	d.complaints.Warn(now, d.Log(), logDisobeys, zap.String("why", why))
}

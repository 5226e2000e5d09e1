package plugin

import (
	"bytes"
	"errors"
	"fmt"
	"os/exec"
	"syscall"
	"time"

	"go.uber.org/zap"

	"player/codec"
	"player/devices"
	"player/devices/peer"
)

// run is one process of the program. Its output is ignored when the driver has
// started the next one.
type run struct {
	driver   *Driver
	program  devices.Program
	stdin    devices.Port
	outbox   peer.Outbox
	reader   peer.Reader
	says     lines
	reasons  []string // why its devices cannot be set up
	rays     []codec.Rays
	channels []codec.Channel
	mistake  error // why we have killed it
	mute     bool  // it has closed its standard output, and we have killed it or were about to
	asked    bool  // it was asked to stop
	termed   bool  // SIGTERM was sent
}

// limit returns how large a block may be, for peer.Reader.
func (r *run) limit(letter byte) int {
	switch letter {
	case codec.KindReply:
		return 2 * len(r.driver.link.Devices())
	case codec.KindAnswer:
		return codec.MaxAnswer
	}
	if device := r.driver.codes.Device(r.driver.link.Devices(), letter); device != nil {
		return device.Spec().DataSize
	}
	return -1
}

// Receive implements devices.PortHandler for standard output.
func (r *run) Receive(now time.Duration, in []byte) {
	d := r.driver
	for d.run == r && d.state == running && r.mistake == nil {
		letter, payload, rest, ok, err := r.reader.Next(in, r.limit)
		if err == nil && ok {
			err = r.take(now, letter, payload)
		}
		if err != nil {
			r.fail(now, err)
			return
		}
		if !ok {
			return
		}
		in = rest
	}
}

// take takes one block. The first block other than an answer ends Setup.
func (r *run) take(now time.Duration, letter byte, payload []byte) error {
	link := r.driver.link
	switch letter {
	case codec.KindAnswer:
		r.described(codec.Answer(payload))
		return nil
	case codec.KindReply:
		for i := 0; i+1 < len(payload); i += 2 {
			if payload[i+1] == codec.AccessError {
				return r.refusal(payload[i])
			}
		}
	default:
		device := r.driver.codes.Device(link.Devices(), letter)
		if err := peer.CheckData(device.Spec(), payload); err != nil {
			return err
		}
		device.Publish(now, payload)
	}
	r.driver.retry.Worked(now, link.Log())
	link.Ready(now)
	return nil
}

// described takes the lines with which the program describes its devices, or says why it cannot set one up.
func (r *run) described(question byte, lines []string) {
	switch question {
	case codec.QuestionRays:
		r.rays = r.rays[:0]
		for _, line := range lines {
			if rays, ok := codec.ParseRays(line, r.driver.key); ok {
				r.rays = append(r.rays, rays)
			}
		}
	case codec.QuestionChannels:
		r.channels = r.channels[:0]
		for _, line := range lines {
			if channel, ok := codec.ParseChannel(line, r.driver.key); ok {
				r.channels = append(r.channels, channel)
			}
		}
	default:
		r.reasons = lines
	}
}

// refusal returns the error of a device that cannot be set up, with the reason that the
// program gave before.
func (r *run) refusal(letter byte) error {
	for _, line := range r.reasons {
		if reason, ok := codec.ParseReason(line, r.driver.key); ok && reason.Device == letter {
			return fmt.Errorf("it cannot set up device %q: %s", letter, reason.Text)
		}
	}
	return fmt.Errorf("it cannot set up device %q", letter)
}

// Hangup implements devices.PortHandler: the program has closed its standard output,
// usually because it ends. If it does not, it is ended.
func (r *run) Hangup(now time.Duration, _ error) {
	if d := r.driver; d.run == r && d.state == running && r.mistake == nil {
		r.mute = true
		r.end(now)
	}
}

// fail ends a program that has made a mistake; exited does the rest.
func (r *run) fail(now time.Duration, why error) {
	if r.mistake == nil {
		r.mistake = why
		r.end(now)
	}
}

// end ends the program. It has the time to stop its motors, if it can have moved any.
func (r *run) end(now time.Duration) {
	if r.driver.link.State() == devices.Ready {
		r.driver.ask(now)
		return
	}
	r.program.Signal(syscall.SIGKILL)
}

// exited is called when the program has ended.
func (r *run) exited(now time.Duration, err error) {
	r.stdin.Close()
	if r.driver.run != r { // its shutdown took too long
		return
	}
	exit, _ := errors.AsType[*exec.ExitError](err)
	switch {
	case r.mistake != nil:
		err = r.mistake
	case r.mute && exit != nil && exit.ExitCode() < 0: // by a signal, ours
		err = errors.New("it has closed its standard output")
	case err == nil:
		err = errors.New("it has exited")
	}
	r.driver.ended(now, err)
}

// longestLine bounds a logged line of standard error, in bytes: the longest field of the
// log.
const longestLine = 256

// lines logs the program's standard error. The log has a budget, so a program in an endless
// loop does not fill the disk.
type lines struct {
	log  *zap.Logger
	line []byte
}

func (l *lines) Receive(_ time.Duration, p []byte) {
	for len(p) > 0 {
		end := bytes.IndexByte(p, '\n')
		part := p
		if end >= 0 {
			part = p[:end]
		}
		l.line = append(l.line, part[:min(len(part), longestLine-len(l.line))]...)
		if end < 0 {
			return
		}
		p = p[end+1:]
		l.flush()
	}
}

func (l *lines) Hangup(time.Duration, error) {
	if len(l.line) > 0 {
		l.flush()
	}
}

func (l *lines) flush() {
	l.log.Info("plugin says", zap.String("line", string(l.line)))
	l.line = l.line[:0]
}

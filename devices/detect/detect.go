// Package detect identifies the hardware on an unknown serial line, by the Probes of the
// drivers' Kinds. It has no code for hardware. It blocks: it is for subcommands and for
// goroutines other than the loop.
package detect

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"
	"unicode"

	"player/codec/peertext"
	"player/devices"
)

const (
	// listenTime is how long a line is only received before anything is sent at a speed. A
	// robot that was left open sends 10 packets a second.
	listenTime = 150 * time.Millisecond
	// talkTime is how long the input of an active line is searched for known hardware. A
	// laser at 9600 baud needs 1.52 s for the rest of a scan and the next one.
	talkTime = 1700 * time.Millisecond
	// talkSize is how many bytes count as a transmission: noise on an unconnected line has
	// fewer.
	talkSize = 16
	// pauseTime is the silence that ends an answer. USB adapters pass bytes on every
	// 16 ms.
	pauseTime = 50 * time.Millisecond
	// maxRequests bounds a dialogue. The longest, with a robot that was left open,
	// needs six.
	maxRequests = 12
	// keep is how many received bytes are kept: twice the longest packet, a scan.
	keep = 2048
)

// line is a serial line during the search.
type line struct {
	port
	ctx   context.Context
	kinds []devices.Kind
	baud  int    // 0: over the network, unknown
	heard []byte // since the last request
}

// Identify asks the line at a serial port for hardware of the kinds that have a Probe, and
// leaves the hardware as it was. The error gives the reason if nothing is found: no answer,
// an unknown sender, the line cannot be opened, or ctx has ended. Identify returns soon after
// the end of ctx, and at the latest some seconds after it was called.
func Identify(ctx context.Context, where string, kinds []devices.Kind) (devices.Finding, error) {
	kinds = Probed(kinds)
	if len(kinds) == 0 {
		return devices.Finding{}, errors.New("no driver can search for its hardware")
	}
	speeds, open := speedsOf(kinds), openTTY
	if devices.SerialPort(where).OverNetwork() {
		speeds, open = []int{0}, dial
	}
	p, err := open(ctx, where, speeds[0])
	if err != nil {
		return devices.Finding{}, err
	}
	defer p.Close()
	return identify(ctx, p, kinds, speeds)
}

// identify is Identify for an open line.
func identify(ctx context.Context, p port, kinds []devices.Kind, speeds []int) (devices.Finding, error) {
	l := &line{port: p, ctx: ctx, kinds: kinds}
	// listen sets the deadline of each read and then checks ctx.
	defer context.AfterFunc(ctx, func() { _ = p.SetReadDeadline(time.Now()) })()
	talk := ""
	// Hardware that sends seldom, and only by itself, is waited for when nothing else has answered.
	for _, try := range []func(baud int) (*devices.Kind, string, error){l.try, l.wait} {
		for _, baud := range speeds {
			k, model, err := try(baud)
			if err != nil {
				return devices.Finding{}, err
			}
			if k != nil {
				return devices.Finding{Kind: k.Name, Model: peertext.Line(model), Baud: baud}, nil
			}
			if len(l.heard) >= talkSize {
				talk = cmp.Or(talk, "something unknown talks: "+l.excerpt())
			}
		}
	}
	return devices.Finding{}, errors.New(cmp.Or(talk, "nothing answers: is it on, and the cable right?"))
}

// Probed returns the kinds that have a Probe.
func Probed(kinds []devices.Kind) []devices.Kind {
	return slices.DeleteFunc(slices.Clone(kinds), func(k devices.Kind) bool { return k.Probe == nil })
}

// speedsOf returns the speeds of all kinds, the most usual ones first.
func speedsOf(kinds []devices.Kind) (speeds []int) {
	for i, more := 0, true; more; i++ {
		more = false
		for _, k := range kinds {
			if i < len(k.Probe.Speeds) {
				more = true
				if !slices.Contains(speeds, k.Probe.Speeds[i]) {
					speeds = append(speeds, k.Probe.Speeds[i])
				}
			}
		}
	}
	return speeds
}

// try searches for hardware at one speed. kind is nil if there is none. Nothing is sent on a
// line with an unknown sender.
func (l *line) try(baud int) (kind *devices.Kind, model string, err error) {
	if err := l.setSpeed(baud); err != nil {
		return nil, "", fmt.Errorf("%d baud: %w", baud, err)
	}
	l.baud, l.heard = baud, nil
	if err := l.listen(listenTime, listenTime); err != nil {
		return nil, "", err
	}
	if len(l.heard) >= talkSize {
		if err := l.listen(2*listenTime, talkTime); err != nil {
			return nil, "", err
		}
		if k, _ := l.recognise(); k == nil {
			return nil, "", nil
		}
		return l.converse()
	}
	for _, k := range l.kinds {
		if !k.Probe.At(l.baud) || len(k.Probe.Ask) == 0 {
			continue
		}
		if err := l.ask(k.Probe.Ask, k.Probe.Wait); err != nil {
			return nil, "", err
		}
		if found, _ := l.recognise(); found != nil {
			if kind, model, err := l.converse(); kind != nil || err != nil {
				return kind, model, err
			}
		}
		if len(l.heard) >= talkSize {
			return nil, "", nil
		}
	}
	return nil, "", nil
}

// wait searches at one speed for hardware that sends without a request, and more seldom than try listens.
func (l *line) wait(baud int) (kind *devices.Kind, model string, err error) {
	var longest time.Duration
	for _, k := range l.kinds {
		if k.Probe.At(baud) && len(k.Probe.Ask) == 0 {
			longest = max(longest, k.Probe.Wait)
		}
	}
	if l.heard = nil; longest <= listenTime {
		return nil, "", nil
	}
	if err := l.setSpeed(baud); err != nil {
		return nil, "", fmt.Errorf("%d baud: %w", baud, err)
	}
	l.baud = baud
	if err := l.listen(longest, longest+talkTime); err != nil {
		return nil, "", err
	}
	if k, _ := l.recognise(); k == nil {
		return nil, "", nil
	}
	return l.converse()
}

// converse continues with the hardware that was recognised until all is known,
// and leaves it as it was.
func (l *line) converse() (kind *devices.Kind, model string, err error) {
	k, a := l.recognise()
	found, again := false, false
	for range maxRequests {
		if next, step := l.recognise(); next != nil && next.Name == k.Name {
			a = step
		} else if again { // it did not answer the first request of all, either
			break
		} else {
			again = true
			a.Next = k.Probe.Ask
		}
		found = found || a.Found
		model = cmp.Or(a.Model, model)
		if len(a.Next) == 0 {
			break
		}
		if err = l.ask(a.Next, k.Probe.Wait); err != nil {
			break
		}
	}
	if len(k.Probe.Leave) > 0 {
		_, left := l.Write(k.Probe.Leave)
		err = errors.Join(err, left, l.drain())
	}
	if !found || err != nil {
		return nil, "", err
	}
	return k, model, nil
}

// recognise is devices.Recognise of the received bytes.
func (l *line) recognise() (*devices.Kind, devices.Answer) {
	return devices.Recognise(l.kinds, l.baud, l.heard)
}

// ask sends a request and listens to the answer.
func (l *line) ask(request []byte, wait time.Duration) error {
	l.heard = nil
	if l.ctx.Err() != nil {
		return l.ctx.Err()
	}
	if _, err := l.Write(request); err != nil {
		return err
	}
	return l.listen(wait, talkTime)
}

// listen receives until the line has been silent for a time, or until a limit. Once hardware
// is recognised it waits only for the silence.
func (l *line) listen(silence, limit time.Duration) error {
	end := time.Now().Add(limit)
	buf := make([]byte, 512)
	for {
		wait := silence
		if k, _ := l.recognise(); k != nil {
			wait = pauseTime
			end = earlier(end, time.Now().Add(silence))
		}
		if err := l.SetReadDeadline(earlier(end, time.Now().Add(wait))); err != nil {
			return err
		}
		if l.ctx.Err() != nil {
			return l.ctx.Err()
		}
		n, err := l.Read(buf)
		l.heard = append(l.heard, buf[:n]...)
		l.heard = l.heard[max(0, len(l.heard)-keep):]
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded):
			return nil
		case err != nil:
			return cut(err)
		}
	}
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// excerpt shows the end of the received bytes: text as text.
func (l *line) excerpt() string {
	speed := ""
	if l.baud != 0 {
		speed = fmt.Sprintf("at %d baud ", l.baud)
	}
	heard := l.heard[max(0, len(l.heard)-2*talkSize):]
	for _, r := range string(heard) {
		if r == unicode.ReplacementChar || !unicode.IsPrint(r) && !unicode.IsSpace(r) {
			return fmt.Sprintf("%s% X", speed, heard)
		}
	}
	return fmt.Sprintf("%s%q", speed, heard)
}

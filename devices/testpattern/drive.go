package testpattern

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"math/rand/v2"
	"time"

	"player/codec"
	"player/codec/compact"
)

const (
	// momentTime is how long a recorded moment lasts.
	momentTime = 100 * time.Millisecond
	// sigma is the noise of a range in mm, as in a usual laser scanner.
	sigma = 5
	// laserRange and sonarRange are the readings in mm that mean that nothing is in
	// range. They have no noise.
	laserRange = 8000
	sonarRange = 5000
)

// drive replays a recording, with new noise each time. The zero value is a stopped robot.
type drive struct {
	moments []moment
	random  *rand.Rand
}

// moment is the recorded payloads by letter.
type moment map[byte][]byte

// newDrive reads a recording: a compact frame of laser, sonar and position for each moment.
func newDrive(recorded []byte) (drive, error) {
	d := drive{random: rand.New(rand.NewPCG(1, 2))}
	var items compact.Reader
	for rest := recorded; len(rest) > 0; {
		letter, frame, behind, ok := codec.Block(rest)
		if !ok || letter != codec.KindCompact {
			return drive{}, errors.New("not a sequence of compact frames")
		}
		rest = behind
		m := moment{}
		items.Reset(frame)
		for {
			letter, payload, ok, err := items.Next()
			if err != nil {
				return drive{}, err
			}
			if !ok {
				break
			}
			m[letter] = bytes.Clone(payload)
		}
		d.moments = append(d.moments, m)
	}
	return d, nil
}

// at returns the moment of a time. Without moments it has no payloads.
func (d *drive) at(now time.Duration) moment {
	if len(d.moments) == 0 {
		return nil
	}
	return d.moments[int(now/momentTime)%len(d.moments)]
}

// position sets p to where the robot is.
func (d *drive) position(now time.Duration, p *codec.PositionData) {
	if payload := d.at(now)[codec.Position]; payload != nil {
		_ = p.Decode(payload) // of the size that was recorded
	}
}

// ranges replaces the readings of laser or sonar.
func (d *drive) ranges(now time.Duration, letter byte, was []byte) []byte {
	far := uint16(laserRange)
	if letter == codec.Sonar {
		far = sonarRange
	}
	clear, ok := d.at(now)[letter]
	if !ok {
		return was
	}
	noisy := was[:0]
	for ; len(clear) > 0; clear = clear[2:] {
		r := binary.BigEndian.Uint16(clear)
		if r < far {
			r = uint16(max(0, math.Round(float64(r)+sigma*d.random.NormFloat64())))
		}
		noisy = binary.BigEndian.AppendUint16(noisy, r)
	}
	return noisy
}

package foxglove

import (
	"context"
	"errors"
	"time"

	"player/config/rights"
	"player/devices/readlog"
	"player/formats/foxglove"
	"player/visitors"
)

// followPeriod is how often a viewer of a replayed log learns that its playback has
// ended, or that another visitor controls it.
const followPeriod = 500 * time.Millisecond

var errNoReplay = errors.New("no log is replayed here")

// replay is a replayed log, nil if a robot is none.
type replay = *visitors.Confined[*readlog.Driver]

func (v *viewer) playback(r replay) (*readlog.Playback, error) {
	return visitors.OnLoop(v.Ctx, *r, (*readlog.Driver).Playback)
}

// control changes the playback as the viewer asks for, and answers with its state.
func (v *viewer) control(c foxglove.PlaybackControl) error {
	if v.replay == nil {
		return errNoReplay
	}
	if err := visitors.Need(v.May, rights.Read|rights.Write); err != nil {
		return err
	}
	speed := float64(c.Speed)
	change := readlog.Control{Pause: &c.Pause, Speed: &speed}
	if c.Seeks {
		change.Seek = &c.Seek
	}
	type outcome struct {
		playback *readlog.Playback
		err      error
	}
	o, err := visitors.OnLoop(v.Ctx, *v.replay, func(replay *readlog.Driver, now time.Duration) *outcome {
		err := replay.Control(now, change)
		return &outcome{replay.Playback(now), err}
	})
	if err != nil {
		return err
	}
	if err := v.sendPlayback(o.playback, c.Seeks && o.err == nil, c.ID); err != nil {
		return err
	}
	return o.err
}

func (v *viewer) sendPlayback(p *readlog.Playback, sought bool, id string) error {
	state := map[readlog.State]byte{readlog.Playing: foxglove.Playing, readlog.Ended: foxglove.Ended}
	status, ok := state[p.State]
	if !ok {
		status = foxglove.Paused
	}
	return v.Outbox.Reply(false, foxglove.AppendPlayback(nil, status, p.Time, float32(p.Speed), sought, id))
}

// follow sends the viewer the state of the playback, and its changes.
func (v *viewer) follow(ctx context.Context) error {
	var last readlog.Playback
	return visitors.Every(ctx, followPeriod, func() error {
		p, err := v.playback(v.replay)
		if err == nil && (p.State != last.State || p.Speed != last.Speed) {
			err = v.sendPlayback(p, false, "")
		}
		if err == nil {
			last = *p
		}
		return err
	})
}

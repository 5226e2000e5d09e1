package hub

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"go.uber.org/zap"

	"player/fleet/bridge"
)

// Recording selects the fleet's data that a stream in NATS keeps. When a limit is
// reached the oldest messages are deleted.
type Recording struct {
	Subjects []string // none: nothing is recorded from now on
	Bytes    int64    // at most, on the disk of each replica
	Age      time.Duration
}

// record makes the stream record the subjects of the configuration. Without subjects it
// keeps its data until they are too old. The stream subscribes in the NATS server,
// so its subjects have a listener.
func (h *hub) record(ctx context.Context, js jetstream.JetStream) error {
	config := jetstream.StreamConfig{
		Name:        bridge.Stream(h.Fleet),
		Description: "data of the fleet " + h.Fleet,
		Subjects:    h.Recording.Subjects,
		MaxBytes:    h.Recording.Bytes,
		MaxAge:      h.Recording.Age,
		Discard:     jetstream.DiscardOld,
		Storage:     jetstream.FileStorage,
		Replicas:    h.Replicas,
		NoAck:       true, // a message that asks for its listeners would be answered
	}
	if len(config.Subjects) > 0 {
		return h.whenReady(ctx, "stream "+config.Name, func(ctx context.Context) error {
			_, err := js.CreateOrUpdateStream(ctx, config)
			return err
		})
	}
	return h.whenReady(ctx, "stream "+config.Name, func(ctx context.Context) error {
		stream, err := js.Stream(ctx, config.Name)
		if errors.Is(err, jetstream.ErrStreamNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		config = stream.CachedInfo().Config
		// The subject of a stream that has none is its name, on which no program publishes.
		if slices.Equal(config.Subjects, []string{config.Name}) {
			return nil
		}
		config.Subjects = nil
		if _, err = js.UpdateStream(ctx, config); err == nil {
			h.Log.Info("the recording ends: there is no -record", zap.String("stream", config.Name))
		}
		return err
	})
}

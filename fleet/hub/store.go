package hub

import (
	"context"
	"errors"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"player/fleet/bridge"
)

// bucket is a store of JetStream.
type bucket struct {
	js       jetstream.JetStream
	kv       jetstream.KeyValue
	leader   nats.JetStreamManager // reads from the leader of the stream
	stream   string                // of the bucket
	subjects string                // the beginning of the subjects of keys
	writes   string                // the same to publish on
}

func (b bucket) create(ctx context.Context, key string, value []byte) (uint64, error) {
	sequence, err := b.kv.Create(ctx, key, value, jetstream.KeyTTL(bridge.TTL))
	return sequence, leased(err)
}

// write writes a value. The bucket's own Update would make it last forever.
func (b bucket) write(ctx context.Context, key string, value []byte, last uint64) (uint64, error) {
	m := &nats.Msg{Subject: b.writes + key, Data: value}
	ack, err := b.js.PublishMsg(ctx, m, jetstream.WithMsgTTL(bridge.TTL),
		jetstream.WithExpectLastSequencePerSubject(last),
		jetstream.WithRetryAttempts(0)) // the controller tries again, and sooner
	if err != nil {
		return 0, leased(err)
	}
	return ack.Sequence, nil
}

func (b bucket) remove(ctx context.Context, key string, last uint64) error {
	return leased(b.kv.Delete(ctx, key, jetstream.LastRevision(last)))
}

// last is one request, which the leader of the stream answers. Package jetstream reads from any replica,
// which may not have the newest entry yet, or by History, which makes a consumer: 300 at once for a bridge
// that begins to serve 100 robots.
func (b bucket) last(ctx context.Context, key string) (value []byte, sequence uint64, is condition, err error) {
	last, err := b.leader.GetLastMsg(b.stream, b.subjects+key, nats.Context(ctx))
	if errors.Is(err, nats.ErrMsgNotFound) {
		return nil, 0, free, nil
	}
	if err != nil {
		return nil, 0, free, err
	}
	// The server keeps a tombstone for a TTL.
	switch {
	case last.Header.Get("KV-Operation") != "":
		return nil, 0, free, nil
	case last.Header.Get(jetstream.MarkerReasonHeader) != "":
		return nil, 0, expired, nil
	}
	return last.Data, last.Sequence, given, nil
}

// leased returns errLeased for a write that was refused because the key has another sequence number than
// expected, and other errors as they are. The second code is of a stream with replicas.
func leased(err error) error {
	api, ok := errors.AsType[*jetstream.APIError](err)
	if ok && (api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence ||
		api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequenceConstant) {
		return errLeased
	}
	return err
}

package hub

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"player/fleet/bridge"
)

// leases is the bucket of a group of robots. Each key is a device; its value lasts for a
// TTL. The sequence numbers of the bucket only grow, so does the number that a token begins
// with.
type leases struct {
	self     string // this bridge
	js       jetstream.JetStream
	kv       jetstream.KeyValue
	leader   nats.JetStreamManager // reads from the leader of the stream
	stream   string                // of the bucket
	subjects string                // the beginning of the subjects of keys
	writes   string                // the same to publish on
}

// entry is the value of a key.
type entry struct {
	Holder string `json:"holder"`
	Secret string `json:"secret"` // so that nobody can make up a token
	Bridge string `json:"bridge"` // which has written it, and obeys the holder; empty: none, it was handed over
	// First is the sequence number of the lease's first entry; 0: it is this one's.
	First uint64 `json:"first,omitempty"`
}

func (e entry) token() string { return strconv.FormatUint(e.First, 10) + "-" + e.Secret }

// leaseEntry is an entry as it is in the bucket.
type leaseEntry struct {
	entry
	sequence uint64
}

func leaseKey(robot, iface string) string { return robot + "." + iface + ".0" }

// errLeased means that the bucket has an entry of somebody else.
var errLeased = errors.New("another bridge has given the lease to somebody")

// create makes an entry, unless there is one. If the bucket does not answer, the entry that
// it may have is removed.
func (l leases) create(ctx context.Context, key, holder string) (leaseEntry, error) {
	e := entry{Holder: holder, Secret: rand.Text(), Bridge: l.self}
	sequence, err := l.kv.Create(ctx, key, mustJSON(e), jetstream.KeyTTL(bridge.TTL))
	switch {
	case outdated(err):
		return leaseEntry{}, errLeased
	case err != nil:
		go l.forget(key, e)
		return leaseEntry{}, fmt.Errorf("bucket for leases: %w", err)
	}
	e.First = sequence
	return leaseEntry{e, sequence}, nil
}

// forget removes an entry whose token nobody knows, for a TTL: the bucket may have got it late.
func (l leases) forget(key string, e entry) {
	ctx, cancel := context.WithTimeout(context.Background(), bridge.TTL)
	defer cancel()
	for ctx.Err() == nil {
		last, given, err := l.find(ctx, key)
		if err == nil && given {
			if e.First = last.First; last.entry == e {
				_ = l.remove(ctx, key, last) // it expires by itself
			}
			return
		}
		select {
		case <-ctx.Done():
		case <-time.After(adoptPause):
		}
	}
}

// renew writes the entry again, for another TTL, if no other bridge has written it since.
// An earlier renewal by this bridge, whose answer was lost, does not count.
func (l leases) renew(ctx context.Context, key string, e leaseEntry) (leaseEntry, error) {
	e.Bridge = l.self
	renewed, err := l.write(ctx, key, e)
	if !errors.Is(err, errLeased) {
		return renewed, err
	}
	last, given, err := l.find(ctx, key)
	switch {
	case err != nil:
		return leaseEntry{}, err
	case !given || last.entry != e.entry:
		return leaseEntry{}, errLeased
	}
	return l.write(ctx, key, last)
}

// handOver notes that this bridge obeys the holder no more, unless another one has written the
// entry since.
func (l leases) handOver(ctx context.Context, key string, e leaseEntry) error {
	e.Bridge = ""
	_, err := l.write(ctx, key, e)
	return err
}

// write writes an entry for a TTL, or returns errLeased if it has been written since. The
// bucket's own Update would make it last forever.
func (l leases) write(ctx context.Context, key string, e leaseEntry) (leaseEntry, error) {
	m := &nats.Msg{Subject: l.writes + key, Data: mustJSON(e.entry)}
	ack, err := l.js.PublishMsg(ctx, m, jetstream.WithMsgTTL(bridge.TTL), jetstream.WithExpectLastSequencePerSubject(e.sequence),
		jetstream.WithRetryAttempts(0)) // the controller tries again, and sooner
	if outdated(err) {
		return leaseEntry{}, errLeased
	}
	if err != nil {
		return leaseEntry{}, err
	}
	e.sequence = ack.Sequence
	return e, nil
}

// find returns the entry of a key; given is false if there is none. It is one request, which the leader of the stream
// answers. Package jetstream reads from any replica, which may not have the newest entry
// yet, or by History, which makes a consumer: 300 at once for a bridge that begins to
// serve 100 robots.
func (l leases) find(ctx context.Context, key string) (e leaseEntry, given bool, err error) {
	last, err := l.leader.GetLastMsg(l.stream, l.subjects+key, nats.Context(ctx))
	if errors.Is(err, nats.ErrMsgNotFound) {
		return leaseEntry{}, false, nil
	}
	if err != nil {
		return leaseEntry{}, false, err
	}
	// It was removed, or has expired: then the server keeps a tombstone for a TTL.
	if last.Header.Get("KV-Operation") != "" || last.Header.Get(jetstream.MarkerReasonHeader) != "" {
		return leaseEntry{}, false, nil
	}
	if err := json.Unmarshal(last.Data, &e.entry); err != nil {
		return leaseEntry{}, false, fmt.Errorf("bucket for leases: key %s: %w", key, err)
	}
	e.sequence = last.Sequence
	if e.First == 0 {
		e.First = e.sequence
	}
	return e, true, nil
}

// remove removes an entry, unless it has expired or another bridge has written it since: then
// it returns errLeased.
func (l leases) remove(ctx context.Context, key string, e leaseEntry) error {
	err := l.kv.Delete(ctx, key, jetstream.LastRevision(e.sequence))
	if !outdated(err) {
		return err
	}
	last, given, err := l.find(ctx, key)
	switch {
	case err != nil:
		return err
	case !given || last.entry != e.entry:
		return errLeased
	}
	if err = l.kv.Delete(ctx, key, jetstream.LastRevision(last.sequence)); outdated(err) {
		return errLeased
	}
	return err
}

// outdated reports whether a write was refused because the key has another sequence
// number than expected. The second code is that of a stream with replicas.
func outdated(err error) bool {
	api, ok := errors.AsType[*jetstream.APIError](err)
	return ok && (api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence || api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequenceConstant)
}

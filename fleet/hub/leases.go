package hub

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"player/devices"
	"player/fleet/bridge"
)

// leases are the leases of a group of robots, in a store. Each key is a device. The sequence numbers of the
// store only grow, so does the number that a token begins with.
type leases struct {
	clock
	self  string // this bridge
	store store
}

// entry is the value of a key.
type entry struct {
	Holder string `json:"holder"`
	Secret string `json:"secret"` // so that no program can make up a token
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

// leaseKey is the key of a device: ROBOT.INTERFACE.INDEX.
func leaseKey(robot string, spec devices.Spec) string {
	return robot + "." + spec.Name + "." + strconv.Itoa(spec.Index)
}

// errLeased means that the bucket has an entry of another program.
var errLeased = errors.New("another bridge has given the lease to a program")

// create makes an entry, unless there is one. If the bucket does not answer, the entry that
// it may have is removed.
func (l leases) create(ctx context.Context, key, holder string) (leaseEntry, error) {
	e := entry{Holder: holder, Secret: rand.Text(), Bridge: l.self}
	sequence, err := l.store.create(ctx, key, mustJSON(e))
	switch {
	case errors.Is(err, errLeased):
		return leaseEntry{}, err
	case err != nil:
		go l.forget(key, e)
		return leaseEntry{}, fmt.Errorf("bucket for leases: %w", err)
	}
	e.First = sequence
	return leaseEntry{e, sequence}, nil
}

// forget removes an entry whose token no program knows, for a TTL: the bucket may have got it late.
func (l leases) forget(key string, e entry) {
	ctx, cancel := l.WithTimeout(context.Background(), bridge.TTL)
	defer cancel()
	for ctx.Err() == nil {
		last, is, err := l.find(ctx, key)
		if err == nil && is == given {
			if e.First = last.First; last.entry == e {
				_ = l.remove(ctx, key, last) // it expires by itself
			}
			return
		}
		select {
		case <-ctx.Done():
		case <-l.After(adoptPause):
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
	last, is, err := l.find(ctx, key)
	switch {
	case err != nil:
		return leaseEntry{}, err
	case is != given || last.entry != e.entry:
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

// write writes an entry for a TTL, or returns errLeased if it has been written since.
func (l leases) write(ctx context.Context, key string, e leaseEntry) (leaseEntry, error) {
	sequence, err := l.store.write(ctx, key, mustJSON(e.entry), e.sequence)
	if err != nil {
		return leaseEntry{}, err
	}
	e.sequence = sequence
	return e, nil
}

// find returns the entry of a key, or why there is none.
func (l leases) find(ctx context.Context, key string) (e leaseEntry, is condition, err error) {
	value, sequence, is, err := l.store.last(ctx, key)
	if err != nil || is != given {
		return leaseEntry{}, is, err
	}
	if err := json.Unmarshal(value, &e.entry); err != nil {
		return leaseEntry{}, free, fmt.Errorf("bucket for leases: key %s: %w", key, err)
	}
	e.sequence = sequence
	if e.First == 0 {
		e.First = e.sequence
	}
	return e, given, nil
}

// remove removes an entry, unless it has expired or another bridge has written it since: then
// it returns errLeased.
func (l leases) remove(ctx context.Context, key string, e leaseEntry) error {
	err := l.store.remove(ctx, key, e.sequence)
	if !errors.Is(err, errLeased) {
		return err
	}
	last, is, err := l.find(ctx, key)
	switch {
	case err != nil:
		return err
	case is != given || last.entry != e.entry:
		return errLeased
	}
	return l.store.remove(ctx, key, last.sequence)
}

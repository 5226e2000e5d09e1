package hub

import (
	"context"
	"time"

	"github.com/nats-io/nats.go"

	"player/fleet/bridge"
)

// world is the surroundings of a bridge: its clock, messages, the buckets of leases, and the robots that
// it drives. A test can simulate all of them.
type world struct {
	clock
	bus    bus
	leases [bridge.Groups]leases
	// drive connects to a robot to command it.
	drive func(ctx context.Context, r Robot) (driving, error)
}

// clock is the time of a bridge.
type clock interface {
	Now() time.Time
	After(d time.Duration) <-chan time.Time
	WithTimeout(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc)
}

// bus is a connection to NATS.
type bus interface {
	Publish(subject string, data []byte) error
	ChanSubscribe(subject string, to chan *nats.Msg) (subscription, error)
}

type subscription interface {
	Drain() error
	Unsubscribe() error
	IsValid() bool
}

// store is a bucket of NATS. A value lasts for a TTL. A write that expects another sequence number than
// the key has returns errLeased.
type store interface {
	create(ctx context.Context, key string, value []byte) (sequence uint64, err error)
	write(ctx context.Context, key string, value []byte, last uint64) (sequence uint64, err error)
	remove(ctx context.Context, key string, last uint64) error
	// last returns the value of a key, or why it has none: nothing but the condition then.
	last(ctx context.Context, key string) (value []byte, sequence uint64, is condition, err error)
}

// condition is that of a key in a store.
type condition int

const (
	free    condition = iota // it has no value
	expired                  // its value has expired, a TTL ago at most
	given                    // it has a value
)

// driving is a connection to a robot that commands it.
type driving interface {
	Request(ctx context.Context, request string) error
	Open(ctx context.Context, name string, access byte, data interface{ Decode(payload []byte) error }) (code byte, err error)
	SetCommandLifetime(d time.Duration) error
	Command(letter byte, payload []byte) error
	Ask(ctx context.Context, question byte) (lines []string, err error)
	Close() error
}

// realTime is the clock of this computer.
type realTime struct{}

func (realTime) Now() time.Time { return time.Now() }

func (realTime) After(d time.Duration) <-chan time.Time { return time.After(d) }

func (realTime) WithTimeout(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, d)
}

// realBus is a connection of package nats.
type realBus struct{ *nats.Conn }

func (b realBus) ChanSubscribe(subject string, to chan *nats.Msg) (subscription, error) {
	sub, err := b.Conn.ChanSubscribe(subject, to)
	if err != nil {
		return nil, err
	}
	return sub, nil
}

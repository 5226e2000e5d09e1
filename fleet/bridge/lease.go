package bridge

import (
	"errors"
	"time"
)

const (
	// TTL is how long a lease lasts after its last renewal. It is the least that a
	// NATS server accepts for a message. Longer, and a robot whose program has
	// crashed drives on for longer.
	TTL = time.Second
	// WritePeriod is the shortest time between two renewals of a lease in the
	// bucket: a quarter of the TTL, so that two of them may be late.
	WritePeriod = TTL / 4
	// CommandLifetime is for how long a command to the wheels is good after the holder of
	// the lease has been heard. A bridge that hangs keeps its connection, and cannot end
	// the lease: the robot's server stops the wheels then. It is longer than a lease, so that
	// a renewal that is late between bridge and robot stops no robot; with more, the robot of
	// a bridge that hangs drives on.
	CommandLifetime = TTL * 3 / 2
	// RetryPeriod is the time after which a renewal is written again that has failed: a
	// connection that was lost is there again, or the bucket has a leader again.
	RetryPeriod = TTL / 20
)

// Errors of a token, which its sender gets as an answer.
var (
	ErrNoToken  = errors.New("a command needs the token of a lease, in the header " + HeaderLease + " or as token in JSON")
	ErrNoLease  = errors.New("no program holds the lease: it has ended, or was never given")
	ErrNotToken = errors.New("the token does not belong to the current lease")
)

// Control is the lease of one device. It is enforced here. The bucket has a copy,
// which keeps other bridges from giving the lease to another program, and from which
// a bridge continues that takes over the robot. The zero value is free.
type Control struct {
	Token  string // empty: free
	Holder string // the name that the holder gave

	renewed   time.Time // by the holder
	written   time.Time // when the last write to the bucket was sent
	confirmed time.Time // when the last write that the bucket has accepted was sent
	failed    bool      // the last write: the bucket has not confirmed it
	blocked   time.Time // no lease is given before
}

// Grant begins a lease. sent is when the write that created it in the bucket was
// sent.
func (c *Control) Grant(token, holder string, sent, now time.Time) {
	*c = Control{Token: token, Holder: holder, renewed: now, written: sent, confirmed: sent, blocked: c.blocked}
}

// Adopt continues a lease that another bridge gave. Unless that bridge has handed it over, the
// lease goes to no other program for some time, like after Wait.
func (c *Control) Adopt(token, holder string, handedOver bool, sent, now time.Time) {
	c.Grant(token, holder, sent, now)
	if !handedOver {
		c.Wait(now)
	}
}

// Wait keeps the lease from all programs but its holder for CommandLifetime. Another bridge may
// obey the holder for up to a TTL more. If it hangs, its last command moves the robot for longer.
func (c *Control) Wait(now time.Time) { c.blocked = now.Add(CommandLifetime) }

// Free reports whether the lease can be given to a program.
func (c *Control) Free(now time.Time) bool { return c.Token == "" && !now.Before(c.blocked) }

// Ends returns when the lease ends. That is a TTL after the holder renewed it, or
// earlier if the bucket has not confirmed renewals: it may have given the lease to
// another program.
func (c *Control) Ends() time.Time {
	if c.confirmed.Before(c.renewed) {
		return c.confirmed.Add(TTL)
	}
	return c.renewed.Add(TTL)
}

// Check returns why a token does not control the device now, or nil.
func (c *Control) Check(token string, now time.Time) error {
	switch {
	case token == "":
		return ErrNoToken
	case c.Token == "" || !now.Before(c.Ends()):
		return ErrNoLease
	case token != c.Token:
		return ErrNotToken
	}
	return nil
}

// Renew makes the lease last for another TTL if the token is right.
func (c *Control) Renew(token string, now time.Time) error {
	err := c.Check(token, now)
	if err == nil {
		c.renewed = now
	}
	return err
}

// End makes the lease free.
func (c *Control) End() { *c = Control{blocked: c.blocked} }

// WriteDue returns when the last renewal must be written to the bucket; ok is false if
// it was.
func (c *Control) WriteDue() (at time.Time, ok bool) {
	if c.Token == "" || !c.failed && !c.renewed.After(c.written) {
		return at, false
	}
	return c.written.Add(WritePeriod), true
}

// Write notes that a renewal was sent to the bucket.
func (c *Control) Write(now time.Time) { c.written = now }

// Fail notes that a renewal has failed. It is due again after RetryPeriod.
func (c *Control) Fail(now time.Time) {
	c.failed = true
	c.written = now.Add(RetryPeriod - WritePeriod)
}

// Confirm notes that the bucket has accepted the write that was sent then.
func (c *Control) Confirm(sent time.Time) { c.confirmed, c.failed = sent, false }

package devices

import (
	"fmt"
	"time"
)

// Absent is a driver for hardware that this build has no driver for: every
// setup fails at once, so clients are answered an error (PROTOCOL 2.6).
type Absent struct {
	desc Description
	port string
}

// NewAbsent describes the missing hardware.
func NewAbsent(name, port string, provides ...Spec) *Absent {
	return &Absent{Description{Name: name, Provides: provides}, port}
}

func (a *Absent) Describe() Description { return a.desc }
func (a *Absent) Setup(now time.Duration, link *Link) {
	link.Fail(now, fmt.Errorf("%s on %s: no driver yet", a.desc.Name, a.port))
}
func (a *Absent) Shutdown(time.Duration)                         {}
func (a *Absent) Command(time.Duration, *Device)                 {}
func (a *Absent) Configure(time.Duration, *Device, []byte) error { return ErrNotOpen }
func (a *Absent) Tick(time.Duration) time.Duration               { return 0 }

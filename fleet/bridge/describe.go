package bridge

import (
	"time"

	"player/devices"
)

// DescribePeriod is the time between two messages of a device that have its description. A stream drops its oldest
// messages first, so a description that was sent once would be lost; one in each message would be as long as the data of
// a ring of sonars.
const DescribePeriod = 10 * time.Second

// Describes reports whether the data of a device needs a description: where readings look, and the names and units of
// channels and joints.
func Describes(spec devices.Spec) bool {
	return spec.Name == "ranger" || spec.Name == "io" || spec.Name == "servo"
}

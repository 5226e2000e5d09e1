package visitors

import (
	"time"

	"player/server/status"
)

// Server is the server of the robots in this process. It is confined to the loop.
type Server interface {
	// Status returns a copy: it is formatted elsewhere.
	Status(now time.Duration) status.Status
	// ControlChanges returns a number that changes when another client gets control of a robot, and
	// when a robot is stopped or released. It costs much less than Status.
	ControlChanges() uint64
	// EmergencyStop stops the robot on a port until it is released, or releases it. by names
	// the client that requests it. It reports whether there is such a robot.
	EmergencyStop(now time.Duration, port int, on bool, by string) bool
}

package bridge

// RobotStatus is the message on a robot's .status, as JSON.
type RobotStatus struct {
	Robot     string            `json:"robot"`
	Address   string            `json:"address"`
	Page      string            `json:"page,omitempty"`   // URL of its dashboard
	Origin    *Origin           `json:"origin,omitempty"` // nil: unknown
	Bridge    string            `json:"bridge"`           // which serves it
	Connected bool              `json:"connected"`        // to read data
	Reading   []string          `json:"reading"`          // interfaces that somebody listens to and that give data
	Error     string            `json:"error,omitempty"`
	Holders   map[string]string `json:"holders"` // of leases, by interface
}

// Origin is where a robot's odometry is zero on the map of the fleet.
type Origin struct {
	X       float64 `json:"x"`       // m
	Y       float64 `json:"y"`       // m
	Heading float64 `json:"heading"` // deg, counterclockwise
}

package bridge

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"net/url"
	"slices"
	"strings"
)

const (
	// maxStatus is the longest status that is read, in bytes: the names of 216 devices (PROTOCOL 2.11), and an error of
	// at most 240 bytes for each (8.9).
	maxStatus = 64 << 10
	// maxPlace bounds coordinates in m, and headings in degrees: a map of the earth has
	// 4e7 m, and JSON has no infinity.
	maxPlace = 1e8
)

// RobotStatus is the message on a robot's .status, as JSON.
type RobotStatus struct {
	Robot     string            `json:"robot"`
	Address   string            `json:"address"`
	Page      string            `json:"page,omitempty"`   // URL of its dashboard
	Origin    *Origin           `json:"origin,omitempty"` // nil: unknown
	Bridge    string            `json:"bridge"`           // which serves it
	Connected bool              `json:"connected"`        // to read data
	Reading   []string          `json:"reading"`          // devices that have a listener and give data, by name
	Error     string            `json:"error,omitempty"`
	Devices   []string          `json:"devices,omitempty"` // names of the robot's devices; nil: its server has listed none
	Holders   map[string]string `json:"holders"`           // of leases, by name of the device

	Stopped   *bool             `json:"stopped"`           // the emergency stop holds; nil: unknown
	Control   string            `json:"control,omitempty"` // a client outside the fleet that keeps control: address, name
	Right     string            `json:"right,omitempty"`   // why the bridge may do nothing there
	Lost      map[string]string `json:"lost"`              // why devices do not work, by name
	MotorsOff bool              `json:"motors_off"`        // false: they are on, or the driver does not know
	Stall     *bool             `json:"stall"`             // of the wheels; nil: position is not read
	Refused   map[string]string `json:"refused"`           // why the holder's last command was not obeyed, by name of the device
}

// Origin is where a robot's odometry is zero on the map of the fleet.
type Origin struct {
	X       float64 `json:"x"`       // m
	Y       float64 `json:"y"`       // m
	Heading float64 `json:"heading"` // deg, counterclockwise
}

// Check returns an error for an origin that is nowhere on earth.
func (o Origin) Check() error {
	for _, v := range [...]float64{o.X, o.Y, o.Heading} {
		if !(math.Abs(v) <= maxPlace) { // or it is NaN
			return fmt.Errorf("%g is not on earth: at most %g", v, float64(maxPlace))
		}
	}
	return nil
}

// CheckPage returns an error for text that is not the URL of a web page. A page of the
// fleet links it.
func CheckPage(text string) error {
	if u, err := url.Parse(text); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return fmt.Errorf("%.100q is not the URL of a page", text)
	}
	return nil
}

// ReadStatus returns the status in a message. Every program that may publish can have made it
// up: the result is short, its numbers are a place on earth, and it is of
// the robot that the subject names.
func ReadStatus(subject string, text []byte) (s RobotStatus, err error) {
	tokens := strings.Split(subject, ".")
	if len(tokens) != 4 || tokens[3] != Status {
		return s, fmt.Errorf("%.100q is not the subject of a status", subject)
	}
	if len(text) > maxStatus {
		return s, fmt.Errorf("a status has %d bytes, at most %d", len(text), maxStatus)
	}
	if err := json.Unmarshal(text, &s); err != nil {
		return s, err
	}
	if err := CheckName(s.Robot); err != nil {
		return s, err
	}
	if s.Robot != tokens[2] {
		return s, errors.New("a status is of another robot than its subject")
	}
	if s.Page != "" {
		err = CheckPage(s.Page)
	}
	if s.Origin != nil {
		err = errors.Join(err, s.Origin.Check())
	}
	return s, err
}

// Trouble returns why the robot does not work, as far as the bridge knows, or "". An
// emergency stop is none: a person wants it.
func (s RobotStatus) Trouble() string {
	switch {
	case !s.Connected && s.Error != "":
		return s.Error
	case s.Right != "":
		return s.Right
	}
	for _, iface := range slices.Sorted(maps.Keys(s.Lost)) {
		return iface + ": " + s.Lost[iface]
	}
	return ""
}

// Package status describes a running server to people and their tools: as
// JSON, as Prometheus text, and as a verdict on its health. The server fills in a
// Status on its loop; everything else here happens elsewhere.
package status

import (
	"encoding/json"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"time"

	"player/codec"
)

// Status is a server at one moment.
type Status struct {
	Version string  `json:"version"`
	Uptime  Seconds `json:"uptime_s"`
	Robots  []Robot `json:"robots"`
	Loop    Loop    `json:"loop"`
	Guard   Guard   `json:"guard"`
	// Cameras are the cameras of the configuration that the dashboard shows, by name.
	Cameras map[string]Camera `json:"cameras,omitempty"`
}

// Camera is a camera that sends pictures.
type Camera struct {
	State    State   `json:"state"`           // Idle: it has no viewer; Failed: it is started again
	Error    string  `json:"error,omitempty"` // why it has failed
	Viewers  int     `json:"viewers"`
	Age      *Millis `json:"age_ms"` // of the newest picture; nil: there is none
	Pictures uint64  `json:"pictures"`
	Bytes    uint64  `json:"bytes"`   // of the pictures
	Dropped  uint64  `json:"dropped"` // pictures above the rate
	Broken   uint64  `json:"broken"`  // pictures that were cut, too large, or not JPEG
	Errors   uint64  `json:"errors"`  // failures of its source
}

// Guard is the state of the process that stops the motors if the server is killed.
type Guard string

const (
	GuardIdle    Guard = "idle"    // there is nothing to guard
	GuardReady   Guard = "ready"   // it runs
	GuardMissing Guard = "missing" // it has died, and is started again
)

// Robot is one robot of the server.
type Robot struct {
	Name    string `json:"name"`
	Port    int    `json:"port"`
	Control string `json:"control"` // newest or first
	// Commander is the client that has commanded position last and is still
	// connected; nil: there is none.
	Commander *netip.AddrPort   `json:"commander"`
	Stopped   bool              `json:"stopped"` // by an emergency stop
	Devices   map[string]Device `json:"devices"` // by interface; laser:1 for index 1
	// Recorders are the recorders of the configuration, by the path of the log.
	Recorders map[string]Recorder `json:"recorders,omitempty"`
	Clients   []Client            `json:"clients"`
	Totals    Counts              `json:"totals"` // of all clients since the server started
}

// Device is one device of a robot.
type Device struct {
	Driver  string       `json:"driver"`
	State   State        `json:"state"`
	Open    bool         `json:"open"`    // by a client or another driver
	Rate    float64      `json:"rate_hz"` // of its data
	Age     *Millis      `json:"age_ms"`  // of its data; nil: it is not open, or has none
	Error   string       `json:"error,omitempty"`
	Counted              // of its driver
	Parts   []codec.Part `json:"parts,omitempty"`  // their places on the robot, and the range that they cover
	Charge  string       `json:"charge,omitempty"` // the state of the charger, of device misc; empty: unknown
}

// Recorder is a driver that records devices.
type Recorder struct {
	State    State  `json:"state"`           // Recording, Idle or Failed
	Error    string `json:"error,omitempty"` // why it has failed
	Messages int    `json:"messages"`        // of this recording, or the last one
	Bytes    int64  `json:"bytes"`           // of their payloads
	Lost     int    `json:"lost"`            // messages of it that the disk was too slow for
}

// Counted is the counts of a device's driver since the server started.
type Counted struct {
	Setups  uint64 `json:"setups"`
	Errors  uint64 `json:"errors"`  // setups that failed, and losses of hardware
	Retries uint64 `json:"retries"` // setups and reconnections that no client asked for
	Noise   uint64 `json:"noise"`   // input thrown away: bytes outside of packets, and broken packets
}

// State of a device or of a recorder.
type State string

const (
	Idle     State = "idle"     // it is not open
	Starting State = "starting" // its driver sets up
	Ready    State = "ready"    // it works
	Stopping State = "stopping" // its driver stops
	Lost     State = "lost"     // its driver has panicked
	Failed   State = "failed"   // its last setup failed
	Stale    State = "stale"    // it is open, and its data is old

	Recording State = "recording" // of a recorder, as are Idle and Failed: it records nothing any more
)

// Well reports whether a device or recorder in this state has no fault.
func (s State) Well() bool { return s != Lost && s != Failed && s != Stale }

// Client is one client of a robot.
type Client struct {
	Address netip.AddrPort `json:"address"`
	Name    string         `json:"name"` // as it says; may be empty
	// TLS reports whether the client speaks TLS, and Certificate is the common name
	// in the client's certificate, which was verified; empty: it has none.
	TLS         bool   `json:"tls"`
	Certificate string `json:"certificate,omitempty"`

	Connected Seconds  `json:"connected_s"`
	Devices   Access   `json:"devices"`
	Rate      float64  `json:"rate"`      // that it asks for, in Hz; 0: it asks for each frame
	Served    float64  `json:"served_hz"` // frames that it is sent
	Age       *Millis  `json:"age_ms"`    // of the oldest data that it reads; nil: there is none
	Paced     bool     `json:"paced"`     // its network is full, or it does not read
	Last      *Seconds `json:"last_command_s"`
	Counts
}

// Counts are of one client, or of all clients of a robot.
type Counts struct {
	Frames   uint64 `json:"frames"`
	Bytes    uint64 `json:"bytes"`   // of frames
	Skipped  uint64 `json:"skipped"` // frames not sent because the network was full
	Commands uint64 `json:"commands"`
	Refused  uint64 `json:"refused"` // commands
}

// Add adds other to c.
func (c *Counts) Add(other Counts) {
	c.Frames += other.Frames
	c.Bytes += other.Bytes
	c.Skipped += other.Skipped
	c.Commands += other.Commands
	c.Refused += other.Refused
}

// Loop is the event loop.
type Loop struct {
	Wakes      uint64 `json:"wakes"`       // events that it has served
	LateFrames uint64 `json:"late_frames"` // due 5 ms earlier, or more
	Clients    int    `json:"clients"`
	MaxClients int    `json:"max_clients"`
}

// Access is pairs of a device's letter and r, w or a, as in srpa. Behind them, each after a space, are devices without
// letters, which have their names: "srpa laser:1=r". Its JSON is an object: {"s":"r","p":"a","laser:1":"r"}.
type Access string

// MarshalJSON implements json.Marshaler.
func (a Access) MarshalJSON() ([]byte, error) {
	m := map[string]string{}
	for word := range strings.FieldsSeq(string(a)) {
		if name, access, named := strings.Cut(word, "="); named {
			m[name] = access
			continue
		}
		for i := 0; i+1 < len(word); i += 2 {
			m[word[i:i+1]] = word[i+1 : i+2]
		}
	}
	return json.Marshal(m)
}

// UnmarshalJSON implements json.Unmarshaler.
func (a *Access) UnmarshalJSON(text []byte) error {
	var m map[string]string
	err := json.Unmarshal(text, &m)
	named := ""
	for _, name := range slices.Sorted(maps.Keys(m)) {
		if len(name) == 1 {
			*a += Access(name + m[name])
		} else {
			named += " " + name + "=" + m[name]
		}
	}
	*a = Access(strings.TrimSpace(string(*a) + named))
	return err
}

// Seconds is a time whose JSON is in seconds, with three decimals.
type Seconds time.Duration

// MarshalJSON implements json.Marshaler.
func (s Seconds) MarshalJSON() ([]byte, error) { return marshal(time.Duration(s), time.Second) }

// UnmarshalJSON implements json.Unmarshaler.
func (s *Seconds) UnmarshalJSON(text []byte) error {
	return unmarshal(text, (*time.Duration)(s), time.Second)
}

// Millis is a time whose JSON is in milliseconds, with three decimals.
type Millis time.Duration

// MarshalJSON implements json.Marshaler.
func (m Millis) MarshalJSON() ([]byte, error) { return marshal(time.Duration(m), time.Millisecond) }

// UnmarshalJSON implements json.Unmarshaler.
func (m *Millis) UnmarshalJSON(text []byte) error {
	return unmarshal(text, (*time.Duration)(m), time.Millisecond)
}

// marshal returns a time in units, with three decimals.
func marshal(t, unit time.Duration) ([]byte, error) {
	return json.Marshal(float64(t/(unit/1000)) / 1000)
}

func unmarshal(text []byte, t *time.Duration, unit time.Duration) error {
	var units float64
	err := json.Unmarshal(text, &units)
	*t = time.Duration(units * float64(unit))
	return err
}

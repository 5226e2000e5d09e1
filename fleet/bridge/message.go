package bridge

import (
	"encoding/json"
	"strconv"
	"time"

	"player/codec"
)

// Headers of messages.
const (
	HeaderTime     = "Player-Time"     // when the data was measured, RFC 3339, by the clock of the bridge
	HeaderAge      = "Player-Age"      // us, when the bridge sent it; missing: unknown
	HeaderSequence = "Player-Sequence" // of the data of this device, from 1 in each epoch
	HeaderEpoch    = "Player-Epoch"    // another value: the sequence has begun again
	HeaderSchema   = "Player-Schema"   // the kind of payload: player.INTERFACE
	// HeaderDescription has the lines that describe the device (PROTOCOL 8.9.6, 8.9.7), a value each.
	HeaderDescription = "Player-Description"
	HeaderLease       = "Player-Lease" // the token of a lease
	HeaderPlan        = "Player-Plan"  // PlanDigest of a floor plan
)

// timeFormat has microseconds, as the protocol's ages, and the same width always.
const timeFormat = "2006-01-02T15:04:05.000000Z07:00"

// Sample is the data of a device.
type Sample struct {
	Interface string
	Letter    byte
	Epoch     int64 // NewEpoch when the sequence began
	Sequence  uint64
	Arrived   time.Time     // from the robot
	Age       time.Duration // then
	Aged      bool          // Age is known
	Payload   []byte        // as the robot sent it; empty: the device has no data
}

// NewEpoch returns the epoch of a sequence that begins: us since 1970 by the clock of the
// bridge. If the clocks of bridges agree, the epoch of the bridge that took over last is the
// greatest, so a listener knows which of two senders hung.
func NewEpoch(now time.Time) int64 { return now.UnixMicro() }

// At returns the sample as it is at a later time.
func (s Sample) At(now time.Time) Sample {
	s.Age += now.Sub(s.Arrived)
	s.Arrived = now
	return s
}

// Schema returns the name of the payload's layout.
func (s Sample) Schema() string { return "player." + s.Interface }

func (s Sample) measured() string { return s.Arrived.Add(-s.Age).UTC().Format(timeFormat) }

// Headers returns the headers of both forms of a message.
func (s Sample) Headers() map[string][]string {
	h := map[string][]string{
		HeaderEpoch:    {strconv.FormatInt(s.Epoch, 10)},
		HeaderSequence: {strconv.FormatUint(s.Sequence, 10)},
		HeaderSchema:   {s.Schema()},
	}
	if len(s.Payload) > 0 {
		h[HeaderTime] = []string{s.measured()}
	}
	if s.Aged {
		h[HeaderAge] = []string{strconv.FormatInt(s.Age.Microseconds(), 10)}
	}
	return h
}

// JSON returns the message as JSON. The data is null if the device has none, or if
// the payload does not fit the protocol.
func (s Sample) JSON() []byte {
	m := struct {
		Schema   string  `json:"schema"`
		Epoch    int64   `json:"epoch"`
		Sequence uint64  `json:"sequence"`
		Time     *string `json:"time"`
		Age      *int64  `json:"age_us"`
		Data     any     `json:"data"`
	}{Schema: s.Schema(), Epoch: s.Epoch, Sequence: s.Sequence, Data: fields(s.Letter, s.Payload)}
	if len(s.Payload) > 0 {
		at := s.measured()
		m.Time = &at
	}
	if s.Aged {
		us := s.Age.Microseconds()
		m.Age = &us
	}
	text, err := json.Marshal(m)
	if err != nil {
		panic(err) // of integers and strings
	}
	return text
}

// fields returns the fields of a payload (PROTOCOL 7), or nil if its size is wrong.
// docs/CLIENTS.md has their names.
func fields(letter byte, payload []byte) any {
	var d interface{ Decode([]byte) error }
	switch letter {
	case codec.Position:
		d = new(codec.PositionData)
	case codec.Sonar:
		d = new(codec.SonarData)
	case codec.Laser:
		d = new(codec.LaserData)
	case codec.Misc:
		d = new(codec.MiscData)
	case codec.Gripper:
		d = new(codec.GripperData)
	case codec.PTZ:
		d = new(codec.PTZData)
	case codec.Vision:
		d = new(codec.VisionData)
	case codec.Joystick:
		d = new(codec.JoystickData)
	case codec.Ranger:
		d = new(codec.RangerData)
	case codec.IMU:
		d = new(codec.IMUData)
	case codec.GPS:
		d = new(codec.GPSData)
	case codec.IO:
		d = new(codec.IOData)
	case codec.Servo:
		d = new(codec.ServoData)
	case codec.Goto:
		d = new(codec.GotoData)
	}
	if d == nil || d.Decode(payload) != nil {
		return nil
	}
	switch d := d.(type) {
	case *codec.SonarData, *codec.LaserData:
		return map[string]any{"ranges": d}
	case *codec.VisionData:
		channels := make([][]codec.Blob, codec.VisionChannels)
		for c := range channels {
			channels[c] = append([]codec.Blob{}, d.Channel(c)...) // not null
		}
		return map[string]any{"channels": channels}
	case *codec.IMUData, *codec.GPSData:
		return measured(d)
	case *codec.IOData:
		values := make([]*int32, len(d.Values))
		for i, v := range d.Values {
			values[i] = known(v)
		}
		return map[string]any{"values": values}
	case *codec.ServoData:
		joints := make([]joint, len(d.Joints))
		for i, j := range d.Joints {
			joints[i] = joint{known(j.Position), known(j.Goal), j.State}
		}
		return map[string]any{"joints": joints}
	case *codec.GotoData:
		return gotoFields(d)
	}
	return d
}

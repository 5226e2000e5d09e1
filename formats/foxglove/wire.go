package foxglove

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
)

// The messages of the Foxglove WebSocket protocol
// (https://github.com/foxglove/ws-protocol/blob/main/docs/spec.md): JSON objects in text
// messages, and binary messages with an opcode, in little-endian byte order.

// Subprotocols are the subprotocols that a viewer may request, the preferred one first.
// Their messages are the same.
func Subprotocols() []string { return []string{"foxglove.sdk.v1", "foxglove.websocket.v1"} }

// Encoding is the encoding of messages.
const Encoding = "json"

// Opcodes of binary messages.
const (
	opMessageData     = 1
	opServiceResponse = 3 // of the server
	opPlayback        = 5 // of the server

	opServiceCall     = 2 // of the viewer
	opPlaybackControl = 3 // of the viewer
)

// StatusError is the level of an error in a Status.
const StatusError = 2

// ServerInfo is the first message.
type ServerInfo struct {
	Name               string   `json:"name"`
	Capabilities       []string `json:"capabilities"`
	SupportedEncodings []string `json:"supportedEncodings"`
	SessionID          string   `json:"sessionId"`
	// DataStart and DataEnd are the time range of a replayed log, ns since 1970.
	DataStart int64 `json:"dataStartTime,omitempty"`
	DataEnd   int64 `json:"dataEndTime,omitempty"`
}

// Channel is a topic that the server offers.
type Channel struct {
	ID    uint32 `json:"id"`
	Topic string `json:"topic"`
	Messages
}

// Service is a service that the server offers.
type Service struct {
	ID       uint32   `json:"id"`
	Name     string   `json:"name"`
	Type     string   `json:"type"`
	Request  Messages `json:"request"`
	Response Messages `json:"response"`
}

// Messages describes the messages of a channel, to a service, or from it.
type Messages struct {
	Encoding       string `json:"encoding"`
	SchemaName     string `json:"schemaName"`
	SchemaEncoding string `json:"schemaEncoding"`
	Schema         string `json:"schema"`
}

// ServiceFailure is the answer to a call that failed.
type ServiceFailure struct {
	ServiceID uint32 `json:"serviceId"`
	CallID    uint32 `json:"callId"`
	Message   string `json:"message"`
}

// Status is shown to the person at the viewer.
type Status struct {
	Level   int    `json:"level"`
	Message string `json:"message"`
}

// Parameter is a value that a viewer can see, and maybe change.
type Parameter struct {
	Name  string `json:"name"`
	Value any    `json:"value,omitempty"`
	Type  string `json:"type,omitempty"` // "float64", for a number without decimals
}

// ParameterValues has values. ID is the request's, if it had one.
type ParameterValues struct {
	Parameters []Parameter `json:"parameters"`
	ID         string      `json:"id,omitempty"`
}

// Text returns the text message of an operation with the fields of the struct content.
// Operations are "serverInfo", "advertise" and so on.
func Text(op string, content any) ([]byte, error) {
	fields, err := json.Marshal(content)
	if err != nil {
		return nil, err
	}
	text := fmt.Appendf(nil, `{"op":%q`, op)
	if len(fields) > len("{}") {
		text = append(text, ',')
	}
	return append(text, fields[1:]...), nil
}

// AppendMessageData appends a message of a subscription. at is ns since 1970.
func AppendMessageData(dst []byte, subscription uint32, at int64, payload []byte) []byte {
	dst = append(dst, opMessageData)
	dst = binary.LittleEndian.AppendUint32(dst, subscription)
	dst = binary.LittleEndian.AppendUint64(dst, uint64(at))
	return append(dst, payload...)
}

// AppendServiceResponse appends the answer to a call.
func AppendServiceResponse(dst []byte, c ServiceCall, payload []byte) []byte {
	dst = append(dst, opServiceResponse)
	dst = binary.LittleEndian.AppendUint32(dst, c.Service)
	dst = binary.LittleEndian.AppendUint32(dst, c.Call)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(c.Encoding)))
	dst = append(dst, c.Encoding...)
	return append(dst, payload...)
}

// States of a playback.
const (
	Playing = 0
	Paused  = 1
	Ended   = 3
)

// AppendPlayback appends the state of a playback: of foxglove.sdk.v1 only. at is the time in
// the log, ns since 1970; id is the request's, or empty.
func AppendPlayback(dst []byte, state byte, at int64, speed float32, sought bool, id string) []byte {
	dst = append(dst, opPlayback, state)
	dst = binary.LittleEndian.AppendUint64(dst, uint64(at))
	dst = binary.LittleEndian.AppendUint32(dst, math.Float32bits(speed))
	seek := byte(0)
	if sought {
		seek = 1
	}
	dst = binary.LittleEndian.AppendUint32(append(dst, seek), uint32(len(id)))
	return append(dst, id...)
}

// Request is a text message of a viewer: Op, and the fields that the operation has.
type Request struct {
	Op              string         `json:"op"`
	Subscriptions   []Subscription `json:"subscriptions"`   // subscribe
	SubscriptionIDs []uint32       `json:"subscriptionIds"` // unsubscribe
	Channels        []Channel      `json:"channels"`        // advertise
	ChannelIDs      []uint32       `json:"channelIds"`      // unadvertise
	Parameters      []Parameter    `json:"parameters"`      // setParameters
	ParameterNames  []string       `json:"parameterNames"`  // getParameters, subscribeParameterUpdates
	ID              string         `json:"id"`              // getParameters, setParameters
}

// Subscription asks for a channel. The viewer has chosen the id.
type Subscription struct {
	ID        uint32 `json:"id"`
	ChannelID uint32 `json:"channelId"`
}

// MessageData is a message that a viewer publishes.
type MessageData struct {
	Channel uint32 // as the viewer has advertised it
	Payload []byte
}

// ServiceCall is a call of a service.
type ServiceCall struct {
	Service, Call uint32
	Encoding      string
	Payload       []byte
}

// PlaybackControl controls a playback.
type PlaybackControl struct {
	Pause bool
	Speed float32
	Seeks bool
	Seek  int64 // ns since 1970
	ID    string
}

// playbackControlSize is the size of a PlaybackControl without opcode and id, in bytes.
const playbackControlSize = 18

var errShort = errors.New("the message is too short")

// ParseBinary parses a binary message of a viewer: a MessageData or a ServiceCall, which
// use the bytes of the message, or a PlaybackControl.
func ParseBinary(b []byte) (any, error) {
	if len(b) == 0 {
		return nil, errShort
	}
	op, b := b[0], b[1:]
	switch op {
	case opMessageData:
		if len(b) < 4 {
			return nil, errShort
		}
		return MessageData{binary.LittleEndian.Uint32(b), b[4:]}, nil
	case opServiceCall:
		if len(b) < 12 {
			return nil, errShort
		}
		length, rest := binary.LittleEndian.Uint32(b[8:]), b[12:]
		if uint64(length) > uint64(len(rest)) {
			return nil, errShort
		}
		return ServiceCall{binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint32(b[4:]), string(rest[:length]), rest[length:]}, nil
	}
	if op != opPlaybackControl {
		return nil, fmt.Errorf("there is no binary message %d", op)
	}
	if len(b) < playbackControlSize || uint64(binary.LittleEndian.Uint32(b[14:])) > uint64(len(b)-playbackControlSize) {
		return nil, errShort
	}
	return PlaybackControl{b[0] != 0, math.Float32frombits(binary.LittleEndian.Uint32(b[1:])), b[5] != 0, int64(binary.LittleEndian.Uint64(b[6:])),
		string(b[playbackControlSize:][:binary.LittleEndian.Uint32(b[14:])])}, nil
}

// Package load is the clients of a benchmark: one thread that holds all of
// their connections in one epoll, takes the time of every arrival, and counts.
// The clients read all seven devices, so frames are as in the paper.
package load

import (
	"time"

	"player/bench/stats"
)

// Task is the work of the clients of a group.
type Task string

const (
	Stream  Task = "stream"  // read frames at Rate
	Drive   Task = "drive"   // the same with the right to drive, but send nothing
	Command Task = "command" // drive, ten position commands a second, each client at its own times
	// Answer is a program that commands in reply to frames, ten times a second.
	// Its kernel is in interactive mode and delays acknowledgements by up to
	// 40 ms.
	Answer  Task = "answer"
	Slow    Task = "slow"    // ask for frames at Rate and read every slowPeriod
	Request Task = "request" // ask for the next frame when one has come
	Deaf    Task = "deaf"    // ask for frames at Rate and never read them
	Flood   Task = "flood"   // read frames at Rate, and send commands as fast as they are taken
)

// drives reports whether clients of the task open position for commands.
func (t Task) drives() bool { return t == Drive || t == Command || t == Answer || t == Flood }

// Group is clients that do the same.
type Group struct {
	Name      string `json:"name"`
	Clients   int    `json:"clients"`
	Rate      int    `json:"rate_hz"` // zero for Request
	Task      Task   `json:"task"`
	Address   string `json:"address"`           // host:port, numeric
	TLS       string `json:"tls,omitempty"`     // host:port to connect to by TLS, once there is an answer at Address
	Namespace int    `json:"namespace"`         // descriptor of the network namespace they live in, zero: ours
	Form      []byte `json:"form,omitempty"`    // configuration of the server sent first, none if empty
	Devices   string `json:"devices,omitempty"` // the devices to request, all if empty and there are no Further
	// Further is the interfaces, by their letters inside of a program, of the devices without a letter that are read, from
	// byte 128 on (PROTOCOL 2.11).
	Further string `json:"further,omitempty"`
	// Ports is over how many ports, from the port of Address on, the clients are spread in
	// turn; zero: one.
	Ports int `json:"ports,omitempty"`
	// NATS is set if the clients are subscriptions at a NATS server.
	NATS *Subscriptions `json:"nats,omitempty"`
	// Topic is set if the clients are programs of rosbridge, which subscribe to it. Each message is
	// a frame, of any size.
	Topic string `json:"topic,omitempty"`
}

// Subscriptions is how clients of a NATS server get data (docs/FLEET.md).
type Subscriptions struct {
	Each     int      `json:"each"`            // subscriptions of each connection
	Subjects []string `json:"subjects"`        // of the clients, in turn
	Suffix   string   `json:"suffix"`          // a message whose subject ends so is a frame
	Rates    []string `json:"rates,omitempty"` // where the first client asks for Rate
	// Others are more servers of a cluster: connections are to Address and to these, in turn.
	Others    []string `json:"others,omitempty"`
	WebSocket bool     `json:"websocket,omitempty"` // connections are WebSockets
}

// Spec is one run.
type Spec struct {
	Groups    []Group       `json:"groups"`
	FrameSize int           `json:"frame_size"` // bytes, by NATS of the payload; a frame of another size counts as bad
	Stamp     byte          `json:"stamp"`      // the device whose payload begins with its time; not in a frame: ages are unknown
	Warmup    time.Duration `json:"warmup_ns"`  // between the last reply and the first figure
	Window    time.Duration `json:"window_ns"`  // the measured time
}

// Dist is a distribution: intervals as errors against the target, so mean is
// signed, and the quantiles are of the magnitude.
type Dist struct {
	Mean time.Duration `json:"mean_ns"`
	P50  time.Duration `json:"p50_ns"`
	P99  time.Duration `json:"p99_ns"`
	P999 time.Duration `json:"p999_ns"`
	Max  time.Duration `json:"max_ns"`
}

// DistOf returns the figures of a histogram.
func DistOf(h *stats.Histogram) Dist {
	return Dist{Mean: h.Mean(), P50: h.AbsQuantile(0.5), P99: h.AbsQuantile(0.99), P999: h.AbsQuantile(0.999), Max: h.AbsMax()}
}

// GroupResult is the result of all clients of a group.
type GroupResult struct {
	Name    string `json:"name"`
	Clients int    `json:"clients"`
	Frames  int    `json:"frames"`
	Bytes   int    `json:"bytes,omitzero"`  // that came, with TLS and other framing
	Bad     int    `json:"bad,omitzero"`    // frames of a wrong shape
	Closed  int    `json:"closed,omitzero"` // connections that the server ended, or refused
	// Interval is the error of the time between arrivals; WorstMean the
	// largest mean error that any one client saw.
	Interval  Dist          `json:"interval,omitzero"`
	WorstMean time.Duration `json:"interval_worst_mean_ns"`
	Latency   Dist          `json:"latency,omitzero"` // from the stamp to the arrival
	AgeMean   time.Duration `json:"age_mean_ns,omitzero"`
	AgeP50    time.Duration `json:"age_p50_ns,omitzero"`
	AgeP99    time.Duration `json:"age_p99_ns,omitzero"`
	Jain      float64       `json:"jain,omitzero"`     // of the frames of each client
	Round     Dist          `json:"round,omitzero"`    // Request: from the question to the frame
	Commands  int           `json:"commands,omitzero"` // sent

	IntervalCDF []stats.Point `json:"interval_cdf,omitempty"`
}

// Result is one run.
type Result struct {
	Window time.Duration `json:"window_ns"` // as measured
	CPU    time.Duration `json:"cpu_ns"`    // of the clients' process in the window
	Groups []GroupResult `json:"groups"`
}

package main

import (
	"bufio"
	"bytes"
	endian "encoding/binary" // "binary" is a kind of cell
	"flag"
	"fmt"
	"net"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"player/bench/load"
	"player/codec"
)

// The cells of plain NATS are the monitors of fleet/10000x1, each with a connection, without a
// bridge: a program publishes as much as a bridge, or less, so that NATS's own share is
// seen in the same run.

const (
	plainPrefix = "nats/"
	// publishVerb is the argument by which this program publishes.
	publishVerb = "publish"
	// plainHeaders are a bridge's, also in their lengths.
	plainHeaders = "NATS/1.0\r\nPlayer-Time: 2026-11-22T10:58:17.662388Z\r\nPlayer-Age: 84778\r\nPlayer-Epoch: 1795345012551093\r\n" +
		"Player-Sequence: 12345\r\nPlayer-Schema: player.laser\r\n\r\n"
)

// plain describes the published messages.
type plain struct {
	Payload int  `json:"payload"` // bytes
	Rate    int  `json:"rate_hz"` // of each robot
	Bare    bool `json:"bare"`    // without headers
	// Env is of the NATS server.
	Env       []string `json:"env,omitempty"`
	WebSocket bool     `json:"websocket,omitempty"` // monitors connect so
	Servers   int      `json:"servers,omitempty"`   // of NATS, which share the monitors; zero: one
}

// plains are the cells: as a bridge publishes, then one thing after another is less.
func plains() []cell {
	const payload, small = codec.LaserSize, 64
	var all []cell
	for _, tt := range []struct {
		name string
		plain
	}{
		{"as-bridge", plain{Payload: payload, Rate: costRate}},
		{"bare", plain{Payload: payload, Rate: costRate, Bare: true}},
		{"bare-64", plain{Payload: small, Rate: costRate, Bare: true}},
		{"as-bridge-GOGC-400", plain{Payload: payload, Rate: costRate, Env: []string{"GOGC=400"}}},
		{"as-bridge-WebSocket", plain{Payload: payload, Rate: costRate, WebSocket: true}},
		{"as-bridge-two-servers", plain{Payload: payload, Rate: costRate, Servers: 2}},
		{"as-bridge-8Hz", plain{Payload: payload, Rate: 8}},
		{"as-bridge-5Hz", plain{Payload: payload, Rate: 5}},
		{"ten-in-one-1Hz", plain{Payload: 10 * payload, Rate: 1}},
	} {
		c := served(plainPrefix+tt.name, loopback, group{Name: "monitors", Clients: fleetMonitors, Rate: tt.Rate, Task: load.Stream, Devices: "lr"})
		c.Robots, c.Monitors, c.Size, c.Plain = fleetRobots, 1, fleetLaser, &tt.plain
		all = append(all, c)
	}
	return all
}

// publisher is the command that publishes the messages of a cell to NATS at an address.
func (p plain) publisher(address string, robots int) (program string, args []string) {
	program, err := os.Executable()
	if err != nil {
		program = os.Args[0]
	}
	return program, []string{publishVerb, "-nats", address, "-robots", fmt.Sprint(robots), "-hz", fmt.Sprint(p.Rate), "-payload", fmt.Sprint(p.Payload), fmt.Sprint("-bare=", p.Bare)}
}

// publish publishes data of robots, one after the other in equal times, until the
// connection is lost.
func publish(args []string) error {
	fs := flag.NewFlagSet(publishVerb, flag.ContinueOnError)
	address := fs.String("nats", "", "")
	robots, hz, size := fs.Int("robots", 1, ""), fs.Int("hz", 1, ""), fs.Int("payload", 0, "")
	bare := fs.Bool("bare", false, "")
	if err := fs.Parse(args); err != nil {
		return err
	}
	conn, err := net.Dial("tcp", *address)
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, err := conn.Write([]byte("CONNECT {\"verbose\":false,\"headers\":true}\r\n")); err != nil {
		return err
	}
	go func() { // the server asks now and then whether this program is there
		for lines := bufio.NewScanner(conn); lines.Scan(); {
			if strings.HasPrefix(lines.Text(), "PING") {
				_, _ = conn.Write([]byte("PONG\r\n")) // the next message also fails
			}
		}
	}()
	payload := bytes.Repeat([]byte{1}, *size)
	tick := time.NewTicker(time.Second / time.Duration(*robots**hz))
	defer tick.Stop()
	var said []byte
	for i := 0; ; i++ {
		<-tick.C
		var now unix.Timespec
		if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &now); err != nil {
			return err
		}
		endian.BigEndian.PutUint64(payload, uint64(now.Nano()))
		subject := fleetSubject(i%*robots, "laser", "data")
		if *bare {
			said = fmt.Appendf(said[:0], "PUB %s %d\r\n%s\r\n", subject, len(payload), payload)
		} else {
			said = fmt.Appendf(said[:0], "HPUB %s %d %d\r\n%s%s\r\n", subject, len(plainHeaders), len(plainHeaders)+len(payload), plainHeaders, payload)
		}
		if _, err := conn.Write(said); err != nil {
			return nil // NATS has ended
		}
	}
}

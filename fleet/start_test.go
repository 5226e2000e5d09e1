package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"

	"player/devices"
	"player/fleet/bridge"
)

// A bridge of 100 robots asks for the lease of each device once, with a request that the
// server answers from its memory. A consumer for each of them takes the server so long on
// a busy machine that requests time out and the connection is given up.
func TestStartMakesNoConsumers(t *testing.T) {
	t.Parallel()
	natsServer, err := startServer("127.0.0.1:0", t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(natsServer.Shutdown)
	conn, err := nats.Connect(natsServer.ClientURL())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	requests := subscribe(t, conn, "$JS.API.>")

	const robots = 100
	var list strings.Builder
	for i := range robots {
		fmt.Fprintf(&list, "r%d 127.0.0.1:1\n", i) // no robot is there
	}
	file := filepath.Join(t.TempDir(), "robots.txt")
	if err := os.WriteFile(file, []byte(list.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	startFleet(t, nil, "-robots", file, "-nats", natsServer.ClientURL())
	served := 0
	for i := range robots {
		for _, spec := range devices.Interfaces() {
			if spec.CommandSize > 0 {
				// Again if an answer is lost: on a busy machine the bridge may lose its connection.
				m := nats.NewMsg(bridge.Subject("lab", fmt.Sprint("r", i), spec.Name, bridge.Lease))
				m.Header.Set(bridge.HeaderLease, "no token")
				wait(t, m.Subject, func() bool {
					_, err := conn.RequestMsg(m, patience/10)
					return err == nil
				})
				served++
			}
		}
	}
	if err := conn.Flush(); err != nil {
		t.Fatal(err)
	}
	reads, consumers := 0, 0
	for n, _, _ := requests.Pending(); n > 0; n-- {
		m, err := requests.NextMsg(patience)
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case strings.HasPrefix(m.Subject, "$JS.API.CONSUMER."):
			consumers++
		case strings.HasPrefix(m.Subject, "$JS.API.STREAM.MSG.GET."):
			reads++
		}
	}
	if consumers > 0 || reads < served {
		t.Errorf("to serve %d devices, the bridge sent %d requests about consumers and read %d leases; want none and one for each", served, consumers, reads)
	}
}

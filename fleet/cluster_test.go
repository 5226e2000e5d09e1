package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"player/e2e/must"
	"player/e2e/ports"
	"player/e2e/waiting"
)

// startCluster starts a cluster of three NATS servers with JetStream.
func startCluster(t *testing.T) []*server.Server {
	t.Helper()
	const nodes = 3
	var at [nodes]int
	var routes []string
	for i := range at {
		at[i] = ports.Free(t, 1)
		routes = append(routes, fmt.Sprintf("nats://127.0.0.1:%d", at[i]))
	}
	cluster := make([]*server.Server, nodes)
	for i := range cluster {
		cluster[i] = startNATS(t, &server.Options{
			ServerName: fmt.Sprint("node", i), JetStream: true, StoreDir: t.TempDir(),
			Cluster: server.ClusterOpts{Name: "lab", Host: "127.0.0.1", Port: at[i]},
			Routes:  server.RoutesFromStr(strings.Join(routes, ",")),
		})
	}
	return cluster
}

// The node of a cluster ends to which the bridge is connected: the robot stops, or is
// driven on, and the next lease is given by the nodes that are left. When only one is
// left the robot stops, and no program gets a lease.
func TestNodesEnd(t *testing.T) {
	t.Parallel()
	cluster := startCluster(t)
	var urls []string
	for _, s := range cluster {
		urls = append(urls, s.ClientURL())
	}
	a := startRobot(t, "a")
	p, _ := startFleet(t, []robot{a}, "-nats", strings.Join(urls, ","), "-replicas", "3")
	conn := must.Get(nats.Connect(strings.Join(urls, ","), nats.MaxReconnects(-1), nats.ReconnectBufSize(-1)))(t)
	defer conn.Close()
	measured := a.watch(t)
	token := acquire(t, conn, "alice")
	stop := drive(t, conn, token)
	waiting.Until(t, "movement", func() bool { return measured() > 0 })

	used := natsOf(t, p)
	left := 0
	for _, s := range cluster {
		if s.ClientURL() == used {
			s.Shutdown()
		} else {
			left++
		}
	}
	if left != 2 {
		t.Fatalf("%d nodes are left: the bridge uses %s", left, used)
	}
	stop()
	waiting.Until(t, "stop of the robot", func() bool { return measured() == 0 })
	bobs := acquire(t, conn, "bob")
	if bobs == token {
		t.Error("the token has not changed")
	}
	stop = drive(t, conn, bobs)
	waiting.Until(t, "movement with two nodes", func() bool { return measured() > 0 })

	for _, s := range cluster {
		if s.Running() {
			s.Shutdown()
			break
		}
	}
	waiting.Until(t, "stop of the robot without a majority", func() bool { return measured() == 0 })
	if r := request(t, conn, lease, "", []byte("carol")); r.Token != "" {
		t.Errorf("without a majority, carol is answered %+v", r)
	}
	stop()
}

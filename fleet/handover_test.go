package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"player/e2e/must"
	"player/e2e/ports"
	"player/e2e/programs"
	"player/e2e/waiting"
	"player/fleet/bridge"
)

// another is the command of another device. Without a lease it is answered at once, by the
// bridge that serves robot a.
const another = "player.lab.a.ptz.0.command"

// Somebody asks for a lease, JetStream is slow, and meanwhile another bridge takes the robot
// over. If the lease is given after that, whoever asked gets its token: nobody else could
// use it, and it would keep everybody from the robot until it ended.
func TestLeaseGivenAtAHandover(t *testing.T) {
	t.Parallel()
	leaf, way := ports.Free(t, 1), newNetwork()
	startNATS(t, &server.Options{ServerName: "store", JetStream: true, JetStreamDomain: "store", StoreDir: t.TempDir(), LeafNode: server.LeafNodeOpts{Host: "127.0.0.1", Port: leaf}})
	remote := must.Get(url.Parse("nats://" + way.proxy(t, "near", "store", fmt.Sprint("127.0.0.1:", leaf))))(t)
	near := startNATS(t, &server.Options{ServerName: "near", LeafNode: server.LeafNodeOpts{Remotes: []*server.RemoteLeafOpts{{URLs: []*url.URL{remote}}}}})
	waiting.Until(t, "leaf node", func() bool { return near.NumLeafNodes() == 1 })
	p, conn := startFleet(t, []robot{startRobot(t, "a")}, "-nats", near.ClientURL(), "-domain", "store")
	entries := subscribe(t, conn, "$JS.store.API.$KV."+bridge.Bucket("lab", bridge.GroupOf("a"))+".>")

	for range 5 { // on a busy machine JetStream may be too slow
		request(t, conn, lease, "no token", nil) // as soon as the bridge serves the robot
		heal := way.cut("store")
		answers := subscribe(t, conn, nats.NewInbox())
		must.Do(t, conn.PublishRequest(lease, answers.Subject, []byte("alice")))
		must.Get(entries.NextMsg(patience))(t)
		stop := beats(t, conn, rival(t, p))
		waiting.Until(t, "handover", func() bool {
			_, err := conn.Request(another, nil, patience)
			return errors.Is(err, nats.ErrNoResponders)
		})
		heal()
		m := must.Get(answers.NextMsg(patience))(t)
		stop()
		var r reply
		must.Do(t, json.Unmarshal(m.Data, &r))
		if strings.Contains(r.Error, "deadline exceeded") {
			t.Log(r.Error)
			continue
		}
		if r.Token == "" || r.Holder != "alice" {
			t.Errorf("alice is answered %+v, while the bucket has her lease", r)
		}
		return
	}
	t.Error("JetStream was too slow five times")
}

// rival returns the name of a bridge that takes robot a from another one.
func rival(t *testing.T, of *programs.Program) string {
	t.Helper()
	var name string
	for line := range strings.Lines(of.Output.String()) {
		var l struct{ Msg, Bridge string }
		if json.Unmarshal([]byte(line), &l) == nil && l.Msg == logServing {
			name = l.Bridge
		}
	}
	for i := 0; ; i++ {
		peers, now := bridge.Peers{Self: fmt.Sprint("rival", i)}, time.Now()
		if peers.Heard(name, now); peers.Mine("a", now) {
			return peers.Self
		}
	}
}

// beats tells that a bridge is alive until stop is called.
func beats(t *testing.T, conn *nats.Conn, name string) (stop func()) {
	ended, ending := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			if err := conn.Publish("player.lab.bridges", fmt.Appendf(nil, `{"bridge":%q,"state":"alive"}`, name)); err != nil {
				t.Error(err)
			}
			select {
			case <-ending:
				return
			case <-time.After(bridge.BeatPeriod / 2):
			}
		}
	}()
	return func() {
		close(ending)
		<-ended
	}
}

// A bridge finds a lease, too, that the bridge before it has written after this one had searched.
func TestLeaseGivenAfterAHandover(t *testing.T) {
	t.Parallel()
	p, conn := startFleet(t, []robot{startRobot(t, "a")})
	other := rival(t, p)
	var r reply
	for range 5 { // on a busy machine the bridge does not search any more
		stop := beats(t, conn, other)
		waiting.Until(t, "handover", func() bool {
			_, err := conn.Request(another, nil, patience)
			return errors.Is(err, nats.ErrNoResponders)
		})
		stop()
		request(t, conn, lease, "no token", nil) // as soon as the bridge serves the robot again
		kv := bucket(t, conn)
		sequence := must.Get(kv.Create(t.Context(), leaseKey, []byte(`{"holder":"alice","secret":"S","bridge":"`+other+`"}`), jetstream.KeyTTL(bridge.TTL)))(t)
		for begin := time.Now(); time.Since(begin) < bridge.TTL; { // the entry lives as long
			if r = request(t, conn, command, fmt.Sprintf("%d-S", sequence), speed(100)); r.OK {
				return
			}
		}
	}
	t.Errorf("alice has a lease, and her command is answered %+v", r)
}

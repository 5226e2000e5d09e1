package main

import (
	"encoding/json"
	"net"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"player/e2e/must"
	"player/e2e/waiting"
	"player/fleet/bridge"
)

func TestLease(t *testing.T) {
	t.Parallel()
	a := startRobot(t, "a")
	_, conn := startFleet(t, []robot{a})
	refused := func(what, subject, token, body, holder string) {
		t.Helper()
		r := request(t, conn, subject, token, []byte(body))
		if r.Error == "" || r.OK || r.Token != "" || r.Holder != holder {
			t.Errorf("%s: %+v, want an error and the holder %q", what, r, holder)
		}
	}
	refused("a command without a lease", command, "", string(speed(100)), "")
	refused("a command with a token of nothing", command, "1-AAAAAAAAAAAAAAAAAAAAAAAAAA", string(speed(100)), "")
	refused("release without a token", lease, "", "release", "")
	refused("a holder with a bad name", lease, "", "\n", "")

	first := request(t, conn, lease, "", []byte("alice"))
	if first.Token == "" || first.TTL != 1000 || first.Holder != "alice" {
		t.Fatalf("the lease: %+v", first)
	}
	stop := keep(t, conn, lease, first.Token)
	refused("a second holder", lease, "", "bob", "alice")
	refused("a command without a token", command, "", string(speed(100)), "alice")
	refused("a command with a token made up", command, "1-AAAAAAAAAAAAAAAAAAAAAAAAAA", string(speed(100)), "alice")
	refused("a renewal with a token made up", lease, "1-AAAAAAAAAAAAAAAAAAAAAAAAAA", "", "alice")
	refused("a release with a token made up", lease, "1-AAAAAAAAAAAAAAAAAAAAAAAAAA", "release", "alice")
	refused("a command of wrong size", command, first.Token, "abc", "alice")
	if r := request(t, conn, command, first.Token, speed(100)); !r.OK {
		t.Errorf("the holder's command: %+v", r)
	}
	if r := request(t, conn, lease, first.Token, nil); r.Token != first.Token || r.Holder != "alice" {
		t.Errorf("a renewal: %+v", r)
	}
	// Another device has its own lease.
	if r := request(t, conn, "player.lab.a.ptz.0.lease", "", []byte("bob")); r.Token == "" {
		t.Errorf("the lease of the camera: %+v", r)
	}
	stop()
	if r := request(t, conn, lease, first.Token, []byte("release")); !r.OK {
		t.Fatalf("the release: %+v", r)
	}
	second := request(t, conn, lease, "", nil)
	if second.Token == "" || second.Token == first.Token {
		t.Fatalf("the next lease: %+v", second)
	}
	defer keep(t, conn, lease, second.Token)()
	refused("a command with an earlier token", command, first.Token, string(speed(100)), second.Holder)
	if clients := a.report(t).Clients; len(clients) == 0 {
		t.Error("a lease is held, and the robot has no client")
	}
}

// The robot's server hangs, and with it the bridge's answers. A program that has asked for the
// lease meanwhile may have given up: it does not get the lease when the server goes on.
func TestLeaseOfWhoHasGivenUp(t *testing.T) {
	t.Parallel()
	a := newRobot(t, "a")
	server := a.serve(t)
	_, conn := startFleet(t, []robot{a})
	token := acquire(t, conn, "alice")
	if r := request(t, conn, command, token, speed(100)); !r.OK {
		t.Fatalf("a command is answered %+v", r)
	}
	resume := server.Pause(t)
	defer resume()
	if r := request(t, conn, command, token, speed(100)); r.Error == "" {
		t.Fatalf("the server hangs, and a command is answered %+v", r)
	}
	began, answers := time.Now(), subscribe(t, conn, conn.NewInbox())
	for _, m := range []*nats.Msg{
		{Subject: command, Header: nats.Header{bridge.HeaderLease: {token}}, Data: speed(100)}, // the bridge connects again
		{Subject: lease, Reply: answers.Subject, Data: []byte("bob")},
	} {
		must.Do(t, conn.PublishMsg(m))
	}
	time.Sleep(time.Until(began.Add(2 * bridge.TTL))) // for which the robot has kept them waiting
	resume()
	m, err := answers.NextMsg(patience)
	var r reply
	if err == nil {
		err = json.Unmarshal(m.Data, &r)
	}
	if err != nil || r.Token != "" || !strings.Contains(r.Error, "ask again") {
		t.Errorf("bob is answered %+v, %v", r, err)
	}
	acquire(t, conn, "carol")
}

// A release is answered with ok only if no other bridge goes on with the lease. Here, the
// test renews the lease in the bucket, as another bridge does that takes the robot over.
func TestReleaseOfAdoptedLease(t *testing.T) {
	t.Parallel()
	_, conn := startFleet(t, []robot{startRobot(t, "a")})
	js := must.Get(jetstream.New(conn))(t)
	bucket := must.Get(js.KeyValue(t.Context(), bridge.Bucket("lab", bridge.GroupOf("a"))))(t)
	token := acquire(t, conn, "alice")
	entry := must.Get(bucket.Get(t.Context(), "a.position.0"))(t)
	var value map[string]any
	must.Do(t, json.Unmarshal(entry.Value(), &value))
	value["bridge"] = "another"
	text := must.Get(json.Marshal(value))(t)
	must.Get(bucket.Put(t.Context(), entry.Key(), text))(t)
	if r := request(t, conn, lease, token, []byte("release")); r.OK || r.Error == "" {
		t.Errorf("a release of a lease that goes on is answered %+v", r)
	}
}

// A holder that falls silent loses the lease: the robot stops, and the next one gets it.
func TestLeaseExpires(t *testing.T) {
	t.Parallel()
	a := startRobot(t, "a")
	_, conn := startFleet(t, []robot{a})
	measured := a.watch(t)
	stop := drive(t, conn, acquire(t, conn, "alice"))
	waiting.Until(t, "movement", func() bool { return measured() > 0 })
	// Commands alone renew the lease, here and in the bucket, for longer than the TTL.
	for begin := time.Now(); time.Since(begin) < 3*bridge.TTL; {
		if r := request(t, conn, lease, "", []byte("bob")); r.Token != "" || r.Holder != "alice" {
			t.Fatalf("while alice commands, bob is answered %+v", r)
		}
		if measured() == 0 {
			t.Fatal("while alice commands, the robot stands")
		}
	}
	stop()
	silent := time.Now()
	waiting.Until(t, "stop of the robot", func() bool { return measured() == 0 })
	t.Logf("the robot stood %v after the last command", time.Since(silent).Round(time.Millisecond))
	acquire(t, conn, "bob")
	t.Logf("the next one had the lease %v after it", time.Since(silent).Round(time.Millisecond))
}

// A bridge that is refused by the bucket does not connect to the robot. If the robot
// refuses, nothing stays in the bucket.
func TestRefusedLeaseLeavesTheRobotAlone(t *testing.T) {
	t.Parallel()
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer l.Close()
	var connections atomic.Int32
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			connections.Add(1)
			c.Close()
		}
	}()
	_, conn := startFleet(t, []robot{{name: "a", address: l.Addr().String()}})
	request(t, conn, lease, "no token", nil) // the bridge has searched for an earlier lease
	kv := bucket(t, conn)
	must.Get(kv.Create(t.Context(), leaseKey, []byte(`{"holder":"bob","secret":"of another bridge"}`)))(t)
	r := request(t, conn, lease, "", []byte("alice"))
	if r.Token != "" || !strings.Contains(r.Error, "another bridge") {
		t.Errorf("while another bridge has given the lease, alice is answered %+v", r)
	}
	if n := connections.Load(); n > 0 {
		t.Errorf("the bridge connected to the robot %d times", n)
	}
	must.Do(t, kv.Delete(t.Context(), leaseKey))
	for range 2 {
		if r := request(t, conn, lease, "", []byte("alice")); r.Error == "" || strings.Contains(r.Error, "another bridge") {
			t.Errorf("while the robot refuses, alice is answered %+v", r)
		}
	}
	if n := connections.Load(); n != 2 {
		t.Errorf("the bridge connected to the robot %d times for two requests", n)
	}
}

// Hardware may need longer to start than an entry lasts.
func TestLeaseOfSlowHardware(t *testing.T) {
	t.Parallel()
	a, way := startRobot(t, "a"), newNetwork()
	a.address = way.proxy(t, "bridge", "a", a.address)
	heal := way.cut("a")
	_, conn := startFleet(t, []robot{a})
	request(t, conn, lease, "no token", nil) // as soon as the bucket exists
	entries := must.Get(bucket(t, conn).Watch(t.Context(), leaseKey, jetstream.UpdatesOnly()))(t)
	defer entries.Stop()
	answered := make(chan reply, 1)
	go func() {
		answer, err := conn.Request(lease, []byte("alice"), patience)
		var r reply
		if err == nil {
			err = json.Unmarshal(answer.Data, &r)
		}
		if err != nil {
			t.Error(err)
		}
		answered <- r
	}()
	var expired jetstream.KeyValueEntry
	for limit := time.After(patience); expired == nil || expired.Operation() == jetstream.KeyValuePut; {
		select {
		case expired = <-entries.Updates():
		case <-limit:
			t.Fatal("the entry does not expire while the robot is silent")
		}
	}
	heal()
	r := <-answered
	number, _, _ := strings.Cut(r.Token, "-")
	if sequence, err := strconv.ParseUint(number, 10, 64); err != nil || sequence <= expired.Revision() || r.Holder != "alice" {
		t.Fatalf("the entry has expired at %d, and alice is answered %+v", expired.Revision(), r)
	}
	if again := request(t, conn, lease, r.Token, nil); again.Token != r.Token && again.Error != bridge.ErrNoLease.Error() {
		t.Errorf("a renewal: %+v", again)
	}
}

// leaseKey is the key of the lease of position of a.
const leaseKey = "a.position.0"

// bucket returns the bucket with the leases.
func bucket(t *testing.T, conn *nats.Conn) jetstream.KeyValue {
	t.Helper()
	js := must.Get(jetstream.New(conn))(t)
	return must.Get(js.KeyValue(t.Context(), bridge.Bucket("lab", bridge.GroupOf("a"))))(t)
}

func TestSignalStopsTheRobots(t *testing.T) {
	t.Parallel()
	a := startRobot(t, "a")
	natsServer := startEmbedded(t)
	p, conn := startFleet(t, []robot{a}, "-nats", natsServer.ClientURL())
	measured := a.watch(t)
	token := acquire(t, conn, "alice")
	defer drive(t, conn, token)()
	waiting.Until(t, "movement", func() bool { return measured() > 0 })
	if code := p.End(t, syscall.SIGTERM); code != 0 {
		t.Errorf("exit code %d, want 0", code)
	}
	waiting.Until(t, "stop of the robot", func() bool { return measured() == 0 })

	// The lease was given up, so the next bridge gives it to the next one.
	startFleet(t, []robot{a}, "-nats", natsServer.ClientURL())
	r := request(t, conn, lease, "", []byte("bob"))
	if r.Holder != "bob" {
		t.Errorf("after the end of the bridge, bob is answered %+v", r)
	}
	if r := request(t, conn, command, token, speed(100)); r.OK {
		t.Error("a token of before the end of the bridge is good")
	}
}

// Without NATS there are no commands, so the robot stops.
func TestNATSEnds(t *testing.T) {
	t.Parallel()
	a := startRobot(t, "a")
	natsServer := startEmbedded(t)
	p, conn := startFleet(t, []robot{a}, "-nats", natsServer.ClientURL())
	measured := a.watch(t)
	defer drive(t, conn, acquire(t, conn, "alice"))()
	waiting.Until(t, "movement", func() bool { return measured() > 0 })
	natsServer.Shutdown()
	waiting.Until(t, "stop of the robot", func() bool { return measured() == 0 })
	if code := p.End(t, syscall.SIGTERM); code != 0 {
		t.Errorf("exit code %d, want 0", code)
	}
}

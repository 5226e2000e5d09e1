package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nkeys"

	"player/e2e/must"
	"player/e2e/ports"
	"player/e2e/waiting"
	"player/fleet/bridge"
	"player/fleet/hub"
)

// documentedFile returns a file that the pages of the fleet have, with these replacements.
func documentedFile(t *testing.T, name string, replace ...string) []byte {
	t.Helper()
	page := append(must.Get(os.ReadFile("../docs/FLEET.md"))(t), must.Get(os.ReadFile("../docs/fleet/subjects.md"))(t)...)
	block := regexp.MustCompile("(?s)<!-- " + regexp.QuoteMeta(name) + " -->\n```\n(.*?)```").FindSubmatch(page)
	if block == nil {
		t.Fatalf("the pages of the fleet have no %s", name)
	}
	return []byte(strings.NewReplacer(replace...).Replace(string(block[1])))
}

// documented starts a NATS server with a configuration of these pages.
func documented(t *testing.T, name string, replace ...string) *server.Server {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	must.Do(t, os.WriteFile(path, documentedFile(t, name, replace...), 0o600))
	o := must.Get(server.ProcessConfigFile(path))(t)
	return startNATS(t, o)
}

// certificate writes a certificate for 127.0.0.1 and its key into dir.
func certificate(t *testing.T, dir string) {
	t.Helper()
	key := must.Get(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(t)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	cert := must.Get(x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key))(t)
	private := must.Get(x509.MarshalPKCS8PrivateKey(key))(t)
	for name, block := range map[string]*pem.Block{
		"cert.pem": {Type: "CERTIFICATE", Bytes: cert},
		"ca.pem":   {Type: "CERTIFICATE", Bytes: cert},
		"key.pem":  {Type: "PRIVATE KEY", Bytes: private},
	} {
		must.Do(t, os.WriteFile(filepath.Join(dir, name), pem.EncodeToMemory(block), 0o600))
	}
}

// The servers of docs/FLEET.md: a public one with TLS and users, and a leaf node at the
// site of the robots with the bridge.
func TestDocumentedServers(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	certificate(t, dir)
	leaf := fmt.Sprintf("127.0.0.1:%d", ports.Free(t, 1))
	public := documented(t, "hub.conf", "/etc/nats", dir, "/var/lib/nats", filepath.Join(dir, "hub"), "0.0.0.0:4222", "127.0.0.1:-1", "0.0.0.0:7422", leaf)
	site := documented(t, "site.conf", "/etc/nats", dir, "/var/lib/nats", filepath.Join(dir, "site"), "127.0.0.1:4222", "127.0.0.1:-1", "nats.example.org:7422", leaf)
	waiting.Until(t, "leaf node", func() bool { return public.NumLeafNodes() == 1 })

	a := startRobot(t, "a")
	ca := filepath.Join(dir, "ca.pem")
	port := public.Addr().(*net.TCPAddr).Port
	connect := func(user, secret string) (*nats.Conn, chan error) {
		t.Helper()
		problems := make(chan error, 16)
		conn := must.Get(nats.Connect(fmt.Sprintf("tls://%s:%s@127.0.0.1:%d", user, secret, port), nats.RootCAs(ca), nats.CustomInboxPrefix("_INBOX."+user),
			nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { problems <- err })))(t)
		t.Cleanup(conn.Close)
		return conn, problems
	}
	driver, driversProblems := connect("driver", "DRIVER-SECRET")
	monitor, monitorsProblems := connect("monitor", "MONITOR-SECRET")
	supervisor, supervisorsProblems := connect("supervisor", "SUPERVISOR-SECRET")

	for name, args := range map[string][]string{
		"leaf node": {"-fleet", "lab", "-nats", site.ClientURL()},
		"public":    {"-fleet", "lab", "-nats", fmt.Sprintf("tls://bridge:BRIDGE-SECRET@127.0.0.1:%d", port), "-ca", ca},
	} {
		p := start(t, program, append(args, "-robot", "a="+a.address+" page=http://"+a.page+"/")...)
		sub := subscribe(t, monitor, "player.lab.*.sonar.0.data")
		next(t, sub)
		must.Do(t, sub.Unsubscribe())
		waiting.Until(t, "end of reading", func() bool { return len(a.report(t).Clients) == 0 })
		pictures := subscribe(t, monitor, "player.lab.*.camera.*.picture")
		if r := request(t, monitor, bridge.CameraSubject("lab", "a", a.simulated(), bridge.Rate), "", []byte("5")); r.Rate != 5 {
			t.Errorf("%s: a request for pictures is answered %+v", name, r)
		}
		next(t, pictures)
		must.Do(t, pictures.Unsubscribe())
		// A lease lives for a second. A busy machine may take that long between the two requests.
		r := request(t, driver, command, acquire(t, driver, "alice"), speed(100))
		for try := 0; r.Error == bridge.ErrNoLease.Error() && try < 10; try++ {
			r = request(t, driver, command, acquire(t, driver, "alice"), speed(100))
		}
		if !r.OK {
			t.Errorf("%s: the driver's command is answered %+v", name, r)
		}
		// A user that may stop may not release.
		for _, c := range []struct {
			who  *nats.Conn
			verb string
			on   bool
		}{{driver, "stop", true}, {supervisor, "release", false}, {supervisor, "stop", true}, {supervisor, "release", false}} {
			if r := request(t, c.who, "player.lab."+c.verb, "", nil); !r.OK || a.report(t).Stopped != c.on {
				t.Errorf("%s: %s is answered %+v", name, c.verb, r)
			}
		}
		p.End(t, os.Interrupt)
	}

	// Acts that only the users in docs/FLEET.md may do.
	violates := func(what string, who *nats.Conn, problems chan error, do func() error) {
		t.Helper()
		must.Do(t, errors.Join(do(), who.Flush()))
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		select {
		case err := <-problems:
			if !errors.Is(err, nats.ErrPermissionViolation) {
				t.Errorf("%s: %v", what, err)
			}
		case <-ctx.Done():
			t.Errorf("%s is allowed", what)
		}
	}
	violates("a request for a lease", monitor, monitorsProblems, func() error { return monitor.Publish(lease, nil) })
	violates("a command", monitor, monitorsProblems, func() error { return monitor.Publish(command, speed(1)) })
	violates("data made up", monitor, monitorsProblems, func() error { return monitor.Publish("player.lab.a.sonar.0.data", nil) })
	for _, subject := range []string{command, lease, "_INBOX.driver.>", "$KV." + bridge.Bucket("lab", 0) + ".>", bridge.Prefix("lab", ">")} {
		violates("to listen to "+subject, monitor, monitorsProblems, func() error {
			_, err := monitor.SubscribeSync(subject)
			return err
		})
	}
	picture := bridge.CameraSubject("lab", "a", a.simulated(), bridge.Picture)
	violates("a picture for who may read nothing", supervisor, supervisorsProblems, func() error { _, err := supervisor.SubscribeSync(picture); return err })
	violates("a picture made up", monitor, monitorsProblems, func() error { return monitor.Publish(picture, nil) })
	for _, verb := range []string{"stop", "release"} {
		for _, subject := range []string{"player.lab.", "player.lab.a."} {
			violates("a "+verb+" by a monitor", monitor, monitorsProblems, func() error { return monitor.Publish(subject+verb, nil) })
		}
	}
	for _, subject := range []string{"player.lab.release", "player.lab.a.release"} {
		violates("a release by a driver", driver, driversProblems, func() error { return driver.Publish(subject, nil) })
	}
}

// A program of the public network exports the recording of a site, and one that keeps a
// mirror of it catches up after the link was cut. A bridge there has its leases at the site.
func TestReachOfLeafNode(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	certificate(t, dir)
	leaf, link := fmt.Sprintf("127.0.0.1:%d", ports.Free(t, 1)), newNetwork()
	public := documented(t, "hub.conf", "/etc/nats", dir, "/var/lib/nats", filepath.Join(dir, "hub"), "0.0.0.0:4222", "127.0.0.1:-1", "0.0.0.0:7422", leaf)
	site := documented(t, "site.conf", "/etc/nats", dir, "/var/lib/nats", filepath.Join(dir, "site"), "127.0.0.1:4222", "127.0.0.1:-1",
		"nats.example.org:7422", link.proxy(t, "site", "public", leaf))
	waiting.Until(t, "leaf node", func() bool { return public.NumLeafNodes() == 1 })
	url, ca := fmt.Sprintf("tls://bridge:BRIDGE-SECRET@127.0.0.1:%d", public.Addr().(*net.TCPAddr).Port), filepath.Join(dir, "ca.pem")
	outside := must.Get(nats.Connect(url, nats.RootCAs(ca)))(t)
	t.Cleanup(outside.Close)
	inside := must.Get(nats.Connect(site.ClientURL()))(t)
	t.Cleanup(inside.Close)

	a := startRobot(t, "a")
	p := start(t, program, "-fleet", "lab", "-nats", site.ClientURL(), "-robot", "a="+a.address, "-record", "sonar")
	last := func(conn *nats.Conn, domain, name string) uint64 {
		t.Helper()
		js := must.Get(hub.JetStream(conn, domain))(t)
		stream, err := js.Stream(t.Context(), name)
		if errors.Is(err, nats.ErrNoResponders) || errors.Is(err, jetstream.ErrStreamNotFound) {
			return 0 // not yet
		}
		if err != nil {
			t.Fatal(err)
		}
		return stream.CachedInfo().State.LastSeq
	}
	waiting.Until(t, "recording", func() bool { return last(outside, "site", "player_lab") > 10 })
	js := must.Get(jetstream.New(outside))(t)
	var mirror jetstream.StreamConfig
	must.Do(t, json.Unmarshal(documentedFile(t, "archive.json"), &mirror))
	must.Get(js.CreateStream(t.Context(), mirror))(t)
	waiting.Until(t, "mirror", func() bool { return last(outside, "", "archive") > 10 })

	heal := link.cut("site")
	stands := last(outside, "", "archive")
	waiting.Until(t, "recording without the link", func() bool { return last(inside, "", "player_lab") > stands+20 })
	have := last(inside, "", "player_lab")
	if got := last(outside, "", "archive"); got >= have {
		t.Errorf("the link is cut, and the mirror has all %d messages", got)
	}
	heal()
	waiting.Until(t, "mirror of what was recorded without the link", func() bool { return last(outside, "", "archive") >= have })

	for name, choice := range map[string][]string{"domain.mcap": {"-domain", "site"}, "archive.mcap": {"-stream", "archive"}} {
		args := append([]string{"export", "-o", filepath.Join(dir, name), "-fleet", "lab", "-nats", url, "-ca", ca}, choice...)
		if out, err := exec.Command(program, args...).CombinedOutput(); err != nil || !strings.Contains(string(out), "of 1 robots") {
			t.Errorf("export %v: %v, %s", choice, err, out)
		}
	}

	p.End(t, os.Interrupt)
	start(t, program, "-fleet", "lab", "-nats", url, "-ca", ca, "-domain", "site", "-robot", "a="+a.address)
	token := acquire(t, inside, "alice")
	stop := keep(t, inside, lease, token)
	defer stop()
	if r := request(t, inside, command, token, speed(100)); !r.OK {
		t.Errorf("a command is answered %+v", r)
	}
	before := last(inside, "", hub.Leases("lab", bridge.GroupOf("a")))
	waiting.Until(t, "renewal at the site", func() bool { return last(inside, "", hub.Leases("lab", bridge.GroupOf("a"))) > before+2 })
	if _, err := js.KeyValue(t.Context(), bridge.Bucket("lab", bridge.GroupOf("a"))); !errors.Is(err, jetstream.ErrBucketNotFound) {
		t.Errorf("the leases are in the public network: %v", err)
	}
	stop()
	if r := request(t, inside, lease, acquire(t, inside, "bob"), []byte("release")); !r.OK {
		t.Errorf("a release is answered %+v", r)
	}
}

// A bridge proves its name by a key.
func TestKey(t *testing.T) {
	t.Parallel()
	key := must.Get(nkeys.CreateUser())(t)
	seed, err1 := key.Seed()
	public, err2 := key.PublicKey()
	file := filepath.Join(t.TempDir(), "seed")
	must.Do(t, errors.Join(err1, err2, os.WriteFile(file, seed, 0o600)))
	s := startNATS(t, &server.Options{JetStream: true, StoreDir: t.TempDir(), Nkeys: []*server.NkeyUser{{Nkey: public}}})
	start(t, program, "-nats", s.ClientURL(), "-nkey", file, "-robot", "a=127.0.0.1:1")
	if out, err := exec.Command(program, "-nats", s.ClientURL(), "-robot", "a=127.0.0.1:1").CombinedOutput(); err == nil || !strings.Contains(string(out), "-nkey") {
		t.Errorf("without the key: %v, %s", err, out)
	}
}

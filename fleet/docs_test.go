package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"player/fleet/bridge"
)

// documented starts a NATS server with a configuration of docs/FLEET.md, with these
// replacements.
func documented(t *testing.T, name string, replace ...string) *server.Server {
	t.Helper()
	page, err := os.ReadFile("../docs/FLEET.md")
	if err != nil {
		t.Fatal(err)
	}
	block := regexp.MustCompile("(?s)<!-- " + regexp.QuoteMeta(name) + " -->\n```\n(.*?)```").FindSubmatch(page)
	if block == nil {
		t.Fatalf("docs/FLEET.md has no %s", name)
	}
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(strings.NewReplacer(replace...).Replace(string(block[1]))), 0o600); err != nil {
		t.Fatal(err)
	}
	o, err := server.ProcessConfigFile(path)
	if err != nil {
		t.Fatal(err)
	}
	o.NoSigs, o.NoLog = true, true
	s, err := server.NewServer(o)
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() {
		s.Shutdown()
		s.WaitForShutdown()
	})
	if !s.ReadyForConnections(patience) {
		t.Fatalf("the server of %s does not start", name)
	}
	return s
}

// certificate writes a certificate for 127.0.0.1 and its key into dir.
func certificate(t *testing.T, dir string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for name, block := range map[string]*pem.Block{
		"cert.pem": {Type: "CERTIFICATE", Bytes: cert},
		"ca.pem":   {Type: "CERTIFICATE", Bytes: cert},
		"key.pem":  {Type: "PRIVATE KEY", Bytes: private},
	} {
		if err := os.WriteFile(filepath.Join(dir, name), pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// The servers of docs/FLEET.md: a public one with TLS and users, and a leaf node at the
// site of the robots with the bridge.
func TestDocumentedServers(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	certificate(t, dir)
	leaf := fmt.Sprintf("127.0.0.1:%d", freePort(t))
	public := documented(t, "hub.conf", "/etc/nats", dir, "/var/lib/nats", filepath.Join(dir, "hub"), "0.0.0.0:4222", "127.0.0.1:-1", "0.0.0.0:7422", leaf)
	site := documented(t, "site.conf", "/etc/nats", dir, "/var/lib/nats", filepath.Join(dir, "site"), "127.0.0.1:4222", "127.0.0.1:-1", "nats.example.org:7422", leaf)
	wait(t, "leaf node", func() bool { return public.NumLeafNodes() == 1 })

	a := startRobot(t, "a")
	ca := filepath.Join(dir, "ca.pem")
	port := public.Addr().(*net.TCPAddr).Port
	connect := func(user, secret string) (*nats.Conn, chan error) {
		t.Helper()
		problems := make(chan error, 16)
		conn, err := nats.Connect(fmt.Sprintf("tls://%s:%s@127.0.0.1:%d", user, secret, port), nats.RootCAs(ca), nats.CustomInboxPrefix("_INBOX."+user),
			nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { problems <- err }))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(conn.Close)
		return conn, problems
	}
	driver, driversProblems := connect("driver", "DRIVER-SECRET")
	monitor, monitorsProblems := connect("monitor", "MONITOR-SECRET")
	supervisor, _ := connect("supervisor", "SUPERVISOR-SECRET")

	for name, args := range map[string][]string{
		"leaf node": {"-fleet", "lab", "-nats", site.ClientURL()},
		"public":    {"-fleet", "lab", "-nats", fmt.Sprintf("tls://bridge:BRIDGE-SECRET@127.0.0.1:%d", port), "-ca", ca},
	} {
		p := start(t, program, append(args, "-robot", "a="+a.address)...)
		sub := subscribe(t, monitor, "player.lab.*.sonar.0.data")
		next(t, sub)
		if err := sub.Unsubscribe(); err != nil {
			t.Fatal(err)
		}
		wait(t, "end of reading", func() bool { return len(a.report(t).Clients) == 0 })
		token := acquire(t, driver, "alice")
		if r := request(t, driver, command, token, speed(100)); !r.OK {
			t.Errorf("%s: the driver's command is answered %+v", name, r)
		}
		// Who may stop may not release.
		for _, c := range []struct {
			who  *nats.Conn
			verb string
			on   bool
		}{{driver, "stop", true}, {supervisor, "release", false}, {supervisor, "stop", true}, {supervisor, "release", false}} {
			if r := request(t, c.who, "player.lab."+c.verb, "", nil); !r.OK || a.report(t).Stopped != c.on {
				t.Errorf("%s: %s is answered %+v", name, c.verb, r)
			}
		}
		p.end(t, os.Interrupt)
	}

	// What nobody may but those of whom docs/FLEET.md says so.
	violates := func(what string, who *nats.Conn, problems chan error, do func() error) {
		t.Helper()
		if err := errors.Join(do(), who.Flush()); err != nil {
			t.Fatal(err)
		}
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
	for _, subject := range []string{command, lease, "_INBOX.driver.>", "$KV.player_lab.>", bridge.Prefix("lab", ">")} {
		violates("to listen to "+subject, monitor, monitorsProblems, func() error {
			_, err := monitor.SubscribeSync(subject)
			return err
		})
	}
	for _, verb := range []string{"stop", "release"} {
		for _, subject := range []string{"player.lab.", "player.lab.a."} {
			violates("a "+verb+" by a monitor", monitor, monitorsProblems, func() error { return monitor.Publish(subject+verb, nil) })
		}
	}
	for _, subject := range []string{"player.lab.release", "player.lab.a.release"} {
		violates("a release by a driver", driver, driversProblems, func() error { return driver.Publish(subject, nil) })
	}
}

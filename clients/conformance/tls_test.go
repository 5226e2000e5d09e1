package conformance

import (
	"crypto/tls"
	"fmt"
	"maps"
	"net"
	"regexp"
	"testing"

	"player/e2e/needs"
	"player/server/secure/certs"
)

// trust has the authority of the servers and their clients, and what is not of it.
type trust struct {
	lab, elsewhere           *certs.Authority
	robot, old, ada, expired certs.Pair
}

func newTrust(t *testing.T) *trust {
	t.Helper()
	lab := certs.New(t, "lab")
	return &trust{
		lab: lab, elsewhere: certs.New(t, "elsewhere"),
		robot: lab.Issue("robot", nil), old: lab.Issue("robot", certs.Expired),
		ada: lab.Issue("ada", nil), expired: lab.Issue("ada", certs.Expired),
	}
}

// flags are a server's, with a port for TLS.
func (r *trust) flags(port int) []string {
	return []string{"-tls", fmt.Sprintf("127.0.0.1:%d", port), "-tls-cert", r.robot.Cert, "-tls-key", r.robot.Key, "-tls-clients", r.lab.File}
}

// outdated listens as a server does whose certificate has expired.
func (r *trust) outdated(t *testing.T) (port int) {
	t.Helper()
	l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{r.old.TLS}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			_ = conn.(*tls.Conn).Handshake() // the client ends it
			conn.Close()
		}
	}()
	return l.Addr().(*net.TCPAddr).Port
}

// realTLS connects with a certificate, and is turned away with the reason. What the server finds wrong,
// a client learns at its first request, since a handshake of TLS 1.3 is over for it before.
func realTLS(s *session) {
	r := s.trust
	good := Object{"op": "connect", "host": "127.0.0.1", "port": s.process.sealed, "timeout_ms": patience,
		"authority": r.lab.File, "certificate": r.ada.Cert, "key": r.ada.Key}
	with := func(changes Object) Object {
		changed := maps.Clone(good)
		maps.Copy(changed, changes)
		for name, value := range changed {
			if value == nil {
				delete(changed, name)
			}
		}
		return changed
	}
	if got := s.adapter.call(s.t, good); got["error"] == "usage" {
		needs.Missing(s.t, "an adapter without OpenSSL: install libssl-dev: ", text(got))
	}
	for _, request := range []Object{good, with(Object{"server": "localhost"})} {
		s.do(request)
		s.do(ask("prsr"))
		s.read()
		s.fails("refused", ask("jr"))
		s.do(Object{"op": "close"})
	}
	for _, c := range []struct {
		name    string
		request Object
		reason  string // in the error
	}{
		{"another authority", with(Object{"authority": r.elsewhere.File}), "issuer|authority|signature|self|path|verif"},
		{"another server", with(Object{"server": "elsewhere.example"}), "name|match|valid for"},
		{"an expired server", with(Object{"port": r.outdated(s.t)}), "expired|validity"},
		{"no certificate", with(Object{"certificate": nil, "key": nil}), "certificate.required|required"},
		{"an expired certificate", with(Object{"certificate": r.expired.Cert, "key": r.expired.Key}), "expired"},
		{"the port without TLS", with(Object{"port": s.process.port}), "TLS|SSL|handshake|EOF"},
	} {
		got := s.adapter.call(s.t, c.request)
		if got["ok"] == true {
			got = s.adapter.call(s.t, ask("pr"))
		}
		said, _ := got["text"].(string)
		if got["error"] != "closed" || !regexp.MustCompile("(?i)"+c.reason).MatchString(said) {
			s.t.Errorf("%s: %s, want an error of kind closed that says %s", c.name, text(got), c.reason)
		}
	}
}

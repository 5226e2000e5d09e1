package conformance

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"maps"
	"net"
	"regexp"
	"testing"

	"player/e2e/certs"
	"player/e2e/must"
	"player/e2e/needs"
)

// trust has the authority of the servers and their clients, and certificates of others.
type trust struct {
	lab, elsewhere           *certs.Authority
	robot, old, ada, expired certs.Pair
	named                    certs.Pair // for robot.example and *.lab.example, and no address
}

func newTrust(t *testing.T) *trust {
	t.Helper()
	lab := certs.New(t, "lab")
	return &trust{
		lab: lab, elsewhere: certs.New(t, "elsewhere"),
		robot: lab.Issue("robot", nil), old: lab.Issue("robot", certs.Expired),
		ada: lab.Issue("ada", nil), expired: lab.Issue("ada", certs.Expired),
		named: lab.Issue("robot", func(c *x509.Certificate) {
			c.DNSNames, c.IPAddresses = []string{"robot.example", "*.lab.example"}, nil
		}),
	}
}

// flags are a server's, with a port for TLS.
func (r *trust) flags(port int) []string {
	return []string{"-tls", fmt.Sprintf("127.0.0.1:%d", port), "-tls-cert", r.robot.Cert, "-tls-key", r.robot.Key, "-tls-clients", r.lab.File}
}

// shows listens with a certificate. It does no more than shake hands.
func shows(t *testing.T, pair certs.Pair) (port int) {
	t.Helper()
	l := must.Get(tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{pair.TLS}}))(t)
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				_ = conn.(*tls.Conn).Handshake() // which the client may end
				_, _ = conn.Read(make([]byte, 1))
			}()
		}
	}()
	return l.Addr().(*net.TCPAddr).Port
}

// silent listens and never says anything.
func silent(t *testing.T) (port int) {
	t.Helper()
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	t.Cleanup(func() { l.Close() })
	return l.Addr().(*net.TCPAddr).Port
}

// needsTLS connects, and skips the test if the adapter cannot.
func (s *session) needsTLS(request Object) {
	s.t.Helper()
	if got := s.adapter.call(s.t, request); got["error"] == "usage" {
		needs.Missing(s.t, "an adapter without TLS: install libssl-dev and tcl-tls: ", text(got))
	}
}

// realTLS connects with a certificate, and is turned away with the reason. A client learns the server's
// reason at its first request, since a handshake of TLS 1.3 is over for it before.
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
	s.needsTLS(good)
	for _, request := range []Object{good, with(Object{"server": "localhost"})} {
		s.do(request)
		s.do(ask("prsr"))
		s.read()
		s.fails("refused", ask("jr"))
		s.do(Object{"op": "close"})
	}
	several := shows(s.t, r.named)
	for _, name := range []string{"robot.example", "ROBOT.example", "r1.lab.example"} {
		s.do(with(Object{"port": several, "server": name}))
		s.do(Object{"op": "close"})
	}
	s.fails("timeout", with(Object{"port": silent(s.t), "timeout_ms": soon}))
	const mismatched = "name|match|valid for|SAN"
	for _, c := range []struct {
		name    string
		request Object
		reason  string // in the error
	}{
		{"another authority", with(Object{"authority": r.elsewhere.File}), "issuer|authority|signature|self|path|verif"},
		{"another server", with(Object{"server": "elsewhere.example"}), mismatched},
		{"an expired server", with(Object{"port": shows(s.t, r.old)}), "expired|validity"},
		{"no certificate", with(Object{"certificate": nil, "key": nil}), "certificate.required|required"},
		{"an expired certificate", with(Object{"certificate": r.expired.Cert, "key": r.expired.Key}), "expired"},
		{"the port without TLS", with(Object{"port": s.process.port}), "TLS|SSL|handshake|EOF"},
		{"a name with more labels than that with an asterisk", with(Object{"port": several, "server": "a.r1.lab.example"}), mismatched},
		{"the name behind an asterisk", with(Object{"port": several, "server": "lab.example"}), mismatched},
		{"a certificate without the address", with(Object{"port": several}), mismatched},
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

// realSealedExperiment reads and changes a world by https.
func realSealedExperiment(s *session) {
	r := s.trust
	good := Object{"op": "simulation", "host": "127.0.0.1", "port": s.process.page, "timeout_ms": patience,
		"authority": r.lab.File, "certificate": r.ada.Cert, "key": r.ada.Key}
	with := func(name string, value any) Object {
		changed := maps.Clone(good)
		changed[name] = value
		return changed
	}
	s.needsTLS(good)
	for _, request := range []Object{good, with("order", Object{"seed": 7, "move": []any{Object{"name": "r0", "x": 1.0, "y": 0.5, "heading": 90.0}}}), good} {
		state, _ := s.do(request)["state"].(Object)
		if movers, _ := state["movers"].([]any); len(movers) == 0 {
			s.t.Errorf("%s: %s", text(request), text(state))
		}
	}
	state, _ := s.do(good)["state"].(Object)
	if state["seed"] != 7.0 {
		s.t.Errorf("the seed is %v", state["seed"])
	}
	s.fails("refused", with("order", Object{"move": []any{Object{"name": "nobody", "x": 0.0, "y": 0.0, "heading": 0.0}}}))
	s.fails("timeout", Object{"op": "simulation", "host": "127.0.0.1", "port": silent(s.t), "timeout_ms": soon, "authority": r.lab.File})
	s.fails("closed", with("authority", r.elsewhere.File))
	s.fails("closed", with("port", shows(s.t, r.named)))
	s.fails("closed", with("port", shows(s.t, r.old)))
	none := maps.Clone(good)
	delete(none, "certificate")
	delete(none, "key")
	s.fails("closed", none) // the server wants one
}

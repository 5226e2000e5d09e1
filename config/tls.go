package config

import (
	"cmp"
	"fmt"
	"net"
	"slices"
	"strconv"
)

// TLS has the settings for TLS with clients. The zero value: without TLS.
type TLS struct {
	// Listen is host:port for the first robot. The others keep their distance: robots on
	// 6665 and 6670 are served on 7665 and 7670.
	Listen  string
	Cert    string // PEM file: the certificate of the server, and those between it and its authority
	Key     string // PEM file
	Clients string // PEM file: authorities for clients' certificates; empty: clients need no certificate
}

// exampleTLS is shown in errors.
const exampleTLS = `tls ( listen ":7665" cert "robot.pem" key "robot.key" clients "authority.pem" )`

// readTLS reads the section tls ( listen ... cert ... key ... clients ... ). Flags
// override it.
func (b *builder) readTLS() TLS {
	flags, file := b.TLS, TLS{}
	errorf := func(format string, args ...any) error { return fmt.Errorf("-tls: "+format, args...) }
	given := flags != TLS{}
	for i, s := range b.file.Global.Sections("tls") {
		if i > 0 {
			b.fail(s.Errorf("", "there is a section tls already; it serves all robots"))
		}
		file = TLS{s.String("listen", ""), s.Path("cert", ""), s.Path("key", ""), s.Path("clients", "")}
		errorf = func(format string, args ...any) error { return s.Errorf("listen", format, args...) }
		given = true
	}
	t := TLS{cmp.Or(flags.Listen, file.Listen), cmp.Or(flags.Cert, file.Cert), cmp.Or(flags.Key, file.Key), cmp.Or(flags.Clients, file.Clients)}
	if !given {
		return t
	}
	if t.Listen == "" || t.Cert == "" || t.Key == "" {
		b.fail(errorf("tls needs listen, cert and key, as in %s, or -tls, -tls-cert and -tls-key", exampleTLS))
		return t
	}
	if _, port, err := net.SplitHostPort(t.Listen); err != nil || !isPort(port) {
		b.fail(errorf(`%.60q is not an address to listen on: write ":7665", or "10.0.0.7:7665"`, t.Listen))
		return t
	}
	b.failTLS = errorf
	return t
}

func isPort(text string) bool {
	n, err := strconv.ParseUint(text, 10, 16)
	return err == nil && n > 0
}

// placeTLS gives the robots their addresses for TLS. robots are sorted by port.
func (b *builder) placeTLS(listen string) {
	if listen == "" {
		return
	}
	host, port, _ := net.SplitHostPort(listen) // readTLS has checked it
	first, _ := strconv.Atoi(port)
	for i := range b.robots {
		r := &b.robots[i]
		port := first + r.Port - b.robots[0].Port
		if port > 65535 {
			b.fail(b.failTLS("the robot on port %d would be served on %d: choose a lower port", r.Port, port))
		}
		if slices.ContainsFunc(b.robots, func(o Robot) bool { return o.Port == port }) {
			b.fail(b.failTLS("the robot on port %d would be served on %d, where one is served without TLS: choose another port", r.Port, port))
		}
		r.TLS = net.JoinHostPort(host, strconv.Itoa(port))
	}
}

package visitors

import (
	"crypto/tls"
	"errors"
	"flag"
	"fmt"
	"net"

	"go.uber.org/zap"

	"player/config/access"
	"player/config/rights"
	"player/server/tlsconn"
)

// Flags belong to a program that has a page and no configuration file: the visitors' rights, the certificate
// for TLS, and which reverse proxy shows the page. Without them other computers only see it.
type Flags struct {
	access, cert, key, clients string
	proxy                      Proxy
}

// Add adds the flags to a set.
func (f *Flags) Add(set *flag.FlagSet) {
	set.StringVar(&f.access, "access", "", "`file` of sections access: rights of other computers on the page; without it they only watch")
	set.StringVar(&f.cert, "tls-cert", "", "certificate of the page, a PEM `file`: other computers have to use https")
	set.StringVar(&f.key, "tls-key", "", "its key, a PEM `file`")
	set.Var(&f.proxy, "proxy", "`URL` that browsers open where a reverse proxy shows the page, and, behind a comma, the address that the proxy has if it is not on this computer")
	set.StringVar(&f.clients, "tls-clients", "", "PEM `file` of the authorities that browsers need a certificate of")
}

// Given reports whether one of the flags was given.
func (f Flags) Given() bool { return f.access+f.cert+f.key+f.clients != "" || f.proxy.Origins != nil }

// Common reads the files, and returns the settings for the page at HOST:PORT.
func (f Flags) Common(address string, log *zap.Logger) (Common, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return Common{}, err
	}
	c := Common{Name: host, Access: rights.Local(), Proxy: f.proxy, Log: log}
	if f.access != "" {
		certificates := "-tls-clients FILE"
		if f.clients != "" {
			certificates = ""
		}
		if c.Access, err = access.ReadFile(f.access, certificates); err != nil {
			return c, fmt.Errorf("-access: %w", err)
		}
	}
	if (f.cert == "") != (f.key == "") || f.cert == "" && f.clients != "" {
		return c, errors.New("-tls-cert and -tls-key belong together, and -tls-clients needs them")
	}
	if f.cert != "" {
		loaded, err := tlsconn.Load(f.cert, f.key, f.clients)
		if err != nil {
			return c, err
		}
		c.TLS = func() *tls.Config { return loaded }
	}
	return c, nil
}

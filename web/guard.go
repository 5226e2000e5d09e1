package web

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strings"

	"go.uber.org/zap"
)

// guard keeps strangers' pages out: a page that the user visits elsewhere can
// have the browser send requests here, and must not drive the robot.
//
// The origin of a request that is made by a page must be our page. That is not
// enough, for the owner of a name can let it point to our address once his page
// is loaded (DNS rebinding): his origin and our host are then the same. So the
// host, too, must be one that he cannot own: an address, or a name of ours.
type guard struct {
	names []string // lower case
}

// newGuard returns a guard that knows localhost, the machine's name and name,
// if not empty.
func newGuard(name string) guard {
	g := guard{names: []string{"localhost"}}
	if name != "" {
		g.names = append(g.names, strings.ToLower(name))
	}
	if host, err := os.Hostname(); err == nil && host != "" {
		host = strings.ToLower(host)
		g.names = append(g.names, host, host+".local")
	}
	return g
}

// check returns why a request is refused, or nil.
func (g guard) check(r *http.Request) error {
	host := r.Host
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.ToLower(strings.TrimSuffix(strings.TrimPrefix(host, "["), "]"))
	if _, err := netip.ParseAddr(host); err != nil && !slices.Contains(g.names, host) {
		return fmt.Errorf("%.80q is not a name of this server: use its address, or start it with -http %.80s:PORT", host, host)
	}
	origins := r.Header.Values("Origin")
	if len(origins) == 0 {
		return nil // not from another page: browsers tell then
	}
	u, err := url.Parse(origins[0])
	if err != nil || len(origins) > 1 || (u.Scheme != "http" && u.Scheme != "https") || !strings.EqualFold(u.Host, r.Host) {
		return fmt.Errorf("a page of %.80q may not use this server", origins[0])
	}
	return nil
}

// protect lets through what passes the check. The headers keep our page from
// loading anything from elsewhere, and from being shown inside another one,
// where clicks could be stolen.
func (g guard) protect(next http.Handler, log *zap.Logger) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", "default-src 'self'; img-src 'self' data:; frame-ancestors 'none'; base-uri 'none'; form-action 'none'")
		h.Set("X-Frame-Options", "DENY")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cache-Control", "no-cache") // a new server has a new page
		if err := g.check(r); err != nil {
			log.Warn("window: request refused", zap.String("from", r.RemoteAddr), zap.Error(err))
			http.Error(w, err.Error(), http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// loopback says that only programs of this machine reach an address.
func loopback(address net.Addr) bool {
	a, err := netip.ParseAddrPort(address.String())
	return err == nil && a.Addr().Unmap().IsLoopback()
}

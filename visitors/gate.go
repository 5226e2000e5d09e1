package visitors

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.uber.org/zap"
)

// LogRefused is a message of the log, by which tests find lines.
const LogRefused = "visitor: request refused"

// OtherPage is the reason in the refusal of a page of another site.
const OtherPage = "may not use this server"

// gate refuses requests that pages of other sites make: any page that the user
// visits can make the browser send requests to this server, and must not drive
// the robot.
//
// The origin of a request must be the host that it is sent to. This is not
// enough: the owner of a host name can load a page from it and then change the
// name's address to ours (DNS rebinding), so that origin and host are equal. So
// the host must be one that no other owner can have: an IP address, or a name of this
// server.
type gate struct {
	names   []string // lower case
	origins []string // of pages elsewhere that may send requests
	flag    string   // that sets the address of this server, for errors
	proxy   Proxy
}

// newGate returns a gate that accepts localhost, the machine's name, name, which may be empty,
// and the names of a proxy.
func newGate(name string, proxy Proxy) gate {
	g := gate{names: append([]string{"localhost"}, proxy.hosts()...), proxy: proxy}
	if name != "" {
		g.names = append(g.names, strings.ToLower(name))
	}
	if host, err := os.Hostname(); err == nil && host != "" {
		host = strings.ToLower(host)
		g.names = append(g.names, host, host+".local")
	}
	return g
}

func (g gate) check(r *http.Request) error {
	host := r.Host
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.ToLower(strings.TrimSuffix(strings.TrimPrefix(host, "["), "]"))
	if _, err := netip.ParseAddr(host); err != nil && !slices.Contains(g.names, host) {
		return fmt.Errorf("%s is not a name of this server: use its address, or start it with %s NAME:PORT, or with -proxy ORIGIN behind a proxy", Quote(host), g.flag)
	}
	origins := r.Header.Values("Origin")
	if len(origins) == 0 {
		return nil // browsers send the origin of requests from other sites
	}
	if len(origins) == 1 && (slices.Contains(g.origins, origins[0]) || slices.Contains(g.proxy.Origins, origins[0])) {
		return nil
	}
	u, err := url.Parse(origins[0])
	if err != nil || len(origins) > 1 || (u.Scheme != "http" && u.Scheme != "https") || !strings.EqualFold(u.Host, r.Host) {
		return fmt.Errorf("pages of %s %s; if that is a proxy in front of it, start it with -proxy ORIGIN", Quote(origins[0]), OtherPage)
	}
	return nil
}

// Quote quotes the beginning of a browser's text, in at most 242 bytes.
func Quote(text string) string { return strconv.Quote(text[:min(len(text), 60)]) }

// protect calls next for requests that pass the check. For a request that a proxy has forwarded,
// RemoteAddr becomes the visitor's address. Headers prevent our page from loading anything from
// elsewhere, and another page from showing it in a frame, where it could steal clicks.
func (g gate) protect(next http.Handler, log *zap.Logger) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", "default-src 'self'; img-src 'self' data:; frame-ancestors 'none'; base-uri 'none'; form-action 'none'")
		h.Set("X-Frame-Options", "DENY")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cache-Control", "no-cache") // a new server may have a new page
		// No request of the page has a body. After the reply, net/http would wait for it.
		if r.ContentLength != 0 {
			_ = http.NewResponseController(w).SetReadDeadline(time.Now())
			h.Set("Connection", "close")
			http.Error(w, "a request may not have a body", http.StatusRequestEntityTooLarge)
			return
		}
		visitor, err := g.proxy.visitor(r)
		if err == nil {
			err = g.check(r)
		}
		if err != nil {
			log.Warn(LogRefused, zap.String("browser", r.RemoteAddr), zap.Error(err))
			http.Error(w, err.Error(), http.StatusForbidden)
			return
		}
		if visitor.IsValid() {
			r.RemoteAddr = netip.AddrPortFrom(visitor, 0).String() // its port is not known
		}
		next.ServeHTTP(w, r)
	})
}

// loopback reports whether only programs on this machine can reach an address.
func loopback(address net.Addr) bool {
	a, err := netip.ParseAddrPort(address.String())
	return err == nil && a.Addr().Unmap().IsLoopback()
}

package visitors

import (
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"player/config/access"
)

// Proxy is a reverse proxy in front of a Site. Browsers open the proxy's origins. The site gets
// all requests from the proxy's addresses, so X-Forwarded-For must name the visitor. Otherwise
// visitors would have the rights of the proxy's computer, which is often the robot's own. In the
// zero value there is no proxy. It implements flag.Value.
type Proxy struct {
	Origins   []string // as browsers send them
	Addresses []netip.Prefix
}

// Set reads origins and addresses, separated by commas. Without an address, the proxy runs on
// this computer.
func (p *Proxy) Set(text string) error {
	if p.Origins != nil {
		return errors.New("there is one already: write all origins and addresses in one, with commas")
	}
	var set Proxy
	for part := range strings.SplitSeq(text, ",") {
		if network, err := access.ParseNetwork(part); err == nil {
			set.Addresses = append(set.Addresses, network)
			continue
		}
		origin, err := ParseOrigin(part)
		if err == nil && !strings.HasPrefix(origin, "http://") && !strings.HasPrefix(origin, "https://") {
			err = fmt.Errorf("%q is not an address that browsers open: http:// or https://", part)
		}
		if err != nil {
			return err
		}
		set.Origins = append(set.Origins, origin)
	}
	if set.Origins == nil {
		return errors.New("the origin is missing that browsers show, as in https://robots.example.org")
	}
	if set.Addresses == nil {
		set.Addresses = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}
	}
	*p = set
	return nil
}

// String is for flag.Value.
func (p *Proxy) String() string { return strings.Join(p.Origins, ",") }

// ParseOrigin returns an origin as browsers send it in the header Origin (RFC 6454, 6.2): in lower
// case, without the port that the scheme implies. Errors say which form is right.
func ParseOrigin(text string) (string, error) {
	if text == "null" || text == "file://" {
		return text, nil // of pages without an origin, and of some programs
	}
	u, err := url.Parse(text)
	host, port := "", uint64(0)
	if err == nil {
		if host = strings.TrimSuffix(u.Host, ":"+u.Port()); u.Port() != "" {
			port, err = strconv.ParseUint(u.Port(), 10, 16)
		}
	}
	if err != nil || u.Scheme == "" || host == "" || u.User != nil || strings.Contains(text, "*") {
		return "", fmt.Errorf("%q is not an origin: it is one, with http:// or https://, as in http://viewer.lab:8080", text)
	}
	origin := strings.ToLower(u.Scheme + "://" + host)
	if u.Port() != "" && port != map[string]uint64{"http": 80, "https": 443}[u.Scheme] {
		origin += ":" + strconv.FormatUint(port, 10)
	}
	switch {
	case strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "":
		return "", fmt.Errorf("%q has more than an origin: browsers send %s", text, origin)
	case strings.ContainsFunc(origin, func(r rune) bool { return r > '~' }):
		return "", fmt.Errorf("%q: browsers send such a name in the form that begins with xn--; the log has it when a page is refused", text)
	}
	return origin, nil
}

func (p Proxy) hosts() (names []string) {
	for _, origin := range p.Origins {
		if u, err := url.Parse(origin); err == nil { // Set has checked it
			names = append(names, u.Hostname())
		}
	}
	return names
}

// has reports whether the proxy has an address.
func (p Proxy) has(a netip.Addr) bool {
	return slices.ContainsFunc(p.Addresses, func(network netip.Prefix) bool { return network.Contains(a.WithZone("")) })
}

// shown reports whether a request was sent to an origin of the proxy, or by a page there.
func (p Proxy) shown(r *http.Request) bool {
	return slices.ContainsFunc(p.Origins, func(origin string) bool {
		_, host, _ := strings.Cut(origin, "://")
		return r.Header.Get("Origin") == origin || strings.EqualFold(r.Host, host)
	})
}

// forwardedFor is the header in which each proxy adds the address that a request came from.
const forwardedFor = "X-Forwarded-For"

// visitor returns the address for which the proxy has forwarded a request. The address is not
// valid if the request comes from the visitor itself, or from a proxy on this computer for a
// visitor there. A forwarded request without a visitor's address gets an error, not the rights of
// the proxy's computer. From any other address the header proves nothing.
func (p Proxy) visitor(r *http.Request) (netip.Addr, error) {
	from, chain := AddressOf(r.RemoteAddr), strings.Join(r.Header.Values(forwardedFor), ",")
	forwarded, named := chain != "" || r.Header.Get("Forwarded") != "", p.has(from)
	switch {
	case named && (forwarded || p.shown(r) || !from.IsLoopback()): // a program on loopback need not be a proxy
	case !named && forwarded && from.IsLoopback():
		if visitor, err := last(chain, netip.Addr.IsLoopback); err == nil && visitor.IsLoopback() {
			return netip.Addr{}, nil
		}
		return netip.Addr{}, errors.New("a proxy on this computer has forwarded this: start the server with -proxy ORIGIN, the address that browsers open")
	default:
		return netip.Addr{}, nil
	}
	return last(chain, p.has)
}

// last returns the last address of a chain that is no proxy; the first if all are proxies. Each proxy
// has added one address at the end of the chain.
func last(chain string, isProxy func(netip.Addr) bool) (a netip.Addr, err error) {
	for _, text := range slices.Backward(strings.Split(chain, ",")) {
		if a, err = netip.ParseAddr(strings.TrimSpace(text)); err != nil {
			return netip.Addr{}, fmt.Errorf("the proxy does not say whose request this is: it has to send the address in %s, not %s", forwardedFor, Quote(text))
		}
		if a = a.Unmap(); !isProxy(a) {
			break
		}
	}
	return a, nil
}

package visitors

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"time"

	"go.uber.org/zap"

	"player/config/rights"
	"player/formats/telemetry"
	"player/process/descriptors"
	"player/server/status"
)

// Common has the settings and services that each server for visitors needs. The page of a
// program without robots needs no Server, Post and Descriptors.
type Common struct {
	Server Confined[Server] // which reports the status, and stops robots
	// Post calls a function on the loop. It reports whether the loop still runs. It is for Confine.
	Post func(func(now time.Duration)) bool
	// Access has the rights of visitors by address. The robots themselves only see the
	// address of this process.
	Access rights.Rules
	// Descriptors has those for connections to the robots.
	Descriptors *descriptors.Share
	// Connect connects to the robot at HOST:PORT. Nil: by TCP.
	Connect func(ctx context.Context, address string) (net.Conn, error)
	Name    string             // as in Site
	Origins []string           // as in Site
	Proxy   Proxy              // as in Site
	TLS     func() *tls.Config // as in Site
	Log     *zap.Logger
}

// Site returns the site of a server. The log calls it what, and flag is the flag with its address.
func (c Common) Site(what, flag string, handler http.Handler) Site {
	return Site{Name: c.Name, Origins: c.Origins, Proxy: c.Proxy, What: what, Flag: flag, Can: "drive", TLS: c.TLS, Handler: handler, Log: c.Log}
}

// Status returns the status of the robots' server.
func (c Common) Status(ctx context.Context) (*status.Status, error) {
	return OnLoop(ctx, c.Server, func(s Server, now time.Duration) *status.Status { return new(s.Status(now)) })
}

// RightsOf returns the rights of the address and the certificate that a request comes from.
func (c Common) RightsOf(r *http.Request) rights.Set {
	visitor := VisitorOf(r)
	return c.Access.Of(visitor.Address, visitor.Name)
}

// Allowed calls next for visitors that have the rights, and refuses others with the reason.
func (c Common) Allowed(needs rights.Set, next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if err := Need(c.RightsOf(r), needs); err != nil {
			http.Error(w, err.Error(), http.StatusForbidden)
			return
		}
		next(w, r)
	}
}

// URL returns an address that a browser on this computer can open: with the host of the flag, or
// localhost if the site listens on all addresses of the computer. at is the site's address.
func (c Common) URL(at *net.TCPAddr) string {
	host := c.Name
	if ip, err := netip.ParseAddr(host); host == "" || err == nil && ip.IsUnspecified() {
		host = "localhost"
	}
	scheme := "http://"
	if !at.IP.IsLoopback() && c.TLS != nil && c.TLS() != nil {
		scheme = "https://"
	}
	return scheme + net.JoinHostPort(host, strconv.Itoa(at.Port))
}

// Robot is a robot of this server.
type Robot struct {
	Name    string // each once, without slash
	Address string // host:port
	Port    int
	Devices []Device
}

// Device is a device that clients can open.
type Device struct {
	telemetry.Device
	Code byte // on the wire
}

// Equal reports whether two robots are the same to visitors.
func (r Robot) Equal(other Robot) bool {
	return r.Name == other.Name && r.Address == other.Address && slices.EqualFunc(r.Devices, other.Devices, Device.Equal)
}

// Equal reports whether two devices are the same to visitors.
func (d Device) Equal(other Device) bool {
	return d.Code == other.Code && d.Interface == other.Interface && d.Index == other.Index && d.Geometry == other.Geometry &&
		slices.Equal(d.Rays, other.Rays) && slices.Equal(d.Channels, other.Channels)
}

// Device returns the index of the device with a byte on the wire, -1 if there is none.
func (r Robot) Device(code byte) int {
	return slices.IndexFunc(r.Devices, func(d Device) bool { return d.Code == code })
}

// Drawn returns the devices as package telemetry draws them.
func (r Robot) Drawn() []telemetry.Device {
	list := make([]telemetry.Device, len(r.Devices))
	for i, d := range r.Devices {
		list[i] = d.Device
	}
	return list
}

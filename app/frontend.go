package app

import (
	"cmp"
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"time"

	"go.uber.org/zap"

	"player/config"
	"player/process/descriptors"
	"player/visitors"
)

// frontend is a server for people and programs: the dashboard, Foxglove, rosbridge.
type frontend struct {
	visitors.Common
	listener *net.TCPListener
	address  string // that the flags ask for
	bind     string // where the robots are
	what     string // for the log when it begins
	name     string // for the log when it fails
	// show takes over the robots of a configuration. It reports whether they are others than
	// before.
	show func(conf *config.Server, sim *simulation) (changed bool)
	// serving returns the function that serves the robots that were shown, until ctx ends.
	serving func() func(ctx context.Context, l net.Listener) error

	start func() (stop func()) // serves until stop, which waits for the end
	stop  func()               // of the serving
}

// listen begins a frontend at an address that the flags ask for.
func listen(o options, address string, log *zap.Logger) (*frontend, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("%q is not HOST:PORT: localhost:PORT is for this computer; :PORT is also for the network", address)
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	return &frontend{Common: visitors.Common{Name: host, Proxy: o.proxy, Log: log}, listener: listener.(*net.TCPListener), address: address, bind: cmp.Or(o.bind, "localhost")}, nil
}

// openFrontends opens those that the flags ask for. dash is the dashboard, nil if there is none.
func openFrontends(o options, conf *config.Server, sim *simulation, seen *cameras, log *zap.Logger) (dash *frontend, all []*frontend, err error) {
	if dash, err = openDashboard(o, conf, sim, seen, log); err != nil {
		return nil, nil, err
	}
	viewers, err := openFoxglove(o, conf, sim, seen, log)
	if err != nil {
		return nil, nil, err
	}
	if dash == nil && viewers == nil && len(conf.Cameras) > 0 {
		log.Warn("no page shows the pictures of the cameras: start the dashboard with -http HOST:PORT")
	}
	programs, err := openRosbridge(o, conf, sim, log)
	if err != nil {
		return nil, nil, err
	}
	for _, f := range []*frontend{dash, viewers, programs} {
		if f != nil {
			all = append(all, f)
		}
	}
	return dash, all, nil
}

// serve starts to serve, until ctx ends, with the descriptors of a share. s is the server of
// the robots, tls the configuration of a new connection, and post calls a function on the
// loop; spawn is lastwords.Book.Go.
func (f *frontend) serve(ctx context.Context, share *descriptors.Share, tls func() *tls.Config, s visitors.Server, post func(func(now time.Duration)) bool, spawn func(fn func())) {
	f.TLS, f.Post, f.Server, f.Descriptors = tls, post, visitors.Confine(post, s), share
	listener := descriptors.Listener(pausable{f.listener}, share)
	f.start = func() (stop func()) {
		serving, cancel := context.WithCancel(ctx)
		ended := make(chan struct{})
		run := f.serving()
		spawn(func() {
			defer close(ended)
			if err := run(serving, listener); err != nil {
				f.Log.Error(f.name+" failed", zap.Error(err))
			}
			if ctx.Err() != nil {
				_ = f.listener.Close() // nothing is accepted any more
			}
		})
		return func() {
			cancel()
			<-ended
			_ = f.listener.SetDeadline(time.Time{}) // it is open
		}
	}
	f.stop = f.start()
}

// change serves the robots of a reloaded configuration, unless they are as before. Pages,
// viewers and programs connect again by themselves.
func (f *frontend) change(conf *config.Server, sim *simulation) {
	if f.show(conf, sim) {
		f.stop()
		f.stop = f.start()
	}
}

// url returns an address that a browser on this computer can open, empty without a frontend. tls
// is the configuration of a new connection.
func (f *frontend) url(tls func() *tls.Config) string {
	if f == nil {
		return ""
	}
	c := f.Common
	c.TLS = tls
	return c.URL(f.listener.Addr().(*net.TCPAddr))
}

// pausable is a listener that only stops to accept when it is closed. Browsers that
// connect wait until they are served again.
type pausable struct{ net.Listener }

// Close implements net.Listener.
func (p pausable) Close() error { return p.Listener.(*net.TCPListener).SetDeadline(time.Unix(0, 1)) }

package app

import (
	"context"
	"net"
	"time"

	"player/reactor/descriptors"
)

// frontend is a server for people and programs: the dashboard, Foxglove, rosbridge. C
// is its configuration, which a reload changes.
type frontend[C any] struct {
	listener *net.TCPListener
	bind     string // where the robots are
	config   C
	start    func() (stop func()) // serves config until stop, which waits for the end
	stop     func()               // of what is served
}

// serve starts to serve config, until ctx ends. run is the server, which ends with its
// context. A connection takes cost descriptors of a share; onPanic is deferred.
func (f *frontend[C]) serve(ctx context.Context, share *descriptors.Share, cost int, onPanic func(), run func(context.Context, net.Listener, C)) {
	listener := descriptors.Listener(pausable{f.listener}, share, cost)
	f.start = func() (stop func()) {
		serving, cancel := context.WithCancel(ctx)
		ended := make(chan struct{})
		config := f.config
		go func() {
			defer onPanic()
			defer close(ended)
			run(serving, listener, config)
			if ctx.Err() != nil {
				_ = f.listener.Close() // nothing is accepted any more
			}
		}()
		return func() {
			cancel()
			<-ended
			_ = f.listener.SetDeadline(time.Time{}) // it is open
		}
	}
	f.stop = f.start()
}

// restart serves config, which has changed. Pages and viewers connect again by
// themselves.
func (f *frontend[C]) restart() {
	f.stop()
	f.stop = f.start()
}

// pausable is a listener that only stops to accept when it is closed. Browsers that
// connect wait until they are served again.
type pausable struct{ net.Listener }

// Close implements net.Listener.
func (p pausable) Close() error { return p.Listener.(*net.TCPListener).SetDeadline(time.Unix(0, 1)) }

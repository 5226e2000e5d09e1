package app

import (
	"context"
	"strings"
	"time"

	"go.uber.org/zap"

	"player/config"
	"player/formats/syntax"
	"player/process/descriptors"
	"player/server"
)

// Messages of the log, by which tests find lines.
const (
	LogReloaded = "configuration read again"
	LogMistakes = "configuration refused: nothing has changed; player check shows the mistakes"
)

// reloader reads the configuration again when a signal asks for it. It reads on its
// own goroutine, because files and name servers may be slow, and changes the server on
// the loop.
type reloader struct {
	options   options
	conf      *config.Server // is served now
	sim       *simulation
	frontends []*frontend
	tls       *tlsPorts
	notify    supervisor
	log       *zap.Logger
	server    *server.Server
	budget    *descriptors.Budget
	quit      func() // ends it
}

// run reloads for each request, until ctx ends.
func (r *reloader) run(ctx context.Context, requests <-chan struct{}) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-requests:
		}
		r.notify.reloading()
		status := ""
		if err := r.reload(ctx); err != nil {
			mistakes := syntax.Mistakes(err)
			for _, mistake := range mistakes {
				line, _, _ := strings.Cut(mistake.Error(), "\n") // without the excerpt
				r.log.Error("mistake in the configuration: " + line)
			}
			r.log.Error(LogMistakes, zap.Int("mistakes", len(mistakes)))
			status = "; the changed configuration is refused, see the log"
		}
		if ctx.Err() == nil {
			r.notify.notify("READY=1\nSTATUS=" + statusLine(r.conf) + status)
		}
	}
}

// reload reads the configuration and changes the server. It has changed nothing if it
// returns an error.
func (r *reloader) reload(ctx context.Context) error {
	next, err := r.options.configure(r.log)
	if err != nil {
		return err
	}
	certificates, err := loadTLS(next)
	if err != nil {
		return err
	}
	plan, err := config.Reload(r.conf, next)
	if err != nil {
		return err
	}
	world, robots := worldOf(plan.Server)
	if world == nil && r.sim.run {
		return errNoWorld
	}

	r.budget.Fix(max(fixedDescriptors(r.conf), fixedDescriptors(plan.Server))) // of both for a while
	defer func() { r.budget.Fix(fixedDescriptors(r.conf)) }()
	done := make(chan struct{})
	begun := r.server.Post(func(now time.Duration) {
		r.server.Reload(now, r.options.robots(plan.Server, robots), plan.Server.Access, func(_ time.Duration, refused []int) {
			for _, port := range refused {
				plan.Server.Remove(port)
			}
			r.sim.change(world, robots, r.server.Start, r.quit)
			close(done)
		})
	})
	if !begun {
		return nil // the server has ended
	}
	select {
	case <-done:
	case <-ctx.Done():
		return nil
	}
	r.conf = plan.Server
	r.options.warnOfAccess(r.conf, r.log)
	r.tls.change(ctx, r.conf, certificates)
	for _, f := range r.frontends {
		f.change(r.conf, r.sim)
	}
	r.log.Info(LogReloaded, zap.String("plan", plan.String()))
	return nil
}

// Fleet connects robots to NATS: a program of its own next to the robots' servers, for
// more robots and more listeners than they have room for (docs/FLEET.md).
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nuid"
	"go.uber.org/zap"

	"player/codec/peertext"
	"player/fleet/bridge"
	"player/fleet/hub"
	"player/fleet/page"
	"player/process/logging"
	"player/tools"
)

// logServing is a message of the log, by which tests find lines.
const logServing = "serving"

// exitFailure and exitUsage are the exit codes of failures. With exitUsage, the user has
// to change something: a flag, a file, a port.
const (
	exitFailure = 1
	exitUsage   = 2
)

// linkedVersion is set by the linker (packaging/build.go); it is empty in any other build.
var linkedVersion string

func main() {
	err := run(context.Background(), os.Args[1:], os.Stdout, os.Stderr)
	if err == nil {
		return
	}
	fmt.Fprintln(os.Stderr, "fleet:", peertext.Lines(err.Error()))
	if _, failed := errors.AsType[tools.Failure](err); failed {
		os.Exit(exitFailure)
	}
	os.Exit(exitUsage)
}

// run is the program, until a signal comes or ctx ends.
func run(ctx context.Context, args []string, stdout io.Writer, stderr *os.File) error {
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		switch args[0] {
		case "export":
			return runExport(ctx, args[1:], stdout, stderr)
		case "schema":
			return showSchema(args[1:], stdout)
		}
		return fmt.Errorf("there is no command %q; there are export and schema (-h shows all flags)", args[0])
	}
	o, err := parseOptions(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		_, err := io.WriteString(stdout, usage)
		return err
	case err != nil:
		return fmt.Errorf("%w (-h shows all flags)", err)
	case o.version:
		_, err := fmt.Fprintln(stdout, "player-fleet", cmp.Or(linkedVersion, "of a clone, without a version"))
		return err
	}
	log := logging.New(stderr, logging.Auto, o.debug)
	defer func() { _ = log.Sync() }() // it can fail only if the log has no reader
	ctx, stop := tools.UntilSignal(ctx)
	defer stop()

	watch := observer{fleet: o.fleet, recorded: len(o.recording.Subjects) > 0, began: time.Now()}
	if o.nats == "" {
		o.token = cmp.Or(o.token, tokenFile())
		token, err := ownToken(o.token)
		if err != nil {
			return fmt.Errorf("-token: %w", err)
		}
		server, err := startServer(o.listen, o.dir, token)
		if err != nil {
			return err
		}
		defer func() {
			server.Shutdown()
			server.WaitForShutdown()
		}()
		o.nats, watch.server = server.ClientURL(), server
		log.Info("clients of this server of NATS need its token", zap.String("token", o.token))
		if !server.Addr().(*net.TCPAddr).IP.IsLoopback() {
			log.Warn("every computer on the network may read the token of this server of NATS on its way; -nats connects to one with TLS")
		}
	}
	conn, err := connect(o, log, &watch.troubles)
	if err != nil {
		return err
	}
	defer conn.Close()
	if watch.js, err = hub.JetStream(conn, o.domain); err != nil {
		return err
	}
	reports := make(chan chan<- hub.Report)
	watch.bridge, watch.conn, watch.reports = nuid.Next(), conn, reports
	conf := hub.Config{Bridge: watch.bridge, Reports: reports, Fleet: o.fleet, Robots: o.robots, Replicas: o.replicas, Domain: o.domain, Recording: o.recording, Log: log}
	if o.discover {
		if conf.Found, err = discover(ctx, log); err != nil {
			return fmt.Errorf("-discover: %w", err)
		}
	}
	if o.http != "" {
		common, err := o.page.Common(o.http, log)
		if err != nil {
			return err
		}
		l, err := net.Listen("tcp", o.http)
		if err != nil {
			return fmt.Errorf("-http: %w", err)
		}
		log.Info("a page of all robots", zap.String("url", common.URL(l.Addr().(*net.TCPAddr))))
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			if err := page.Serve(ctx, l, page.Config{Common: common, NATS: conn, Fleet: o.fleet, Metrics: watch.metrics, Health: watch.health}); err != nil {
				log.Error("there is no page any more", zap.Error(err))
			}
		}()
		defer func() {
			stop()
			<-ended
		}()
	}
	err = hub.Run(ctx, conn, conf, func() {
		log.Info(logServing, zap.String("fleet", o.fleet), zap.String("bridge", conf.Bridge), zap.Int("robots", len(o.robots)), zap.String("nats", conn.ConnectedUrlRedacted()))
	})
	if err != nil {
		return tools.Failure{Err: err}
	}
	return nil
}

// showSchema writes a JSON schema, or the names of all.
func showSchema(args []string, stdout io.Writer) error {
	switch {
	case len(args) == 0:
		_, err := fmt.Fprintln(stdout, strings.Join(bridge.Schemas(), "\n"))
		return err
	case len(args) > 1 || strings.HasPrefix(args[0], "-"):
		return errors.New("schema: one name is wanted, or none, which lists all")
	}
	text, err := bridge.Schema(args[0])
	if err == nil {
		_, err = stdout.Write(text)
	}
	return err
}

// reconnectPause is the time between two attempts to reach the servers of NATS, plus
// or minus a little.
const reconnectPause = 500 * time.Millisecond

// pingPeriod returns the time between two questions whether the server of NATS is there. It
// is left when two are not answered. If there is another server, that is before leases end,
// which may be 0.75 s after the last answer: 0.6 s at most. If there is none, a busy server
// has more time.
func pingPeriod(urls string) time.Duration {
	if strings.Contains(urls, ",") {
		return 200 * time.Millisecond
	}
	return 500 * time.Millisecond
}

// connect connects to NATS, and again whenever the connection is lost. It counts the
// troubles of the connection.
func connect(o options, log *zap.Logger, count *troubles) (*nats.Conn, error) {
	settings, err := o.credentials()
	if err != nil {
		return nil, err
	}
	settings = append(settings,
		nats.Name("player fleet "+o.fleet),
		nats.MaxReconnects(-1),
		nats.ReconnectWait(reconnectPause),
		// Data that waits while the connection is lost would be old.
		nats.ReconnectBufSize(-1),
		nats.PingInterval(pingPeriod(o.nats)),
		nats.MaxPingsOutstanding(2),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
			if err != nil { // nil: this program has closed it
				log.Warn("the connection to NATS is lost", zap.Error(err))
			}
		}),
		nats.ReconnectHandler(func(c *nats.Conn) {
			log.Info("connected to NATS again", zap.String("nats", c.ConnectedUrlRedacted()))
		}),
		nats.ErrorHandler(func(_ *nats.Conn, s *nats.Subscription, err error) {
			if errors.Is(err, nats.ErrSlowConsumer) {
				count.dropped.Add(1)
			} else {
				count.errors.Add(1)
			}
			subject := ""
			if s != nil {
				subject = s.Subject
			}
			log.Warn("NATS", zap.String("subject", subject), zap.Error(err))
		}),
	)
	conn, err := nats.Connect(o.nats, settings...)
	if err != nil {
		return nil, refused(err)
	}
	return conn, nil
}

// refused adds the remedy to an error of nats.Connect.
func refused(err error) error {
	if errors.Is(err, nats.ErrAuthorization) {
		return fmt.Errorf("connect to NATS: %w: -token, -creds, -nkey or user:password@ in the URL of -nats let this program in", err)
	}
	if errors.Is(err, nats.ErrNoServers) {
		return fmt.Errorf("connect to NATS: %w: does one run at the address of -nats, and do its firewall and ours let us there?", err)
	}
	return fmt.Errorf("connect to NATS: %w", err)
}

package app

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"player/config"
	"player/process/logging"
	"player/process/serialport"
	"player/server/tlsconn"
	"player/tools"
)

// check prints what a configuration describes, and warns about serial ports and
// certificates. With -report it opens the hardware.
func check(ctx context.Context, args []string, stdout io.Writer, stderr *os.File) error {
	var o options
	flags := newFlagSet(&o)
	raw := flags.Bool("json", false, "")
	path := flags.String("report", "", "")
	if err := o.parse(flags, args); err != nil {
		return err
	}
	if *path != "" {
		ctx, stop := tools.UntilSignal(ctx)
		defer stop()
		return report(ctx, o, *path, stderr)
	}
	log := logging.New(stderr, logging.Format(o.log), o.debug)
	defer func() { _ = log.Sync() }() // it can fail only because nothing reads the log
	conf, err := o.configure(log)
	if err != nil {
		if *raw {
			_ = json.NewEncoder(stdout).Encode(config.Report{Errors: config.Mistakes(err)}) // the exit code also says it
		}
		return err
	}
	described := conf.Report()
	described.Warnings = missing(conf)
	if *raw {
		return json.NewEncoder(stdout).Encode(described)
	}
	if err := conf.WriteTable(stdout); err != nil {
		return err
	}
	if o.deadman != 0 {
		if _, err := fmt.Fprintf(stdout, "\nA command to position that its client does not repeat within %d ms ends (-deadman).\n", o.deadman); err != nil {
			return err
		}
	}
	for _, warning := range described.Warnings {
		fmt.Fprintf(stderr, "player: warning: %s\n", warning)
	}
	return nil
}

// missing says which serial ports and certificates of a configuration cannot be used now.
func missing(conf *config.Server) (all []string) {
	for _, port := range conf.SerialPorts() {
		if err := serialport.Check(port.Path); err != nil {
			all = append(all, fmt.Sprintf("%s: %v", port.Driver, err))
		}
	}
	if conf.TLS.Listen != "" {
		if _, err := tlsconn.Load(conf.TLS.Cert, conf.TLS.Key, conf.TLS.Clients); err != nil {
			all = append(all, fmt.Sprintf("tls: %v", err))
		}
	}
	return all
}

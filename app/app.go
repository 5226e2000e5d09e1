// Package app is the program: subcommands, or the server with its configuration,
// its pages and viewers, signals and reloads.
package app

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	"player/codec/peertext"
	"player/tools"
)

// exitFailure and exitUsage are the exit codes of failures. With exitUsage, the
// user has to change something: a flag, a file, a port.
const (
	exitFailure = 1
	exitUsage   = 2
)

// errFailed wraps errors of a server that was running.
var errFailed = errors.New("the server failed")

// printLimit is how long the program waits for the reader of its last error. A
// program whose output is not read must end.
const printLimit = time.Second

// Main is the program: args are its name, as which it may be the guard of a server, and its
// arguments. It returns the exit code.
func Main(args []string, stdout io.Writer, stderr *os.File) int {
	if isGuard(args[0]) {
		guard(stderr)
		return 0
	}
	args = args[1:]
	if isFirst(args) {
		return first(args, os.Stdin, stderr)
	}
	executeWithSlack(func() bool {
		o, err := parseOptions(args)
		return err == nil && (len(args) == 0 || !isCommand(args[0])) && !o.hasHelpers()
	})
	err := run(context.Background(), args, stdout, stderr)
	code := make(chan int, 1)
	go func() { code <- exitCode(err, stderr) }()
	select {
	case code := <-code:
		return code
	case <-time.After(printLimit):
		return exitFailure
	}
}

// exitCode prints an error, and returns the exit code for it.
func exitCode(err error, stderr io.Writer) int {
	if err == nil {
		return 0
	}
	fmt.Fprintln(stderr, "player:", peertext.Lines(err.Error()))
	if _, failed := errors.AsType[tools.Failure](err); failed || errors.Is(err, errFailed) {
		return exitFailure
	}
	return exitUsage
}

// run is the program: a subcommand, or the server.
func run(ctx context.Context, args []string, stdout io.Writer, stderr *os.File) error {
	if len(args) > 0 && args[0] == "help" {
		return printHelp(args[1:], stdout)
	}
	if len(args) > 0 {
		if c, ok := commandNamed(args[0]); ok {
			return runCommand(ctx, c, args[1:], stdout, stderr)
		}
		if err := checkName(args[0]); err != nil {
			return err
		}
	}
	o, err := parseOptions(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return printHelp(nil, stdout)
	case err != nil:
		return fmt.Errorf("%w (player -h shows all flags)", err)
	}
	return serve(ctx, o, stdout, stderr)
}

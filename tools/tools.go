// Package tools is the frame of the subcommands. Each subcommand of more than a few lines
// has a package below this one; package app lists them all (commands.go), and has the pages
// that player help NAME shows (folder help).
package tools

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"player/codec/peertext"
)

// Command is a subcommand: player NAME ARGUMENTS.
type Command struct {
	Name    string
	Args    string // after the name, as "[PORT ...]"
	Summary string // in player -h, at most 28 characters
	// Run carries the command out. It returns flag.ErrHelp for -h, a Failure for
	// exit code 1, and another error for exit code 2: the user has to change
	// something.
	Run func(ctx context.Context, args []string, stdout io.Writer, stderr *os.File) error
}

// Failure is the error of a command that did its work, but without success.
type Failure struct{ Err error }

func (f Failure) Error() string { return f.Err.Error() }
func (f Failure) Unwrap() error { return f.Err }

// WriteJSON writes a value as one line of JSON.
func WriteJSON(out io.Writer, value any) error {
	text, err := json.Marshal(value)
	if err != nil {
		return err
	}
	return PassJSON(out, text)
}

// PassJSON writes a peer's JSON in a form that is safe to show on a terminal, and ends the line.
func PassJSON(out io.Writer, text []byte) error {
	text, err := peertext.JSON(text)
	if err == nil {
		_, err = out.Write(append(text, '\n'))
	}
	return err
}

// NewFlags returns an empty set of flags for Parse.
func NewFlags(name string) *flag.FlagSet {
	flags := flag.NewFlagSet(name, flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	return flags
}

// ParseSome is Parse for a subcommand with a least number of arguments. need names them,
// with an example.
func ParseSome(flags *flag.FlagSet, args []string, least, most int, need string) (rest []string, err error) {
	if rest, err = Parse(flags, args, most); err == nil && len(rest) < least {
		err = fmt.Errorf("%s needs %s", flags.Name(), need)
	}
	return rest, err
}

// Misused is an error in the arguments.
type Misused struct{ error }

func (m Misused) Unwrap() error { return m.error }

// Parse parses arguments and returns those that are no flags, at most so many. Flags may
// come before and after them.
func Parse(flags *flag.FlagSet, args []string, most int) (rest []string, err error) {
	for {
		if err := flags.Parse(args); errors.Is(err, flag.ErrHelp) {
			return nil, err
		} else if err != nil {
			return nil, Misused{explained(flags, err)}
		}
		if flags.NArg() == 0 {
			return rest, nil
		}
		if len(rest) == most {
			return nil, Misused{fmt.Errorf("unexpected argument %q", flags.Arg(0))}
		}
		rest, args = append(rest, flags.Arg(0)), flags.Args()[1:]
	}
}

// explained adds the kind of value that a flag takes, if err is about its value: package flag names
// neither the type nor the notation.
func explained(flags *flag.FlagSet, err error) error {
	before, unparsed := strings.CutSuffix(err.Error(), ": parse error")
	if !unparsed {
		return err
	}
	f := flags.Lookup(before[strings.LastIndex(before, " -")+2:])
	if f == nil {
		return err
	}
	value, ok := f.Value.(flag.Getter)
	if !ok {
		return err
	}
	want := "a number"
	switch value.Get().(type) {
	case time.Duration:
		want = "a time with its unit, as 500ms, 5s or 2m"
	case int, int64, uint, uint64:
		want = "a whole number"
	}
	return errors.New(before + ": it is " + want)
}

package app

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"slices"
	"strings"

	"player/config"
	"player/formats/ros/bag"
	"player/formats/syntax"
	"player/tools"
	"player/tools/drive"
	"player/tools/find"
	"player/tools/latency"
	"player/tools/print"
	"player/tools/record"
	"player/tools/snapshot"
	"player/tools/status"
	"player/tools/stop"
	"player/tools/sweep"
)

// commands lists the subcommands.
func commands() []tools.Command {
	return []tools.Command{
		find.Command(catalogue()),
		print.Command(),
		drive.Command(),
		stop.Command(),
		status.Command(),
		snapshot.Command(),
		latency.Command(),
		record.Command(version()),
		sweep.Command(version()),
		replayCommand(),
		repairCommand(),
		{
			Name: "check", Args: "[flags] [FILE]", Summary: "check a configuration file",
			Run: func(ctx context.Context, args []string, stdout io.Writer, stderr *os.File) error {
				return check(ctx, args, stdout, stderr)
			},
		},
		{
			Name: "list", Args: "[flags]", Summary: "list drivers and options",
			Run: func(_ context.Context, args []string, stdout io.Writer, _ *os.File) error {
				flags := tools.NewFlags("list")
				raw := flags.Bool("json", false, "")
				_, err := tools.Parse(flags, args, 0)
				switch {
				case err != nil:
					return err
				case *raw:
					return json.NewEncoder(stdout).Encode(config.ReportKinds(catalogue()))
				}
				return config.WriteList(stdout, catalogue())
			},
		},
		migrateCommand(),
		{
			Name: "export", Args: "[flags] LOG [DIRECTORY|FILE.mcap]", Summary: "make CSV, MCAP or a ROS bag",
			Run: func(ctx context.Context, args []string, stdout io.Writer, stderr *os.File) error {
				flags := tools.NewFlags("export")
				replace := flags.Bool("f", false, "")
				inROS := flags.Bool("ros", false, "")
				var options *bag.Options
				var about bag.Options
				flags.BoolVar(&about.Compress, "zstd", false, "")
				flags.Float64Var(&about.Reach, "reach", 0, "")
				rest, err := tools.ParseSome(flags, args, 1, 2, "the path of a log")
				switch {
				case err != nil:
					return err
				case *inROS && len(rest) < 2:
					return errors.New("export -ros needs the folder of the bag")
				case !*inROS && about != (bag.Options{}):
					return errors.New("-zstd and -reach are for bags: add -ros")
				case math.IsNaN(about.Reach), about.Reach < 0:
					return errors.New("-reach needs metres")
				case *inROS:
					options = &about
				}
				return exportLog(ctx, rest[0], strings.Join(rest[1:], ""), *replace, options, stdout, stderr)
			},
		},
	}
}

// commandNamed returns a subcommand; ok is false if there is none of that name.
func commandNamed(name string) (c tools.Command, ok bool) {
	all := commands()
	i := slices.IndexFunc(all, func(c tools.Command) bool { return c.Name == name })
	if i < 0 {
		return c, false
	}
	return all[i], true
}

// isCommand reports whether an argument is a subcommand's name.
func isCommand(name string) bool {
	_, ok := commandNamed(name)
	return ok || name == "help"
}

// checkName returns an error if the first argument can only be a misspelt subcommand or
// file.
func checkName(name string) error {
	if _, err := os.Stat(name); strings.HasPrefix(name, "-") || strings.ContainsAny(name, "/.") || !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	hint := "player -h shows the commands"
	if near := syntax.Nearest(name, append(commandNames(), "help")); near != "" {
		hint = "did you mean player " + near + "?"
	}
	return fmt.Errorf("%s: no such file, and no command of that name; %s", name, hint)
}

// commandNames returns the names of the subcommands.
func commandNames() (names []string) {
	for _, c := range commands() {
		names = append(names, c.Name)
	}
	return names
}

// runCommand runs a subcommand.
func runCommand(ctx context.Context, c tools.Command, args []string, stdout io.Writer, stderr *os.File) error {
	err := c.Run(ctx, args, stdout, stderr)
	if errors.Is(err, flag.ErrHelp) {
		return printHelp([]string{c.Name}, stdout)
	}
	if _, ok := errors.AsType[tools.Misused](err); ok {
		return fmt.Errorf("%w (player %s -h shows all flags)", err, c.Name)
	}
	return err
}

// printHelp prints the page of -h, or the page of a subcommand.
func printHelp(args []string, stdout io.Writer) error {
	page, err := help(args)
	if err == nil {
		_, err = io.WriteString(stdout, page)
	}
	return err
}

// help is the page of -h. With an argument it is the page of a subcommand.
func help(args []string) (string, error) {
	if len(args) > 0 {
		c, ok := commandNamed(args[0])
		if !ok {
			return "", fmt.Errorf("there is no command %q; there are %s", args[0], strings.Join(commandNames(), ", "))
		}
		return fmt.Sprintf("%s%s.\n\nusage: player %s %s\n\n%s", strings.ToUpper(c.Summary[:1]), c.Summary[1:], c.Name, c.Args, pageOf(c.Name)), nil
	}
	var list strings.Builder
	for pair := range slices.Chunk(commands(), 2) {
		line := ""
		for _, c := range pair {
			line += fmt.Sprintf("  %-8s  %-28s", c.Name, c.Summary)
		}
		fmt.Fprintln(&list, strings.TrimRight(line, " "))
	}
	return fmt.Sprintf(pageOf("player"), list.String()), nil
}

// helpPages has the page of -h, in which %s is the list of the subcommands, and the pages of
// the subcommands: flags, examples, exit codes.
//
//go:embed help
var helpPages embed.FS

// pageOf returns a page by its name.
func pageOf(name string) string {
	text, err := helpPages.ReadFile("help/" + name + ".txt")
	if err != nil {
		panic(err) // TestCommandsFitTheHelp reads all
	}
	return string(text)
}

package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"go.uber.org/zap"

	"player/config/migrate"
	"player/config/syntax"
	"player/tools"
)

// migrateCommand is player migrate.
func migrateCommand() tools.Command {
	return tools.Command{
		Name: "migrate", Args: "FILE", Summary: "convert a file of Player 1-3",
		Help: `Prints a configuration for this server that does what FILE does, which is one of
Player 1, 2 or 3. What has no counterpart becomes a comment, and is listed on
standard error. A driver whose hardware is where this server cannot look for it,
as behind use_tcp, is an error: the result would talk to another line. Includes
and defines are expanded, comments are dropped. Keep the result in the directory
of FILE if it has relative file names.

  player migrate robot.cfg > new.cfg && player check new.cfg

docs/MIGRATING.md has the other steps: client programs need a change, too.

Exit codes: 0 a configuration was printed, perhaps with less than FILE has,
1 nothing in FILE has a counterpart, 2 FILE cannot be read, needs no change, or
has hardware where this server cannot look for it.
`,
		Run: func(_ context.Context, args []string, stdout io.Writer, stderr *os.File) error {
			files, err := tools.Parse(tools.NewFlags("migrate"), args, 1)
			if err != nil {
				return err
			}
			if len(files) == 0 {
				return errors.New("migrate needs the path of a configuration file")
			}
			return migrateFile(files[0], stdout, stderr)
		},
	}
}

// migrateFile prints the file of Player 1, 2 or 3 at path for this server, and on
// stderr what is left out.
func migrateFile(path string, stdout, stderr io.Writer) error {
	file, err := syntax.ParseFile(path, nil)
	if err != nil {
		return err
	}
	result, err := migrate.Convert(file)
	if err != nil {
		return err
	}
	if !result.Foreign {
		if _, err := (options{port: usualPort, file: path}).configure(zap.NewNop()); err == nil {
			return fmt.Errorf("%s needs no change: this server reads it as it is", path)
		}
	}
	if _, err := io.WriteString(stdout, result.Text); err != nil {
		return err
	}
	if len(result.LeftOut) > 0 {
		fmt.Fprintf(stderr, "player: left out: %d of %d drivers, %d options\n", result.Dropped, result.Sections, result.Options)
		for _, line := range result.LeftOut {
			fmt.Fprintln(stderr, line)
		}
	}
	if result.Drivers == 0 {
		return tools.Failure{Err: fmt.Errorf("nothing in %s has a counterpart", path)}
	}
	return nil
}

// pointToMigrate adds to the errors of a file that it is one of Player 1 to 3, if it
// is.
func pointToMigrate(err error, file *syntax.File) error {
	result, lost := migrate.Convert(file)
	if !result.Foreign && lost == nil {
		return err
	}
	return fmt.Errorf("%w\n%s is a file of Player 1, 2 or 3: player migrate %[2]s prints one for this server", err, file.Name)
}

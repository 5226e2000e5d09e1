package app

import (
	"context"
	"fmt"
	"io"
	"os"

	"go.uber.org/zap"

	"player/codec"
	"player/config/migrate"
	"player/formats/syntax"
	"player/tools"
)

// migrateCommand is player migrate.
func migrateCommand() tools.Command {
	return tools.Command{
		Name: "migrate", Args: "FILE", Summary: "convert a file of Player 1-3",
		Run: func(_ context.Context, args []string, stdout io.Writer, stderr *os.File) error {
			files, err := tools.ParseSome(tools.NewFlags("migrate"), args, 1, 1, "the path of a configuration file")
			if err != nil {
				return err
			}
			return migrateFile(files[0], stdout, stderr)
		},
	}
}

// migrateFile prints the file of Player 1, 2 or 3 at path for this server, and on
// stderr the parts that are left out.
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
		if _, err := (options{port: codec.UsualPort, file: path}).configure(zap.NewNop()); err == nil {
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

// Package snapshot is player snapshot: one picture of a robot's camera.
package snapshot

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"player/codec/peertext"
	"player/server/status"
	"player/tools"
)

// Command is the subcommand.
func Command() tools.Command {
	return tools.Command{Name: "snapshot", Args: "[flags] HOST[:PORT]", Summary: "save a picture of a camera", Run: run}
}

// result is the result for programs.
type result struct {
	Camera string `json:"camera"`
	File   string `json:"file"`
	Bytes  int    `json:"bytes"`
}

func run(ctx context.Context, args []string, stdout io.Writer, stderr *os.File) error {
	flags := tools.NewFlags("snapshot")
	camera, path, replace := flags.String("camera", "", ""), flags.String("o", "", ""), flags.Bool("f", false, "")
	raw := flags.Bool("json", false, "")
	rest, err := tools.ParseSome(flags, args, 1, 1, "a host: player snapshot localhost")
	switch {
	case err != nil:
		return err
	case *raw && *path == "-":
		return errors.New("-json and the picture (-o -) would both be on standard output")
	}
	ctx, stop := tools.UntilSignal(ctx)
	defer stop()
	address := tools.PageAddress(rest[0])
	var s status.Status
	if _, err := tools.Object(ctx, address, "/status", "status", &s); err != nil {
		return err
	}
	if *camera, err = choose(s, *camera); err != nil {
		return err
	}
	_, picture, err := tools.Picture(ctx, address, *camera, "")
	if err != nil {
		return tools.Failure{Err: err}
	}
	switch *path {
	case "-":
		_, err := stdout.Write(picture)
		return err
	case "":
		*path = peertext.File("", *camera, time.Now().UTC().Format("-20060102T150405Z.jpg"))
	}
	file, err := tools.Create(*path, *replace)
	if err != nil {
		return err
	}
	if _, err := file.Write(picture); err != nil {
		return tools.Failure{Err: errors.Join(err, file.Close())}
	}
	if err := file.Close(); err != nil {
		return tools.Failure{Err: err}
	}
	if *raw {
		return tools.WriteJSON(stdout, result{*camera, *path, len(picture)})
	}
	_, err = fmt.Fprintf(stderr, "%s: %d bytes\n", *path, len(picture))
	return err
}

// choose returns the name of a server's camera: the requested one, or the only one.
func choose(s status.Status, name string) (string, error) {
	names := slices.Sorted(maps.Keys(s.Cameras))
	list := peertext.Line(strings.Join(names, ", "))
	switch {
	case len(names) == 0:
		return "", errors.New("this server has no camera with pictures (section camera in its configuration)")
	case name == "" && len(names) == 1:
		return names[0], nil
	case name == "":
		return "", fmt.Errorf("choose one of its cameras with -camera: %s", list)
	case !slices.Contains(names, name):
		return "", fmt.Errorf("there is no camera %q; there is %s", name, list)
	}
	return name, nil
}

// Package status is player status: who is connected to a server, who drives, and
// how its devices are.
package status

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"golang.org/x/term"

	"player/status"
	"player/tools"
)

const (
	// defaultPort is that of the dashboard of a simulated robot.
	defaultPort = "8080"
	// refreshPeriod is how often the table is drawn again.
	refreshPeriod = time.Second
	// dialLimit bounds the wait for a computer that does not answer, and fetchLimit that
	// for the answer of its server, which takes milliseconds.
	dialLimit  = 10 * time.Second
	fetchLimit = 5 * time.Second
	// maxAnswer bounds the answer, in bytes: thousands of clients.
	maxAnswer = 16 << 20
)

// Command is the subcommand.
func Command() tools.Command {
	return tools.Command{Name: "status", Args: "[flags] HOST[:PORT]", Summary: "who is there, who drives", Run: run}
}

func run(ctx context.Context, args []string, stdout io.Writer, _ *os.File) error {
	flags := tools.NewFlags("status")
	once := flags.Bool("once", false, "")
	raw := flags.Bool("json", false, "")
	rest, err := tools.ParseSome(flags, args, 1, 1, "a host: player status localhost")
	if err != nil {
		return err
	}
	ctx, stop := tools.UntilSignal(ctx)
	defer stop()
	address := withPort(rest[0])
	for again := false; ; again = true {
		answer, err := fetch(ctx, address)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil && again:
			return tools.Failure{Err: err}
		case err != nil:
			return err
		case *raw:
			_, err := fmt.Fprintf(stdout, "%s\n", strings.TrimSpace(string(answer)))
			return err
		}
		var s status.Status
		if err := json.Unmarshal(answer, &s); err != nil {
			return fmt.Errorf("http://%s/status is not the status of a server: %w", address, err)
		}
		if *once || !isTerminal(stdout) {
			return write(stdout, s)
		}
		if _, err := io.WriteString(stdout, "\x1b[H\x1b[J"); err != nil { // top left, and clear from there
			return err
		}
		if err := write(stdout, s); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(refreshPeriod):
		}
	}
}

// withPort adds the default port to an address without one.
func withPort(address string) string {
	if _, _, err := net.SplitHostPort(address); err == nil {
		return address
	}
	return net.JoinHostPort(strings.Trim(address, "[]"), defaultPort)
}

// fetch gets the status of a server. It does without http.Client, which would make
// the program larger by half a megabyte.
func fetch(ctx context.Context, address string) ([]byte, error) {
	d := net.Dialer{Timeout: dialLimit}
	conn, err := d.DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	limited, cancel := context.WithTimeout(ctx, fetchLimit)
	defer cancel()
	defer context.AfterFunc(limited, func() { conn.Close() })()
	response, answer, err := get(conn, address)
	switch {
	case limited.Err() != nil && ctx.Err() == nil:
		return nil, fmt.Errorf("%s answers nothing in %v: it hangs, or is %s", address, fetchLimit, notDashboard)
	case err != nil:
		return nil, fmt.Errorf("%s is %s: %w", address, notDashboard, err)
	case response.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("http://%s/status: %s: %s", address, response.Status, bytes.TrimSpace(answer))
	}
	return answer, nil
}

// notDashboard is what a server is that does not answer as a dashboard does.
const notDashboard = "no dashboard (its address is that of -http at the robot, usually port 8080)"

// get gets the status over a connection.
func get(conn net.Conn, address string) (response *http.Response, body []byte, err error) {
	if _, err := fmt.Fprintf(conn, "GET /status HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n", address); err != nil {
		return nil, nil, err
	}
	if response, err = http.ReadResponse(bufio.NewReader(conn), nil); err != nil {
		return nil, nil, err
	}
	defer response.Body.Close()
	body, err = io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	return response, body, err
}

// isTerminal reports whether w is a terminal.
func isTerminal(w io.Writer) bool {
	file, ok := w.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

package tools

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"time"

	"player/codec/peertext"
)

const (
	// pagePort is that of the dashboard of a simulated robot.
	pagePort = "8080"
	// dialLimit bounds the wait for a computer that does not answer.
	dialLimit = 10 * time.Second
	// maxPage bounds the answer, in bytes: the status of thousands of clients.
	maxPage = 16 << 20
	// noDashboard is what a server is that does not answer as a dashboard does.
	noDashboard = "no dashboard (its address is that of -http at the robot, usually port 8080)"
)

// PageAddress adds the dashboard's usual port to an address without one.
func PageAddress(address string) string {
	if _, _, err := net.SplitHostPort(address); err == nil {
		return address
	}
	return net.JoinHostPort(strings.Trim(address, "[]"), pagePort)
}

// PicturePath is the path of the newest picture of a camera. The peer chooses the name.
func PicturePath(camera string) string { return "/camera/" + url.PathEscape(camera) + "/picture" }

// Page gets a page of the dashboard at an address within limit.
func Page(ctx context.Context, address, path string, limit time.Duration) ([]byte, error) {
	_, answer, err := Get(ctx, address, path, limit)
	return answer, err
}

// Get is Page with the header of the answer. It does without http.Client, which would make
// the program larger by half a megabyte.
func Get(ctx context.Context, address, path string, limit time.Duration) (http.Header, []byte, error) {
	d := net.Dialer{Timeout: dialLimit}
	conn, err := d.DialContext(ctx, "tcp", address)
	if errors.Is(err, syscall.ECONNREFUSED) {
		err = fmt.Errorf("%w: no dashboard listens there: start the server with -http, or give its address, as HOST:PORT", err)
	}
	if err != nil {
		return nil, nil, err
	}
	defer conn.Close()
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	defer context.AfterFunc(limited, func() { conn.Close() })()
	response, answer, err := get(conn, address, path)
	switch {
	case limited.Err() != nil && ctx.Err() == nil:
		return nil, nil, fmt.Errorf("%s answers nothing in %v: it hangs, or is %s", address, limit, noDashboard)
	case err != nil:
		return nil, nil, fmt.Errorf("%s is %s: %w", address, noDashboard, err)
	case response.StatusCode != http.StatusOK:
		return nil, nil, fmt.Errorf("http://%s%s: %s: %s", address, path, peertext.Line(response.Status), peertext.Line(string(bytes.TrimSpace(answer))))
	}
	return response.Header, answer, nil
}

func get(conn net.Conn, address, path string) (response *http.Response, body []byte, err error) {
	if _, err := fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n", path, address); err != nil {
		return nil, nil, err
	}
	if response, err = http.ReadResponse(bufio.NewReader(conn), nil); err != nil {
		return nil, nil, err
	}
	defer response.Body.Close()
	body, err = io.ReadAll(io.LimitReader(response.Body, maxPage))
	return response, body, err
}

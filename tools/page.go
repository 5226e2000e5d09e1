package tools

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
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
	// pagePort is the port of a simulated robot's dashboard.
	pagePort = "8080"
	// dialLimit bounds the wait for a computer that does not answer.
	dialLimit = 10 * time.Second
	// answerTime is for an answer that a dashboard makes in milliseconds, and pictureTime is more than the
	// 10 s that the server waits for a camera to start.
	answerTime, pictureTime = 5 * time.Second, 12 * time.Second
	// maxPage bounds the answer, in bytes: the status of thousands of clients.
	maxPage = 16 << 20
	// NoDashboard: the server's answer is not a dashboard's.
	NoDashboard = "no dashboard (-http at the robot sets its address, usually port 8080)"
)

// PageAddress adds the dashboard's usual port to an address without one.
func PageAddress(address string) string {
	if _, _, err := net.SplitHostPort(address); err == nil {
		return address
	}
	return net.JoinHostPort(strings.Trim(address, "[]"), pagePort)
}

// Picture gets a picture of a camera from the dashboard at an address, with the header of the answer.
// query may ask for a newer one. The peer has chosen the name of the camera.
func Picture(ctx context.Context, address, camera, query string) (http.Header, []byte, error) {
	return get(ctx, address, "/camera/"+url.PathEscape(camera)+"/picture"+query, pictureTime)
}

// Object gets JSON at a path of the dashboard at an address and decodes it into value; what names
// it. If the text is not JSON, it returns the text with the error.
func Object(ctx context.Context, address, path, what string, value any) (text []byte, err error) {
	if _, text, err = get(ctx, address, path, answerTime); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(text, value); err != nil {
		return text, fmt.Errorf("http://%s%s is not the %s of a server: %w", address, path, what, err)
	}
	return text, nil
}

// get does without http.Client, which would make the program larger by half a megabyte.
func get(ctx context.Context, address, path string, limit time.Duration) (http.Header, []byte, error) {
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
	response, answer, err := exchange(conn, address, path)
	switch {
	case limited.Err() != nil && ctx.Err() == nil:
		return nil, nil, fmt.Errorf("%s answers nothing in %v: it hangs, or is %s", address, limit, NoDashboard)
	case err != nil:
		return nil, nil, fmt.Errorf("%s is %s: %w", address, NoDashboard, err)
	case response.StatusCode != http.StatusOK:
		return nil, nil, fmt.Errorf("http://%s%s: %s: %s", address, path, peertext.Line(response.Status), peertext.Line(string(bytes.TrimSpace(answer))))
	}
	return response.Header, answer, nil
}

func exchange(conn net.Conn, address, path string) (response *http.Response, body []byte, err error) {
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

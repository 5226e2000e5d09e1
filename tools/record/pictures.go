package record

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/url"
	"strconv"
	"time"

	"player/codec"
	"player/codec/peertext"
	"player/tools"
)

const (
	// failurePause is how long a camera that fails is left alone.
	failurePause = time.Second
	// leastPictures is a picture in a quarter of an hour, and mostPictures the highest rate of
	// a server's cameras, both in Hz.
	leastPictures, mostPictures = 0.001, 60
)

// cameras are a robot's cameras, from the dashboard of its server.
type cameras struct {
	page   string // host:port
	names  []string
	period time.Duration
	stderr io.Writer
}

// findCameras asks the dashboard at a page, or at the usual port of the robot's computer, which
// cameras the robot has.
func findCameras(ctx context.Context, robot, page string, rate float64, stderr io.Writer) (*cameras, error) {
	host, port, err := net.SplitHostPort(robot)
	if err != nil {
		host, port = robot, strconv.Itoa(codec.UsualPort)
	}
	if page == "" {
		page = host
	}
	f := &cameras{page: tools.PageAddress(page), period: time.Duration(float64(time.Second) / rate), stderr: stderr}
	var list struct {
		Robots []struct {
			Address string
			Cameras []string
		}
	}
	if _, err := tools.Object(ctx, f.page, "/robots", "list", &list); err != nil {
		return nil, fmt.Errorf("-pictures: %w", err)
	}
	for _, r := range list.Robots {
		if _, of, _ := net.SplitHostPort(r.Address); of == port {
			f.names = append(f.names, r.Cameras...)
		}
	}
	if len(f.names) == 0 {
		return nil, fmt.Errorf("-pictures: the robot on port %s has no camera at http://%s", port, f.page)
	}
	return f, nil
}

// follow calls add with each picture of a camera at their rate, until ctx ends.
func (f *cameras) follow(ctx context.Context, camera string, add func(taken time.Time, jpeg []byte)) {
	number, failed := "0", ""
	for next := time.Now(); ctx.Err() == nil; {
		header, jpeg, err := tools.Picture(ctx, f.page, camera, "?after="+url.QueryEscape(number))
		pause := failurePause
		switch {
		case ctx.Err() != nil:
			return
		case err != nil && err.Error() != failed:
			failed = err.Error()
			fmt.Fprintf(f.stderr, "no pictures: %s\n", peertext.Line(failed))
		case err == nil:
			failed, number = "", header.Get("Picture-Number")
			age, _ := strconv.Atoi(header.Get("Picture-Age")) // 0 from a server that does not send it
			now := time.Now()
			add(now.Add(-time.Duration(age)*time.Millisecond), jpeg)
			if next = next.Add(f.period); next.Before(now) {
				next = now // a picture that came late does not hurry the next ones
			}
			pause = next.Sub(now)
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
}

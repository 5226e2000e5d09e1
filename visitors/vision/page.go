package main

import (
	"cmp"
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"go.uber.org/zap"

	"player/codec"
	"player/config/rights"
	"player/visitors"
	"player/visitors/pictures"
	"player/visitors/vision/blobs"
)

const (
	// waitLimit is how long a page waits for the next picture: less than a reply may take,
	// 30 s.
	waitLimit = 10 * time.Second
	// maxPart is the largest part of a picture that a colour is taken of, in pixels: the
	// samples are sorted, and a thing that fills half of 640x480 has no more.
	maxPart = 160_000
)

//go:embed page
var files embed.FS

// page is the page on which people calibrate the colours: the newest picture with the blobs
// on it. Each change is a POST, which needs the right to configure; the site's gate refuses
// it to pages of other origins.
type page struct {
	visitors.Common
	colors *colors
	shown  *shown
}

// listen listens for browsers. Without a host the address is of this computer only.
func listen(address string, flags visitors.Flags, log *zap.Logger) (net.Listener, visitors.Common, error) {
	if host, port, err := net.SplitHostPort(address); err == nil {
		address = net.JoinHostPort(cmp.Or(host, "127.0.0.1"), port)
	}
	common, err := flags.Common(address, log)
	if err != nil {
		return nil, common, fmt.Errorf("-http %s: %w", address, err)
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, common, fmt.Errorf("-http %s: %w", address, err)
	}
	return l, common, nil
}

func (p *page) serve(ctx context.Context, l net.Listener) {
	p.Log.Info("colours are calibrated on a page", zap.String("url", p.URL(l.Addr().(*net.TCPAddr))+"/"))
	site := p.Site("the page of vision", "-http", p.handler())
	site.Can = "see the pictures of"
	if err := site.Serve(ctx, l); err != nil {
		p.Log.Warn("the page of vision has ended", zap.Error(err))
	}
}

func (p *page) handler() http.Handler {
	assets, err := fs.Sub(files, "page")
	if err != nil {
		panic(err) // the folder is part of the program
	}
	mux := http.NewServeMux()
	mux.Handle("GET /", http.FileServerFS(assets))
	mux.HandleFunc("GET /seen", p.Allowed(rights.Read, p.sendSeen))
	mux.HandleFunc("GET /picture", p.Allowed(rights.Read, p.sendPicture))
	mux.HandleFunc("POST /take", p.Allowed(rights.Config, p.take))
	for path, change := range map[string]func(url.Values) error{
		"name":   p.name,
		"delete": p.remove,
		"undo":   func(url.Values) error { return p.colors.back() },
		"save":   func(url.Values) error { return p.colors.save() },
	} {
		mux.HandleFunc("POST /"+path, p.Allowed(rights.Config, func(w http.ResponseWriter, r *http.Request) {
			if err := change(r.URL.Query()); err != nil {
				refuseChange(w, err)
				return
			}
			w.WriteHeader(http.StatusNoContent)
		}))
	}
	return mux
}

func refuseChange(w http.ResponseWriter, err error) {
	http.Error(w, err.Error(), http.StatusUnprocessableEntity)
}

// seenReply is the reply to /seen.
type seenReply struct {
	Number  uint64      `json:"number"` // of the picture; 0: there is none
	Width   int         `json:"width"`
	Height  int         `json:"height"`
	Blobs   []seenBlob  `json:"blobs"` // in pixels of the picture
	Colors  []seenColor `json:"colors"`
	Undo    bool        `json:"undo"`    // something can be undone
	Unsaved bool        `json:"unsaved"` // the file has other colours
	File    string      `json:"file"`
	Problem string      `json:"problem"` // why there is no newer picture
}

type seenBlob struct {
	Channel int `json:"channel"`
	Area    int `json:"area"`
	Left    int `json:"left"`
	Top     int `json:"top"`
	Right   int `json:"right"` // included, and so is bottom
	Bottom  int `json:"bottom"`
}

type seenColor struct {
	Name       string `json:"name"`
	Channel    int    `json:"channel"`
	Hue        [2]int `json:"hue"`
	Saturation [2]int `json:"saturation"`
	Value      [2]int `json:"value"`
}

// sendSeen replies with the data of the newest picture, as soon as its number is not ?last=N.
func (p *page) sendSeen(w http.ResponseWriter, r *http.Request) {
	last, _ := strconv.ParseUint(r.URL.Query().Get("last"), 10, 64) // 0 if there is none: any picture
	ctx, cancel := context.WithTimeout(r.Context(), waitLimit)
	defer cancel()
	newest, problem := p.shown.next(ctx, last)
	now := p.colors.palette()
	reply := seenReply{Blobs: []seenBlob{}, Colors: []seenColor{}, Undo: now.undo, Unsaved: now.unsaved, File: p.colors.path, Problem: problem}
	if newest != nil {
		reply.Number, reply.Width, reply.Height = newest.number, newest.size.X, newest.size.Y
		for channel := range codec.VisionChannels {
			for _, b := range newest.found.Channel(channel) {
				reply.Blobs = append(reply.Blobs, seenBlob{channel, b.Area, b.Left, b.Top, b.Right, b.Bottom})
			}
		}
	}
	for _, c := range now.list {
		pair := func(r blobs.Range) [2]int { return [2]int{r.Low, r.High} }
		reply.Colors = append(reply.Colors, seenColor{c.Name, c.Channel, pair(c.Hue), pair(c.Saturation), pair(c.Value)})
	}
	send(w, reply)
}

func send(w http.ResponseWriter, reply any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	_ = json.NewEncoder(w).Encode(reply) // fails if the browser has disconnected
}

// errGone reports that a page shows a picture that is no longer kept.
var errGone = errors.New("that picture is gone: click again")

// asked returns the picture ?picture=N.
func (p *page) asked(q url.Values) (*seen, error) {
	number, err := strconv.ParseUint(q.Get("picture"), 10, 64)
	if err != nil {
		return nil, errors.New("picture needs a number")
	}
	if s := p.shown.picture(number); s != nil {
		return s, nil
	}
	return nil, errGone
}

func (p *page) sendPicture(w http.ResponseWriter, r *http.Request) {
	s, err := p.asked(r.URL.Query())
	if err != nil {
		http.Error(w, err.Error(), http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", "image/jpeg")
	w.Header().Set("Content-Length", strconv.Itoa(len(s.jpeg)))
	w.Header().Set("Cache-Control", "no-store")
	_, _ = w.Write(s.jpeg) // fails if the browser has disconnected
}

// take takes the colour of the rectangle left, top, right, bottom of a picture, including
// the edges: for the channel of a colour, or without a channel for a new colour. The reply
// has its channel.
func (p *page) take(w http.ResponseWriter, r *http.Request) {
	channel, err := p.taken(r.URL.Query())
	if err != nil {
		refuseChange(w, err)
		return
	}
	send(w, map[string]int{"channel": channel})
}

func (p *page) taken(q url.Values) (int, error) {
	s, err := p.asked(q)
	if err != nil {
		return 0, err
	}
	var at [4]int
	for i, name := range []string{"left", "top", "right", "bottom"} {
		if at[i], err = number(q, name, pictures.MaxPicture); err != nil {
			return 0, err
		}
	}
	channel := -1
	if q.Has("channel") {
		if channel, err = channelOf(q); err != nil {
			return 0, err
		}
	}
	part := image.Rect(at[0], at[1], at[2]+1, at[3]+1).Intersect(image.Rectangle{Max: s.size})
	if part.Dx()*part.Dy() > maxPart {
		return 0, fmt.Errorf("that is more than %d pixels: drag over a part of the thing", maxPart)
	}
	m, err := blobs.Decode(s.jpeg)
	if err != nil {
		return 0, err
	}
	return p.colors.take(m, part, channel)
}

func (p *page) name(q url.Values) error {
	channel, err := channelOf(q)
	if err != nil {
		return err
	}
	return p.colors.name(channel, q.Get("name"))
}

func (p *page) remove(q url.Values) error {
	channel, err := channelOf(q)
	if err != nil {
		return err
	}
	return p.colors.remove(channel)
}

func channelOf(q url.Values) (int, error) { return number(q, "channel", codec.VisionChannels-1) }

// number returns a parameter, a whole number from 0 to most.
func number(q url.Values, name string, most int) (int, error) {
	n, err := strconv.Atoi(q.Get(name))
	if err != nil || n < 0 || n > most {
		return 0, fmt.Errorf("%s needs a whole number from 0 to %d", name, most)
	}
	return n, nil
}

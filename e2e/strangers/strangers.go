// Package strangers disturbs a server while well clients use it: with abuse, and with many
// visitors at a time.
package strangers

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/coder/websocket"
)

// Workload is the work of each stranger until ctx ends or it is thrown out.
type Workload struct {
	Name  string
	Count int // how many do it at a time
	Do    func(ctx context.Context, dial Dialer, at Addresses)
}

// Addresses are the addresses of a server: of the robot, the dashboard, Foxglove and rosbridge.
type Addresses struct{ Robot, Page, Foxglove, Rosbridge string }

// Dialer connects strangers to a server.
type Dialer func(address string) (net.Conn, error)

// browser returns a client that ends connections without a request after a second: the server
// keeps those, as of refused WebSockets, for minutes.
func (d Dialer) browser() *http.Client {
	dial := func(_ context.Context, _, address string) (net.Conn, error) { return d(address) }
	return &http.Client{Transport: &http.Transport{DialContext: dial, IdleConnTimeout: time.Second}}
}

// Abuses are the workloads that no stranger should do.
func Abuses() []Workload {
	const (
		requestMode = "xy\x00\x02r\x01"
		noFrames    = "xy\x00\x02n\x00"
	)
	sending := func(first, rest string) func(context.Context, Dialer, Addresses) {
		return func(ctx context.Context, dial Dialer, at Addresses) { send(ctx, dial, at.Robot, first, rest) }
	}
	return []Workload{
		{"malformed", 12, sending(noFrames, strings.Repeat("??\x00\x00", 90)+noFrames)},
		{"commands", 12, sending("dr\x00\x02pa", "cp\x00\x04\x00\x00\x00\x00")},
		{"asked-frames", 12, sending(requestMode+"dr\x00\x02pr", "xy\x00\x01d")},
		{"open-close", 12, sending("", "dr\x00\x02prdr\x00\x02pc")},
		{"connections", 500, func(_ context.Context, dial Dialer, at Addresses) {
			if c, err := dial(at.Robot); err == nil {
				_ = c.(*net.TCPConn).SetLinger(0) // leaves no connection that waits
				c.Close()
			}
		}},
		{"pages", 60, func(ctx context.Context, dial Dialer, at Addresses) {
			send(ctx, dial, at.Page, "", "GET /robots HTTP/1.1\r\nHost: "+at.Page+"\r\n\r\n")
		}},
		{"half-requests", 128, func(ctx context.Context, dial Dialer, at Addresses) {
			c, err := dial(at.Page)
			if err != nil {
				return
			}
			defer c.Close()
			defer context.AfterFunc(ctx, func() { c.Close() })()
			if _, err := io.WriteString(c, "GET /robots HTTP/1.1\r\nHost: "); err == nil {
				_, _ = io.Copy(io.Discard, c) // until the server closes it
			}
		}},
		{"edits", 30, edit},
	}
}

// edit is a page that draws long walls into the world file.
func edit(ctx context.Context, dial Dialer, at Addresses) {
	ws, _, err := websocket.Dial(ctx, "ws://"+at.Page+"/world", &websocket.DialOptions{HTTPClient: dial.browser()})
	if err != nil {
		return
	}
	defer ws.CloseNow()
	ws.SetReadLimit(-1)
	changes := 0 // of the draft, which pages name
	for y := 0; err == nil; y++ {
		const least, far = 50, 900 // metres: a wall that fits, and one that is too far away
		length := []int{least, far}[y%2]
		text := fmt.Sprintf(`{"edit":{"base":%d,"wall":{"from":{"x":%d,"y":%d},"to":{"x":%d,"y":%d}}}}`, changes, -length, y%10-length, length, y%10+length)
		if err = ws.Write(ctx, websocket.MessageText, []byte(text)); err != nil {
			return
		}
		for {
			kind, message, err := ws.Read(ctx)
			if err != nil {
				return
			}
			var reply struct {
				Draft *struct {
					Changes int `json:"changes"`
				} `json:"draft"`
			}
			if kind == websocket.MessageText && json.Unmarshal(message, &reply) == nil && reply.Draft != nil {
				changes = reply.Draft.Changes
				break
			}
		}
	}
}

// Crowds are twenty visitors at a time that watch the robot.
func Crowds() []Workload {
	return []Workload{{"browsers", 20, browse}, {"viewers", 20, view}}
}

// Programs are those that read a robot 10 times a second: clients of the Player protocol,
// and programs of ROS.
func Programs() []Workload {
	return []Workload{{"clients", 20, read}, {"programs", 20, follow}}
}

// All is all that strangers do.
func All() []Workload {
	return slices.Concat(Abuses(), Crowds(), []Workload{{"browser", 1, browse}, {"viewer", 1, view}}, Programs(), Spectators())
}

// Spectators are visitors of the camera "front": three get all its pictures, one
// asks once a second, and three get as many bytes from another program.
func Spectators() []Workload {
	return []Workload{{"watchers", 3, watch}, {"glance", 1, glance}, {"elsewhere", 3, elsewhere}}
}

// watch is sent the pictures of the camera.
func watch(ctx context.Context, dial Dialer, at Addresses) {
	get(ctx, dial, "http://"+at.Page+"/camera/front")
}

// glance keeps the camera running, and is sent one of its pictures in a second.
func glance(ctx context.Context, dial Dialer, at Addresses) {
	get(ctx, dial, "http://"+at.Page+"/camera/front/picture")
	select {
	case <-ctx.Done():
	case <-time.After(time.Second):
	}
}

// get reads a reply to its end.
func get(ctx context.Context, dial Dialer, address string) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return
	}
	browser := dial.browser()
	defer browser.CloseIdleConnections()
	if reply, err := browser.Do(request); err == nil {
		_, _ = io.Copy(io.Discard, reply.Body)
		reply.Body.Close()
	}
}

// elsewhere is sent as much as watch, without the server.
func elsewhere(ctx context.Context, _ Dialer, _ Addresses) {
	const size, rate = 30_000, 30 // bytes of a picture, and Hz
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return
	}
	defer l.Close()
	go func() {
		if c, err := l.Accept(); err == nil {
			_, _ = io.Copy(io.Discard, c)
		}
	}()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		return
	}
	defer c.Close()
	ticker := time.NewTicker(time.Second / rate)
	defer ticker.Stop()
	for picture := make([]byte, size); ; {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			_, _ = c.Write(picture)
		}
	}
}

// read is a client that gets the data of all devices 10 times a second.
func read(ctx context.Context, dial Dialer, at Addresses) {
	c, err := dial(at.Robot)
	if err != nil {
		return
	}
	defer c.Close()
	defer context.AfterFunc(ctx, func() { c.Close() })()
	const rate, devices = "xy\x00\x03f\x00\x0a", "dr\x00\x0eprlrsrmrgrzrvr"
	if _, err := io.WriteString(c, rate+devices); err == nil {
		_, _ = io.Copy(io.Discard, c)
	}
}

// follow is a program of ROS that has subscribed to all topics of the robot.
func follow(ctx context.Context, dial Dialer, at Addresses) {
	ws, _, err := websocket.Dial(ctx, "ws://"+at.Rosbridge, &websocket.DialOptions{HTTPClient: dial.browser()})
	if err != nil {
		return
	}
	defer ws.CloseNow()
	ws.SetReadLimit(-1)
	err = ws.Write(ctx, websocket.MessageText, []byte(`{"op":"call_service","service":"/rosapi/topics"}`))
	for err == nil {
		var message []byte
		if _, message, err = ws.Read(ctx); err != nil {
			return
		}
		if !bytes.Contains(message[:min(len(message), 64)], []byte("service_response")) {
			continue
		}
		var reply struct{ Values struct{ Topics []string } }
		err = json.Unmarshal(message, &reply)
		for _, topic := range reply.Values.Topics {
			if err == nil {
				err = ws.Write(ctx, websocket.MessageText, fmt.Appendf(nil, `{"op":"subscribe","topic":%q}`, topic))
			}
		}
	}
}

// view is a Foxglove viewer that has subscribed to all topics of the robot.
func view(ctx context.Context, dial Dialer, at Addresses) {
	ws, _, err := websocket.Dial(ctx, "ws://"+at.Foxglove, &websocket.DialOptions{HTTPClient: dial.browser(), Subprotocols: []string{"foxglove.sdk.v1"}})
	if err != nil {
		return
	}
	defer ws.CloseNow()
	ws.SetReadLimit(-1)
	for err == nil {
		var kind websocket.MessageType
		var message []byte
		if kind, message, err = ws.Read(ctx); err != nil || kind != websocket.MessageText {
			continue
		}
		var advertised struct {
			Op       string                `json:"op"`
			Channels []struct{ ID uint32 } `json:"channels"`
		}
		if err = json.Unmarshal(message, &advertised); err != nil || advertised.Op != "advertise" {
			continue
		}
		type subscription struct {
			ID        uint32 `json:"id"`
			ChannelID uint32 `json:"channelId"`
		}
		var all []subscription
		for _, c := range advertised.Channels {
			all = append(all, subscription{c.ID, c.ID})
		}
		subscribe, _ := json.Marshal(map[string]any{"op": "subscribe", "subscriptions": all}) // these types cannot fail
		err = ws.Write(ctx, websocket.MessageText, subscribe)
	}
}

// browse is a browser that shows the robot's page, for as long as the server lets it.
// Both sockets of the page run; the messages of one are read, and of the other
// acknowledged.
func browse(ctx context.Context, dial Dialer, at Addresses) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	browser := dial.browser()
	open := func(path string) (*websocket.Conn, error) {
		ws, _, err := websocket.Dial(ctx, "ws://"+at.Page+path, &websocket.DialOptions{HTTPClient: browser})
		return ws, err
	}
	presence, err := open("/presence")
	if err != nil {
		return
	}
	defer presence.CloseNow()
	go func() {
		defer cancel()
		for {
			if _, _, err := presence.Read(ctx); err != nil {
				return
			}
		}
	}()
	stream, err := open("/stream?robot=" + at.Robot)
	if err != nil {
		return
	}
	defer stream.CloseNow()
	err = stream.Write(ctx, websocket.MessageText, []byte(`{"rate":20,"request":"prlrsrmrgrzrvr"}`))
	for err == nil {
		var kind websocket.MessageType
		var message []byte
		if kind, message, err = stream.Read(ctx); err == nil && kind == websocket.MessageBinary {
			const number = 4 // bytes at the beginning, which acknowledge the message
			err = stream.Write(ctx, kind, message[:number])
		}
	}
}

// send connects, sends first once, and pours rest.
func send(ctx context.Context, dial Dialer, address, first, rest string) {
	c, err := dial(address)
	if err != nil {
		return
	}
	defer c.Close()
	if _, err := io.WriteString(c, first); err == nil {
		pour(ctx, c, rest)
	}
}

// pour sends a message again and again, as fast as the server takes it, and reads the
// answers, until the connection or ctx ends.
func pour(ctx context.Context, c net.Conn, message string) {
	defer context.AfterFunc(ctx, func() { c.Close() })()
	go func() { _, _ = io.Copy(io.Discard, c) }()
	all := []byte(strings.Repeat(message, 64<<10/len(message)))
	for {
		if _, err := c.Write(all); err != nil {
			return
		}
	}
}

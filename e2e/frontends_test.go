package e2e

import (
	"context"
	"crypto/tls"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"player/e2e/must"
	"player/e2e/waiting"
	"player/formats/foxglove"
)

// frontend is a visitor that drives the robot of a server through it.
type frontend struct {
	*websocket.Conn
	drive func(speed, turnRate int) // mm/s, deg/s
	// unadvertise is how a viewer closes its panel; nil: this is none.
	unadvertise func()
}

// openPage is a page of the dashboard. It uses TLS if there is a configuration.
func openPage(t *testing.T, s *server, tlsConfig *tls.Config) frontend {
	t.Helper()
	ws := connect(t, strings.Replace(s.dashboard(t), "http", "ws", 1)+"drive?robot="+url.QueryEscape(s.address), nil, tlsConfig)
	return frontend{ws, func(speed, turnRate int) {
		say(t, ws, websocket.MessageText, fmt.Appendf(nil, `{"drive":[%d,%d]}`, speed, turnRate))
	}, nil}
}

// openViewer is a viewer that speaks the protocol of Foxglove. It uses TLS if there is a
// configuration.
func openViewer(t *testing.T, s *server, tlsConfig *tls.Config) frontend {
	t.Helper()
	ws := connect(t, s.viewers(t), foxglove.Subprotocols(), tlsConfig)
	say(t, ws, websocket.MessageText, []byte(`{"op":"advertise","channels":[{"id":5,"topic":"/r0/cmd_vel","encoding":"json","schemaName":"geometry_msgs/Twist"}]}`))
	return frontend{ws, func(speed, turnRate int) {
		const radian = 180 / 3.14159
		say(t, ws, websocket.MessageBinary, fmt.Appendf([]byte("\x01\x05\x00\x00\x00"),
			`{"linear":{"x":%g,"y":0,"z":0},"angular":{"x":0,"y":0,"z":%g}}`, float64(speed)/1000, float64(turnRate)/radian))
	}, func() { say(t, ws, websocket.MessageText, []byte(`{"op":"unadvertise","channelIds":[5]}`)) }}
}

// openProgram is a program that speaks rosbridge.
func openProgram(t *testing.T, s *server, tlsConfig *tls.Config) frontend {
	t.Helper()
	ws := connect(t, s.rosbridge(t), nil, tlsConfig)
	return frontend{ws, func(speed, turnRate int) {
		const radian = 180 / 3.14159
		say(t, ws, websocket.MessageText, fmt.Appendf(nil,
			`{"op":"publish","topic":"/cmd_vel","msg":{"linear":{"x":%g,"y":0,"z":0},"angular":{"x":0,"y":0,"z":%g}}}`, float64(speed)/1000, float64(turnRate)/radian))
	}, func() { say(t, ws, websocket.MessageText, []byte(`{"op":"unadvertise","topic":"/cmd_vel"}`)) }}
}

func connect(t *testing.T, address string, subprotocols []string, tlsConfig *tls.Config) *websocket.Conn {
	t.Helper()
	if tlsConfig != nil {
		address = strings.Replace(address, "ws:", "wss:", 1)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	ws, _, err := websocket.Dial(ctx, address, &websocket.DialOptions{
		Subprotocols: subprotocols, HTTPClient: &http.Client{Transport: &http.Transport{TLSClientConfig: tlsConfig}},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ws.CloseNow() })
	ws.SetReadLimit(1 << 20)
	go func() { // what it is sent is dropped, and pings are answered
		for {
			if _, _, err := ws.Read(t.Context()); err != nil {
				return
			}
		}
	}()
	return ws
}

func say(t *testing.T, ws *websocket.Conn, kind websocket.MessageType, message []byte) {
	t.Helper()
	must.Do(t, ws.Write(t.Context(), kind, message))
}

// However a visitor ends, the robot that he drives stops, and a robot that another program
// has taken over goes on as that one has commanded: also when he ends some time later.
func TestVisitorsEndForThemselves(t *testing.T) {
	t.Parallel()
	ends := map[string]func(f frontend){
		"zero":         func(f frontend) { f.drive(0, 0) },
		"unadvertised": func(f frontend) { f.unadvertise() },
		"closed":       func(f frontend) { _ = f.Close(websocket.StatusNormalClosure, "") },
		"killed":       func(f frontend) { _ = f.CloseNow() },
		"silent":       func(f frontend) {},
	}
	for name, open := range map[string]func(*testing.T, *server, *tls.Config) frontend{"page": openPage, "viewer": openViewer, "program": openProgram} {
		for end, ends := range ends {
			if name == "page" && end == "unadvertised" {
				continue
			}
			t.Run(name+" "+end, func(t *testing.T) {
				t.Parallel()
				s := start(t, "-stage", room, "-http", "127.0.0.1:0", "-foxglove", "127.0.0.1:0", "-rosbridge", "127.0.0.1:0")
				p := s.dial(t)
				p.mustOpen("pa", "pa")
				turns := func() int16 { return p.position().TurnRate }
				// visit drives the robot.
				visit := func() frontend {
					f := open(t, s, nil)
					waiting.Until(t, "the visitor drives", func() bool { f.drive(0, 40); return turns() >= 38 })
					return f
				}
				ends(visit())
				waiting.Until(t, "the stop", func() bool { return turns() == 0 })

				f := visit()
				p.drives("another program", 0, -20, func() bool { return turns() == -20 })
				ends(f)
				p.goesOn(t, -20)

				f = visit()
				p.drives("another program", 0, -20, func() bool { return turns() == -20 })
				p.goesOn(t, -20) // the visitor is silent
				ends(f)
				p.goesOn(t, -20)
			})
		}
	}
}

// The adapter of the Go client for the conformance suite (docs/CLIENTS.md): one
// JSON request per line on standard input, one answer per line on standard
// output.
package main

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"player/client"
	"player/client/simulation"
	"player/client/vfh"
	"player/codec"
)

// request is one line of input. Which fields are used depends on Op.
type request struct {
	Op      string
	Host    string
	Port    int
	Timeout int `json:"timeout_ms"`
	Pairs   string
	Device  string
	Values  []int
	Name    string
	Value   int
	Text    string
	Order   *simulation.Order
	Path    string

	Authority, Certificate, Key, Server string // TLS
}

// answer holds the members of one line of output.
type answer map[string]any

// usageError is a request that the adapter or the client refuses without
// talking to the server.
type usageError struct{ error }

// letters are the devices that the client may have read.
const letters = "lspgmvzjy"

func main() {
	lines := bufio.NewScanner(os.Stdin)
	out := json.NewEncoder(os.Stdout)
	var a adapter
	for lines.Scan() {
		var r request
		result := answer{}
		err := json.Unmarshal(lines.Bytes(), &r)
		if err == nil {
			err = a.do(r, result)
		}
		result["ok"] = err == nil
		if err != nil {
			result["error"], result["text"] = kind(err), err.Error()
		}
		if err := out.Encode(result); err != nil {
			log.Fatal(err)
		}
	}
}

type adapter struct{ robot *client.Client }

// dial connects, by TLS if the request has an authority.
func dial(ctx context.Context, r request) (net.Conn, error) {
	address := net.JoinHostPort(r.Host, strconv.Itoa(r.Port))
	config, err := tlsConfig(r)
	if err != nil {
		return nil, err
	}
	if config == nil {
		return new(net.Dialer).DialContext(ctx, "tcp", address)
	}
	conn, err := (&tls.Dialer{Config: config}).DialContext(ctx, "tcp", address)
	return conn, refusedCertificate(err)
}

// refusedCertificate makes the end of the connection of an error about a certificate.
func refusedCertificate(err error) error {
	if _, is := errors.AsType[*tls.CertificateVerificationError](err); is {
		return fmt.Errorf("%w: %w", net.ErrClosed, err)
	}
	return err
}

// tlsConfig returns what a request says of TLS, or nil.
func tlsConfig(r request) (*tls.Config, error) {
	if r.Authority == "" {
		return nil, nil
	}
	text, err := os.ReadFile(r.Authority)
	if err != nil {
		return nil, usageError{err}
	}
	config := &tls.Config{RootCAs: x509.NewCertPool(), ServerName: r.Server}
	config.RootCAs.AppendCertsFromPEM(text)
	if r.Certificate != "" {
		own, err := tls.LoadX509KeyPair(r.Certificate, r.Key)
		if err != nil {
			return nil, usageError{err}
		}
		config.Certificates = []tls.Certificate{own}
	}
	return config, nil
}

func (a *adapter) do(r request, out answer) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Duration(r.Timeout)*time.Millisecond)
	defer cancel()
	if r.Op == "connect" {
		a.close()
		robot, err := client.DialBy(ctx, func(ctx context.Context) (net.Conn, error) { return dial(ctx, r) }) // plain rounds
		if err == nil {
			a.robot = robot
		}
		return err
	}
	if r.Op == "simulation" {
		return simulate(ctx, r, out)
	}
	if r.Op == "goto" {
		return drive(r, out)
	}
	if a.robot == nil {
		return usageError{errors.New("not connected")}
	}
	switch r.Op {
	case "reconnect":
		return a.robot.Reconnect(ctx)
	case "request":
		err := a.robot.Request(ctx, r.Pairs)
		refused, is := errors.AsType[*client.AccessError](err)
		if err == nil || is {
			out["granted"] = a.granted(r.Pairs)
		}
		if is {
			why := map[string]string{}
			for _, d := range refused.Devices {
				if d.Why != "" {
					why[string(d.Device)] = string(d.Why) + " " + d.Text
				}
			}
			out["why"] = why
		}
		return err
	case "geometry":
		parts, err := a.robot.Geometry(ctx)
		list := [][]any{}
		for _, p := range parts {
			list = append(list, []any{string(p.Device), p.Number, p.X, p.Y, p.Heading, p.Length, p.Width, p.Range, p.View})
		}
		out["parts"] = list
		if errors.Is(err, client.ErrUnknownQuestion) {
			err = nil
		}
		return err
	case "read":
		if err := a.robot.Read(ctx); err != nil {
			return err
		}
		var present strings.Builder
		for _, letter := range []byte(letters) {
			if a.robot.New(letter) {
				present.WriteByte(letter)
			}
		}
		out["new"] = present.String()
		return nil
	case "get":
		return a.get(r.Device, out)
	case "command":
		return a.command(r)
	case "config":
		set, known := configurations[r.Name]
		if !known {
			return usageError{fmt.Errorf("unknown configuration %q", r.Name)}
		}
		return orUsage(set(a.robot, r))
	case "close":
		a.close()
		return nil
	}
	return usageError{fmt.Errorf("unknown op %q", r.Op)}
}

// simulate reads the state of a simulation, or changes it.
func simulate(ctx context.Context, r request, out answer) (err error) {
	world, state := simulation.At(net.JoinHostPort(r.Host, strconv.Itoa(r.Port))), simulation.State{}
	config, err := tlsConfig(r)
	if err != nil {
		return err
	}
	if config != nil {
		world.Address = "https://" + world.Address
		transport := &http.Transport{TLSClientConfig: config}
		defer transport.CloseIdleConnections()
		world.Client = &http.Client{Transport: transport}
	}
	if r.Order == nil {
		state, err = world.State(ctx)
	} else {
		state, err = world.Order(ctx, *r.Order)
	}
	if err == nil {
		out["state"] = state
	}
	return refusedCertificate(err)
}

func (a *adapter) close() {
	if a.robot != nil {
		_ = a.robot.Close() // the server learns of it by the end of the connection
		a.robot = nil
	}
}

// granted returns the server's reply.
func (a *adapter) granted(pairs string) string {
	reply := []byte(pairs)
	for i := 0; i+1 < len(reply); i += 2 {
		reply[i+1] = a.robot.Access(reply[i])
	}
	return string(reply)
}

func (a *adapter) get(device string, out answer) error {
	if len(device) != 1 {
		return usageError{fmt.Errorf("device %q is not one letter", device)}
	}
	letter := device[0]
	out["size"], out["data"], out["age_us"] = len(a.robot.Raw(letter)), nil, nil
	if age, ok := a.robot.Age(letter); ok {
		out["age_us"] = age.Microseconds()
	}
	if a.robot.Has(letter) {
		out["data"] = a.data(letter)
	}
	return nil
}

func (a *adapter) data(letter byte) any {
	switch r := a.robot; letter {
	case codec.Position:
		return r.Position
	case codec.Sonar:
		return answer{"ranges": r.Sonar}
	case codec.Laser:
		return answer{"ranges": r.Laser}
	case codec.Misc:
		return answer{"front": r.Misc.FrontBumpers, "rear": r.Misc.RearBumpers, "battery": r.Misc.Battery, "voltage": r.Misc.Voltage()}
	case codec.Gripper:
		return r.Gripper
	case codec.PTZ:
		return r.PTZ
	case codec.Vision:
		channels := make([][]answer, codec.VisionChannels)
		for c := range channels {
			channels[c] = []answer{}
			for _, b := range r.Vision.Channel(c) {
				channels[c] = append(channels[c], answer{"color": c, "area": b.Area, "x": b.X, "y": b.Y,
					"left": b.Left, "right": b.Right, "top": b.Top, "bottom": b.Bottom})
			}
		}
		return answer{"channels": channels}
	case codec.Joystick:
		return r.Joystick
	case codec.Server:
		var f codec.FreshnessData
		if f.Decode(r.Raw(letter)) != nil {
			return nil
		}
		return answer{"time": f.Time, "ages": f.Ages}
	}
	return answer{}
}

func (a *adapter) command(r request) error {
	v := append(r.Values, 0, 0, 0)
	var err error
	switch r.Device {
	case "p":
		err = a.robot.SetSpeed(v[0], v[1])
	case "z":
		err = a.robot.SetPTZ(v[0], v[1], v[2])
	case "g":
		err = a.robot.SetGripper(uint8(v[0]), uint8(v[1]))
	default:
		err = fmt.Errorf("device %q takes no command", r.Device)
	}
	return orUsage(err)
}

var configurations = map[string]func(robot *client.Client, r request) error{
	"frequency": func(robot *client.Client, r request) error { return robot.SetFrequency(r.Value) },
	"lifetime": func(robot *client.Client, r request) error {
		return robot.SetCommandLifetime(time.Duration(r.Value) * time.Millisecond)
	},
	"mode":   func(robot *client.Client, r request) error { return robot.SetDataMode(client.DataMode(r.Value)) },
	"data":   func(robot *client.Client, _ request) error { return robot.RequestData() },
	"fresh":  func(robot *client.Client, r request) error { return robot.SetFresh(r.Value != 0) },
	"motors": func(robot *client.Client, r request) error { return robot.ChangeMotorState(r.Value != 0) },
	"velocity": func(robot *client.Client, r request) error {
		return robot.ChangeVelocityControl(client.VelocityMode(r.Value))
	},
	"name":           func(robot *client.Client, r request) error { return robot.SetName(r.Text) },
	"stop":           func(robot *client.Client, r request) error { return robot.EmergencyStop(r.Value != 0) },
	"reset_odometry": func(robot *client.Client, _ request) error { return robot.ResetPosition() },
}

// orUsage tags an error that is not the connection's as a usageError.
func orUsage(err error) error {
	if err == nil || kind(err) == "closed" {
		return err
	}
	return usageError{err}
}

// kind classifies an error as the suite does.
func kind(err error) string {
	var refused *client.AccessError
	var network net.Error
	switch {
	case errors.As(err, &refused), errors.Is(err, simulation.ErrRefused):
		return "refused"
	case errors.As(err, new(usageError)):
		return "usage"
	case errors.Is(err, context.DeadlineExceeded):
		return "timeout"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, net.ErrClosed), errors.As(err, &network):
		return "closed"
	}
	return "protocol"
}

// drive answers with the commands that package vfh gives for a recording: numbers of parts,
// then of rounds (docs/CLIENTS.md).
func drive(r request, out answer) (err error) {
	defer func() { // vfh refuses robots for which there is no map
		if why := recover(); why != nil {
			err = usageError{fmt.Errorf("%v", why)}
		}
	}()
	file, err := os.Open(r.Path)
	if err != nil {
		return usageError{err}
	}
	defer file.Close()
	in := bufio.NewReader(file)
	var n, x, y int
	if _, err := fmt.Fscan(in, &x, &y, &n); err != nil {
		return usageError{err}
	}
	parts, laser := make([]codec.Part, n), codec.Part{}
	for i := range parts {
		p, letter := &parts[i], ""
		if _, err := fmt.Fscan(in, &letter, &p.Number, &p.X, &p.Y, &p.Heading, &p.Length, &p.Width); err != nil {
			return usageError{err}
		}
		if p.Device = letter[0]; p.Device == codec.Laser {
			laser = *p
		}
	}
	way, commands := vfh.New(vfh.Of(parts), x, y), []int{}
	var position codec.PositionData
	var scan codec.LaserData
	var sonar codec.SonarData
	for {
		if _, err := fmt.Fscan(in, &position.X, &position.Y, &position.Heading, &position.Stall); err != nil {
			break // the end
		}
		for i := range scan {
			_, _ = fmt.Fscan(in, &scan[i]) // the adapters trust the suite
		}
		for i := range sonar {
			_, _ = fmt.Fscan(in, &sonar[i])
		}
		beams := vfh.AppendLaser(nil, laser, &scan)
		if r.Device == "s" {
			beams = vfh.AppendSonar(nil, parts, &sonar)
		}
		speed, turn, _ := way.Next(&position, beams)
		commands = append(commands, speed, turn)
	}
	out["commands"] = commands
	return nil
}

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
	Access  string
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

type adapter struct {
	robot *client.Client
	named map[string]*device // devices without letters that were opened, by name
}

// device is a device that was opened by its name.
type device struct {
	code byte
	data any // its newest data, as package codec decodes it
}

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

// tlsConfig returns the TLS settings of a request, or nil.
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
			a.robot, a.named = robot, map[string]*device{}
		}
		return err
	}
	if r.Op == "simulation" {
		return simulate(ctx, r, out)
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
			out["why"] = reasons(refused)
		}
		return err
	case "devices":
		entries, err := a.robot.Devices(ctx)
		list := [][]any{}
		for _, e := range entries {
			list = append(list, []any{e.Address(), e.Code})
		}
		out["devices"] = list
		return known(err)
	case "open":
		return a.open(ctx, r, out)
	case "rays":
		rays, err := a.robot.Rays(ctx)
		list := [][]any{}
		for _, r := range rays {
			list = append(list, []any{a.robot.NameOf(r.Device), r.First, r.Count, r.X, r.Y, r.Heading, r.Step, r.Near, r.Far, r.Cone})
		}
		out["rays"] = list
		return known(err)
	case "channels":
		channels, err := a.robot.Channels(ctx)
		list := [][]any{}
		for _, c := range channels {
			list = append(list, []any{a.robot.NameOf(c.Device), c.Number, c.Role, c.Unit, c.Min, c.Max, c.Name})
		}
		out["channels"] = list
		return known(err)
	case "colors":
		colors, err := a.robot.Colors(ctx)
		list := [][]any{}
		for _, c := range colors {
			list = append(list, []any{a.robot.NameOf(c.Device), c.Channel, c.Color})
		}
		out["colors"] = list
		return known(err)
	case "geometry":
		parts, err := a.robot.Geometry(ctx)
		list := [][]any{}
		for _, p := range parts {
			list = append(list, []any{string(p.Device), p.Number, p.X, p.Y, p.Heading, p.Length, p.Width, p.Range, p.View})
		}
		out["parts"] = list
		return known(err)
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
		for _, d := range a.named {
			if d.code >= 0x80 && a.robot.New(d.code) {
				present.WriteRune(rune(d.code))
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

// known returns an error, unless it is that the server does not know the question.
func known(err error) error {
	if errors.Is(err, client.ErrUnknownQuestion) {
		return nil
	}
	return err
}

// reasons returns why devices are refused, by their names.
func reasons(refused *client.AccessError) map[string]string {
	why := map[string]string{}
	for _, d := range refused.Devices {
		if d.Why != "" {
			why[d.Name] = string(d.Why) + " " + d.Text
		}
	}
	return why
}

// open opens a device by its name.
func (a *adapter) open(ctx context.Context, r request, out answer) error {
	d := &device{}
	iface, _, _ := codec.ParseAddress(r.Name)
	var into interface{ Decode([]byte) error }
	switch iface {
	case "laser":
		into = new(codec.LaserData)
	case "ranger":
		into = &codec.RangerData{Ranges: []uint16{}}
	case "imu":
		into = new(codec.IMUData)
	case "gps":
		into = new(codec.GPSData)
	case "io":
		into = &codec.IOData{Values: []int32{}}
	case "goto":
		into = new(codec.GotoData)
	case "servo":
		into = &codec.ServoData{Joints: []codec.Joint{}}
	}
	d.data = into
	code, err := a.robot.Open(ctx, r.Name, r.Access[0], into)
	d.code = code
	if code != 0 {
		a.named[r.Name], out["code"] = d, code
	}
	refused, is := errors.AsType[*client.AccessError](err)
	if is {
		out["why"] = reasons(refused)
	}
	if err != nil && code == 0 && !errors.Is(err, client.ErrNoDevice) {
		return orUsage(err)
	}
	return err
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
	letter := device[0]
	named := a.named[device]
	switch {
	case named != nil:
		letter = named.code
	case len(device) != 1:
		return usageError{fmt.Errorf("device %q is not open", device)}
	}
	out["size"], out["data"], out["age_us"] = len(a.robot.Raw(letter)), nil, nil
	if age, ok := a.robot.Age(letter); ok {
		out["age_us"] = age.Microseconds()
	}
	switch {
	case !a.robot.Has(letter):
	case named != nil:
		out["data"] = named.data
		if scan, is := named.data.(*codec.LaserData); is {
			out["data"] = answer{"ranges": scan}
		}
	default:
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
	v := append(r.Values, make([]int, 8)...)
	var err error
	switch r.Device {
	case "p":
		err = a.robot.SetSpeed(v[0], v[1])
	case "z":
		err = a.robot.SetPTZ(v[0], v[1], v[2])
	case "g":
		err = a.robot.SetGripper(uint8(v[0]), uint8(v[1]))
	default:
		d, iface := a.named[r.Device], strings.Split(r.Device, ":")[0]
		switch {
		case iface == "io" && d != nil:
			err = a.robot.SetOutput(d.code, uint8(v[0]), int32(v[1]))
		case iface == "goto" && d != nil && v[0] == codec.Unknown:
			err = a.robot.StopGoal(d.code)
		case iface == "goto" && d != nil:
			err = a.robot.SetGoal(d.code, codec.GotoCommand{X: int32(v[0]), Y: int32(v[1]), Heading: uint16(v[2]), Speed: uint16(v[3]), TurnRate: uint16(v[4]),
				Tolerance: uint16(v[5]), Radius: uint16(v[6]), Tag: uint16(v[7])})
		case iface == "servo" && d != nil:
			err = a.robot.MoveJoint(d.code, uint8(v[0]), int32(v[1]), uint32(v[2]))
		default:
			err = fmt.Errorf("device %q takes no command", r.Device)
		}
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
	case errors.As(err, &refused), errors.Is(err, simulation.ErrRefused), errors.Is(err, client.ErrNoDevice):
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

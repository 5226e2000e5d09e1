package e2e

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"player/app"
	"player/codec"
	"player/e2e/acceptance"
	"player/e2e/certs"
	"player/e2e/must"
	"player/e2e/needs"
	"player/e2e/ports"
	"player/e2e/programs"
	"player/e2e/waiting"
	product "player/server"
	robot "player/simulation/emulator/p2os"
)

// fortress is a server with TLS, and the authority of its clients.
type fortress struct {
	*server
	authority *certs.Authority
	port      int // for TLS
	page      string
}

// fortified starts a server that only clients with certificates can reach by TLS. text
// is added to its configuration.
func fortified(t *testing.T, l launch, text string, flags ...string) *fortress {
	t.Helper()
	f := &fortress{authority: certs.New(t, "lab"), port: ports.Free(t, 1)}
	pair := f.authority.Issue("robot", nil)
	page := fmt.Sprintf("127.0.0.1:%d", ports.Free(t, 1))
	f.page = "http://" + page + "/"
	file := write(t, t.TempDir(), "robot.cfg", text+fmt.Sprintf("\ntls ( listen \"0.0.0.0:%d\" cert %q key %q clients %q )", f.port, pair.Cert, pair.Key, f.authority.File))
	f.server = l.start(t, append(flags, "-http", page, file)...)
	return f
}

// config is of a client with a certificate of that name.
func (f *fortress) config(name string) *tls.Config {
	return f.authority.Client(f.authority.Issue(name, nil))
}

func (f *fortress) enter(t *testing.T, config *tls.Config) *peer {
	t.Helper()
	return enter(t, net.JoinHostPort("127.0.0.1", strconv.Itoa(f.port)), config)
}

// enter connects by TLS.
func enter(t *testing.T, address string, config *tls.Config) *peer {
	t.Helper()
	conn := must.Get(tls.Dial("tcp", address, config))(t)
	t.Cleanup(func() { conn.Close() })
	return &peer{t, conn}
}

// turnedAway tries to connect until the log has the reason of the refusal, of which it
// has one a second, and expects an error that the server sends. With TLS 1.3 a client
// has it at its first read.
func (f *fortress) turnedAway(t *testing.T, config *tls.Config, alert, reason string) {
	t.Helper()
	waiting.Until(t, "a refusal in the log: "+reason, func() bool {
		conn, err := tls.Dial("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(f.port)), config)
		if err == nil {
			_ = conn.SetDeadline(time.Now().Add(patience))
			_, err = conn.Read(make([]byte, 1))
			conn.Close()
		}
		if err == nil || !strings.Contains(err.Error(), alert) {
			t.Fatalf("the client has %v, want %s", err, alert)
		}
		return f.Printed(reason)
	})
}

// stageRoom is a configuration with the world of room.
func stageRoom(t *testing.T) string {
	t.Helper()
	path := must.Get(filepath.Abs(room))(t)
	return fmt.Sprintf("driver ( name \"stage\" world %q )\n", path)
}

// A client has the rights of the name in its certificate and of its address. The log
// and the status name it.
func TestTLSRights(t *testing.T) {
	t.Parallel()
	f := fortified(t, launch{}, stageRoom(t)+`
		access ( allow ["read" "write" "config"] name "ada" )
		access ( allow "read" name ["ben" "cleo"] )
		access ( allow "read" from "127.0.0.1" )
		access ( allow "write" from "127.0.0.0/8" name "cleo" )`)
	ada, ben, cleo := f.enter(t, f.config("ada")), f.enter(t, f.config("ben")), f.enter(t, f.config("cleo"))
	far := dialFrom("127.0.0.2", net.JoinHostPort("127.0.0.1", strconv.Itoa(f.port)))
	if far == nil {
		t.Fatal("a connection is not accepted")
	}
	eve := &peer{t, tls.Client(far, f.config("eve"))}
	defer far.Close()
	ada.mustOpen("pasr", "pasr")
	ben.mustOpen("srpw", "srpe")
	cleo.mustOpen("pa", "pa")
	eve.mustOpen("srpw", "sepe")
	plain := f.dial(t)
	plain.mustOpen("srpw", "srpe") // ada's rights are not those of her computer
	ada.drive(0, 40)
	ben.frame(3)
	f.Await(t, ada.conn.LocalAddr().String()+" (ada)")
	f.Await(t, eve.conn.LocalAddr().String()+" (eve)")
	names := map[string]string{}
	for _, c := range status(t, f.page).Robots[0].Clients {
		names[c.Address] = fmt.Sprint(c.Certificate, c.TLS)
	}
	for p, want := range map[*peer]string{ada: "adatrue", ben: "bentrue", eve: "evetrue", plain: "false"} {
		if got := names[p.conn.LocalAddr().String()]; got != want {
			t.Errorf("%v is %q in the status, want %q", p.conn.LocalAddr(), got, want)
		}
	}
	// A client that leaves says goodbye, and the robot stops.
	waiting.Until(t, "the robot turns", func() bool { return cleo.position().TurnRate != 0 })
	must.Do(t, ada.conn.Close())
	waiting.Until(t, "the robot stops", func() bool { return cleo.position().TurnRate == 0 })
}

func TestTLSRefuses(t *testing.T) {
	t.Parallel()
	f := fortified(t, launch{}, stageRoom(t))
	stranger := certs.New(t, "elsewhere").Issue("ada", nil)
	foreign := f.authority.Client()
	foreign.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &stranger.TLS, nil } // unasked
	old := f.config("ada")
	old.MinVersion, old.MaxVersion = tls.VersionTLS10, tls.VersionTLS12
	for _, tt := range []struct {
		name          string
		config        *tls.Config
		alert, reason string
	}{
		{"none", f.authority.Client(), "certificate required", "client didn't provide a certificate"},
		{"expired", f.authority.Client(f.authority.Issue("ada", certs.Expired)), "expired certificate", "certificate has expired"},
		{"of a foreign authority", foreign, "unknown certificate authority", "certificate signed by unknown authority"},
		{"for servers only", f.authority.Client(f.authority.Issue("ada", func(c *x509.Certificate) { c.ExtKeyUsage = c.ExtKeyUsage[:1] })), "bad certificate", "incompatible key usage"},
		{"TLS 1.2", old, "protocol version not supported", "unsupported versions"},
	} {
		t.Run(tt.name, func(t *testing.T) { f.turnedAway(t, tt.config, tt.alert, tt.reason) })
	}
	for _, text := range []string{"dr\x00\x02sr", "GET / HTTP/1.1\r\n\r\n"} {
		waiting.Until(t, "a refusal of plain text in the log", func() bool {
			conn := must.Get(net.Dial("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(f.port))))(t)
			defer conn.Close()
			_, _ = io.WriteString(conn, text)
			(&peer{t, conn}).closed()
			return f.Printed("first record does not look like a TLS handshake")
		})
	}
	f.enter(t, f.config("ada")).mustOpen("sr", "sr")
	if _, err := tls.Dial("tcp", f.address, f.config("ada")); err == nil {
		t.Error("an answer by TLS at the other port")
	}
}

// A handshake has 5 s, however much of it comes. Meanwhile others are served.
func TestTLSSlowHandshake(t *testing.T) {
	t.Parallel()
	f := fortified(t, launch{}, stageRoom(t))
	well := f.enter(t, f.config("ada"))
	well.mustOpen("sr", "sr")
	// The first bytes of a first message, then one more at a time.
	conn := must.Get(net.Dial("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(f.port))))(t)
	defer conn.Close()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		(&peer{t, conn}).closed()
	}()
	_, err := conn.Write([]byte{22, 3, 1, 1, 0, 1, 0, 0, 252, 3, 3})
	for sent := 0; err == nil; sent++ {
		if sent == 200 {
			t.Fatal("the server waits for ever")
		}
		well.block()
		_, err = conn.Write([]byte{0})
	}
	<-ended
	f.Await(t, "i/o timeout")
}

// An unused listener does not wake the server.
func TestTLSIdle(t *testing.T) {
	t.Parallel()
	f := fortified(t, launch{}, stageRoom(t))
	f.enter(t, f.config("ada")).conn.Close()
	f.Await(t, product.LogDisconnected)
	switches := func() (n int) {
		files, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/status", f.Cmd.Process.Pid))
		if err != nil || len(files) == 0 {
			t.Fatal(files, err)
		}
		for _, file := range files {
			text := must.Get(os.ReadFile(file))(t)
			_, after, _ := strings.Cut(string(text), "\nvoluntary_ctxt_switches:")
			count := must.Get(strconv.Atoi(strings.Fields(after)[0]))(t)
			n += count
		}
		return n
	}
	waiting.Until(t, "two seconds without a wake", func() bool {
		before := switches()
		time.Sleep(2 * time.Second)
		return switches() == before
	})
}

// All robots of a server, at ports that keep their distance; without certificates.
func TestTLSOfSeveralRobots(t *testing.T) {
	t.Parallel()
	authority := certs.New(t, "lab")
	pair := authority.Issue("robots", nil)
	robots := []int{ports.Free(t, 1), ports.Free(t, 1)}
	slices.Sort(robots)
	apart := robots[1] - robots[0]
	port := takePort(t, func(port int) []int { return []int{port + apart} })
	file := write(t, t.TempDir(), "robots.cfg", fmt.Sprintf(`
		driver ( name "testpattern" provides ["sonar:0"] )
		driver ( name "testpattern" provides ["%d:position:0"] )`, robots[1]))
	launch{port: robots[0]}.start(t, "-tls", fmt.Sprintf("127.0.0.1:%d", port), "-tls-cert", pair.Cert, "-tls-key", pair.Key, file)
	enter(t, fmt.Sprintf("127.0.0.1:%d", port), authority.Client()).mustOpen("srpr", "srpe")
	enter(t, fmt.Sprintf("127.0.0.1:%d", port+apart), authority.Client()).mustOpen("srpr", "sepr")
}

// SIGTERM stops a robot that is driven by TLS, and so does the end of the connection.
func TestTLSStops(t *testing.T) {
	t.Parallel()
	r := startRobot(t, robot.Options{})
	f := fortified(t, launch{}, fmt.Sprintf("driver ( name \"p2os\" port %q )", r.Port()))
	drive := func() *peer {
		p := f.enter(t, f.config("ada"))
		p.mustOpen("pa", "pa")
		p.send(motors(1)...)
		p.drives("motion", 200, 0, func() bool { return r.State().Left > 50 })
		return p
	}
	watch := f.enter(t, f.config("ben"))
	watch.mustOpen("pr", "pr")
	must.Do(t, drive().conn.(*tls.Conn).NetConn().Close()) // without a goodbye
	waiting.Until(t, "a robot that stands", func() bool { return r.State().WantLeft == 0 })
	drive()
	f.stop(t)
	checkFarewell(t, r)
}

// TLS in the networks of silence_test.go.
const robotTLS = 7665

func (n *network) fortified(t *testing.T, text string) *fortress {
	t.Helper()
	f := &fortress{authority: certs.New(t, "lab"), port: robotTLS}
	pair := f.authority.Issue("robot", nil)
	f.server = n.start(t, "-debug", "-http", "127.0.0.1:8080", write(t, t.TempDir(), "robot.cfg", text+fmt.Sprintf("\ntls ( listen \":%d\" cert %q key %q clients %q )", robotTLS, pair.Cert, pair.Key, f.authority.File)))
	return f
}

// farTLS connects a client of the client's namespace by TLS.
func (n *network) farTLS(t *testing.T, f *fortress) (p *peer) {
	t.Helper()
	config := f.config("ada")
	in(t, n.client, func() {
		tcp := must.Get(net.Dial("tcp", net.JoinHostPort(robotAddress, strconv.Itoa(robotTLS))))(t)
		p = &peer{t, tls.Client(tcp, config)}
	})
	t.Cleanup(func() { p.conn.Close() })
	return p
}

// The server notices that a client has walked away, as without TLS (PROTOCOL 9.1).
func TestTLSClientOutOfRange(t *testing.T) {
	acceptance.Only(t)
	t.Parallel()
	n := newNetwork(t)
	f := n.fortified(t, stageRoom(t))
	far, near := n.farTLS(t, f), n.near(t)
	near.request("pr")
	far.request("pw")
	far.drive(0, 40)
	waiting.Until(t, "the robot turns", func() bool { return near.position().TurnRate != 0 })
	n.walkAway(t)
	near.stopsInTime(f.server)
}

// On a link that cannot carry the frames of its clients, they wait in the server and
// not in the queue of the link, with TLS as without: nothing is dropped, and every
// client gets frames.
func TestTLSSlowLink(t *testing.T) {
	acceptance.Only(t)
	t.Parallel()
	for name, overTLS := range map[string]bool{"plain": false, "TLS": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := newNetwork(t)
			// The queue holds 0.4 s of the link, and 0.1 s of the requested frames.
			line := []string{"-n", n.robot, "qdisc", "add", "dev", "wlan0", "root", "tbf", "rate", "1900kbit", "burst", "3000", "limit", "95000"}
			if out, err := exec.Command("tc", line...).CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			f := n.fortified(t, `driver ( name "testpattern" rate 50 )`)
			var all []*peer
			for range 25 {
				var p *peer
				if overTLS {
					p = n.farTLS(t, f)
				} else {
					p = n.far(t, &net.Dialer{})
				}
				p.message('x', 'y', codec.ConfigFrequency, 0, 50)
				p.mustOpen("lrsrprgrmrvrzr", "lrsrprgrmrvrzr")
				all = append(all, p)
				go func() { _, _ = io.Copy(io.Discard, p.conn) }()
			}
			waiting.Until(t, "frames that are skipped, of each client", func() bool {
				s := n.status(t)
				skipping := 0
				for _, c := range s.Robots[0].Clients {
					if c.Frames > 100 && c.Skipped > 100 && c.TLS == overTLS {
						skipping++
					}
				}
				return skipping == len(all)
			})
			out, err := exec.Command("tc", "-n", n.robot, "-s", "qdisc", "show", "dev", "wlan0").CombinedOutput()
			t.Logf("%s", out)
			if err != nil || !strings.Contains(string(out), "(dropped 0,") {
				t.Errorf("the link's queue was full: %v", err)
			}
		})
	}
}

// status reads /status in the robot's namespace.
func (n *network) status(t *testing.T) (s serverStatus) {
	t.Helper()
	var conn net.Conn
	in(t, n.robot, func() {
		var err error
		if conn, err = net.Dial("tcp", "127.0.0.1:8080"); err != nil {
			t.Fatal(err)
		}
	})
	defer conn.Close()
	_, _ = io.WriteString(conn, "GET /status HTTP/1.0\r\nHost: 127.0.0.1\r\n\r\n")
	text, err := io.ReadAll(conn)
	_, body, ok := strings.Cut(string(text), "\r\n\r\n")
	if err != nil || !ok || json.Unmarshal([]byte(body), &s) != nil || len(s.Robots) == 0 {
		t.Fatalf("%v: %s", err, text)
	}
	return s
}

// openssl is also a client. It changes its key and asks for a new one of the server
// (K), and cannot renegotiate (R).
func TestTLSWithOpenSSL(t *testing.T) {
	t.Parallel()
	needs.Program(t, "openssl")
	f := fortified(t, launch{}, stageRoom(t))
	ada := f.authority.Issue("ada", nil)
	address := net.JoinHostPort("127.0.0.1", strconv.Itoa(f.port))
	for _, command := range []string{"", "K\n", "R\n"} {
		cmd := exec.Command("openssl", "s_client", "-connect", address, "-CAfile", f.authority.File, "-cert", ada.Cert, "-key", ada.Key, "-verify_return_error")
		in := must.Get(cmd.StdinPipe())(t)
		openssl := programs.Start(t, cmd)
		out := openssl.Output
		_, _ = io.WriteString(in, "dr\x00\x02sr\n") // the newline begins a malformed message
		waiting.Until(t, "frames", func() bool {
			return strings.Contains(out.String(), "r\x00\x02sr") && strings.Count(out.String(), "s\x00\x20") > 2
		})
		if command != "" {
			_, _ = io.WriteString(in, command)
			seen := strings.Count(out.String(), "s\x00\x20")
			if command == "K\n" {
				waiting.Until(t, "frames with another key", func() bool { return strings.Count(out.String(), "s\x00\x20") > seen+5 })
			} else {
				waiting.Until(t, "a refusal", func() bool { return strings.Contains(out.String(), "wrong ssl version") })
			}
		}
		openssl.End(t, os.Kill)
	}
	out, _ := exec.Command("openssl", "s_client", "-connect", address, "-tls1_2").CombinedOutput()
	if !strings.Contains(string(out), "alert protocol version") {
		t.Errorf("TLS 1.2: %s", out)
	}
	f.enter(t, f.config("ben")).mustOpen("sr", "sr")
}

// A reload reads the certificates again, applies rights by name to connected
// clients, and moves the listener.
func TestTLSReload(t *testing.T) {
	t.Parallel()
	authority, others := certs.New(t, "lab"), certs.New(t, "others")
	old, renewed := authority.Issue("robot", nil), others.Issue("robot", nil)
	port, moved := ports.Free(t, 1), ports.Free(t, 1)
	text := func(rights string, port int, pair certs.Pair, clients string) string {
		return fmt.Sprintf("driver ( name \"testpattern\" provides [\"position:0\"] )\naccess ( allow [%s] name \"ada\" )\n"+
			"tls ( listen \"127.0.0.1:%d\" cert %q key %q clients %q )", rights, port, pair.Cert, pair.Key, clients)
	}
	at := func(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }
	s := startFile(t, launch{}, text(`"read" "write"`, port, old, authority.File))
	ada := enter(t, at(port), authority.Client(authority.Issue("ada", nil)))
	ada.mustOpen("pa", "pa")

	// A certificate that cannot be read changes nothing.
	s.ask(t, text(`"read"`, port, certs.Pair{Cert: "nowhere.pem", Key: old.Key}, authority.File), app.LogMistakes)
	ada.mustOpen("pa", "pa")

	// Fewer rights end the connection, more do not.
	s.reload(t, text(`"read" "write" "config"`, port, old, authority.File))
	ada.mustOpen("pa", "pa")
	s.reload(t, text(`"read"`, port, renewed, others.File))
	ada.closed()

	// The server has another certificate, and trusts another authority.
	if _, err := tls.Dial("tcp", at(port), authority.Client(authority.Issue("ada", nil))); err == nil {
		t.Error("the old certificate is still in use")
	}
	ada = enter(t, at(port), others.Client(others.Issue("ada", nil)))
	ada.mustOpen("pw", "pe")
	ada.mustOpen("pr", "pr")

	s.reload(t, text(`"read"`, moved, renewed, others.File))
	ada.mustOpen("pr", "pr") // who is connected stays
	enter(t, at(moved), others.Client(others.Issue("ada", nil))).mustOpen("pr", "pr")
	if conn, err := net.Dial("tcp", at(port)); err == nil {
		conn.Close()
		t.Error("the old port is still open")
	}
}

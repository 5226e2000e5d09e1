package client_test

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"player/codec"
	"player/e2e/certs"
	"player/e2e/must"
	"player/e2e/needs"
)

// address is where the robot of the examples listens, sealed where it does so by TLS.
// A client's files are in the folder certificates.
var address, sealed, certificates string

// setup makes certificates before there is a test.
type setup struct{ dir string }

func (setup) Helper()           {}
func (setup) Fatal(args ...any) { panic(fmt.Sprint(args...)) }
func (s setup) TempDir() string { return s.dir }

func TestMain(m *testing.M) {
	var err error
	if certificates, err = os.MkdirTemp("", "player-client"); err != nil {
		panic(err)
	}
	lab := certs.New(setup{certificates}, "lab")
	server := lab.Issue("robot", nil)
	lab.Issue("ada", nil) // in the same files
	pool := x509.NewCertPool()
	authority, err := os.ReadFile(lab.File)
	if err != nil || !pool.AppendCertsFromPEM(authority) {
		panic(err)
	}
	config := &tls.Config{Certificates: []tls.Certificate{server.TLS}, ClientCAs: pool, ClientAuth: tls.RequireAndVerifyClientCert}

	plain, overTLS := listen(), tls.NewListener(listen(), config)
	address, sealed = plain.Addr().String(), overTLS.Addr().String()
	for _, listener := range []net.Listener{plain, overTLS} {
		go func() {
			for {
				conn, err := listener.Accept()
				if err != nil {
					return
				}
				go serve(conn)
			}
		}()
	}
	code := m.Run()
	plain.Close()
	overTLS.Close()
	os.RemoveAll(certificates)
	os.Exit(code)
}

func listen() net.Listener {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	return listener
}

// serve is a robot with sonars and wheels that has one round for each request
// for devices in continuous mode, and one for each request for data.
func serve(conn net.Conn) {
	defer conn.Close()
	sonar := codec.SonarData{}
	for i := range sonar {
		sonar[i] = uint16(1000 + 100*i)
	}
	age := codec.FreshnessData{Time: 1_000_000, Ages: []uint32{1500}}
	var decoder codec.Decoder
	var aged, asked, wheels bool // device y is read; request/reply mode; position is read, too
	in := make([]byte, 1024)
	for {
		n, err := conn.Read(in)
		if err != nil {
			return
		}
		var out []byte
		round := func() {
			if aged {
				out = codec.AppendBlock(out, codec.Server, age.Append(nil))
			}
			if wheels {
				out = codec.AppendBlock(out, codec.Position, make([]byte, codec.PositionSize))
			}
			out = codec.AppendBlock(out, codec.Sonar, sonar.Append(nil))
		}
		for m, rest, ok := decoder.Next(in[:n]); ok; m, rest, ok = decoder.Next(rest) {
			switch {
			case m.Kind == codec.KindRequest:
				aged = strings.Contains(string(m.Payload), "yr")
				wheels = wheels || strings.Contains(string(m.Payload), "pa")
				out = codec.AppendBlock(out, codec.KindReply, []byte(strings.ReplaceAll(string(m.Payload), "vr", "ve")))
				if !asked {
					round()
				}
			case m.Kind == codec.KindConfig && m.Payload[0] == codec.ConfigMode:
				asked = m.Payload[1] != 0
			case m.Kind == codec.KindConfig && m.Payload[0] == codec.ConfigData:
				round()
			}
		}
		if _, err := conn.Write(out); err != nil {
			return
		}
	}
}

// A program outside this repository uses the client as docs/CLIENTS.md describes.
func TestProgramOutsideTheRepository(t *testing.T) {
	needs.Programs(t)
	repository := must.Get(filepath.Abs(".."))(t)
	page := must.Get(os.ReadFile("../docs/CLIENTS.md"))(t)
	program := must.Get(os.ReadFile("../examples/hello/main.go"))(t)
	dir := t.TempDir()
	must.Do(t, os.WriteFile(filepath.Join(dir, "main.go"), program, 0o644))
	run := func(command string) {
		t.Helper()
		words := strings.Fields(command)
		for i := range words { // the repository may be in a folder with blanks
			words[i] = strings.ReplaceAll(words[i], "/path/to/player", repository)
		}
		cmd := exec.Command(words[0], words[1:]...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=", "GOPROXY=off")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", command, err, out)
		}
	}
	commands := 0
	for line := range strings.Lines(string(page)) {
		if strings.HasPrefix(line, "go mod ") {
			run(strings.TrimSpace(line))
			commands++
		}
	}
	if commands == 0 {
		t.Fatal("docs/CLIENTS.md has no commands for a program outside this repository")
	}
	run("go vet .")
}

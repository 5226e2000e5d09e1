package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"

	"player/devices"
	"player/e2e/must"
	"player/e2e/waiting"
	"player/fleet/bridge"
)

// A bridge of 100 robots asks for the lease of each device once, with a request that the
// server answers from its memory. A consumer for each of them takes the server so long on
// a busy machine that requests time out and the connection is given up.
func TestStartMakesNoConsumers(t *testing.T) {
	t.Parallel()
	natsServer := startEmbedded(t)
	conn := must.Get(nats.Connect(natsServer.ClientURL()))(t)
	t.Cleanup(conn.Close)
	requests := subscribe(t, conn, "$JS.API.>")

	const robots = 100
	var list strings.Builder
	for i := range robots {
		fmt.Fprintf(&list, "r%d 127.0.0.1:1\n", i) // no robot is there
	}
	file := filepath.Join(t.TempDir(), "robots.txt")
	must.Do(t, os.WriteFile(file, []byte(list.String()), 0o644))
	startFleet(t, nil, "-robots", file, "-nats", natsServer.ClientURL())
	served := 0
	for i := range robots {
		for _, spec := range devices.Lettered() {
			if spec.CommandSize > 0 {
				// Again if an answer is lost: on a busy machine the bridge may lose its connection.
				m := nats.NewMsg(bridge.Subject("lab", fmt.Sprint("r", i), spec.Name, bridge.Lease))
				m.Header.Set(bridge.HeaderLease, "no token")
				waiting.Until(t, m.Subject, func() bool {
					_, err := conn.RequestMsg(m, patience/10)
					return err == nil
				})
				served++
			}
		}
	}
	must.Do(t, conn.Flush())
	reads, consumers := 0, 0
	for n, _, _ := requests.Pending(); n > 0; n-- {
		m := must.Get(requests.NextMsg(patience))(t)
		switch {
		case strings.HasPrefix(m.Subject, "$JS.API.CONSUMER."):
			consumers++
		case strings.HasPrefix(m.Subject, "$JS.API.STREAM.MSG.GET."):
			reads++
		}
	}
	if consumers > 0 || reads < served {
		t.Errorf("to serve %d devices, the bridge sent %d requests about consumers and read %d leases; want none and one for each", served, consumers, reads)
	}
}

// The server of NATS in the program takes clients of the same user only: those that can
// read its token.
func TestTokenLetsTheUserIn(t *testing.T) {
	t.Parallel()
	token := filepath.Join(t.TempDir(), "folder", "token")
	url := natsOf(t, start(t, program, "-fleet", "lab", "-listen", "127.0.0.1:0", "-dir", t.TempDir(), "-token", token, "-robot", "a=127.0.0.1:1"))
	for _, settings := range [][]nats.Option{nil, {nats.Token("")}, {nats.Token("made up")}, {nats.UserInfo("bridge", "")}} {
		if conn, err := nats.Connect(url, settings...); !errors.Is(err, nats.ErrAuthorization) {
			conn.Close()
			t.Errorf("a stranger: %v", err)
		}
	}
	about, err := os.Stat(token)
	if err != nil || about.Mode().Perm() != 0o600 {
		t.Errorf("the token: %v, %v", about, err)
	}
	text := must.Get(os.ReadFile(token))(t)
	conn := must.Get(nats.Connect(url, nats.Token(strings.TrimSpace(string(text)))))(t)
	conn.Close()
	start(t, program, "-fleet", "lab", "-nats", url, "-token", token, "-robot", "a=127.0.0.1:1")
	out, err := exec.Command(program, "-nats", url, "-robot", "a=127.0.0.1:1").CombinedOutput()
	if err == nil || !strings.Contains(string(out), "-token") {
		t.Errorf("a program without the token: %v, %s", err, out)
	}

	must.Do(t, os.Chmod(token, 0o644))
	out, err = exec.Command(program, "-listen", "127.0.0.1:0", "-dir", t.TempDir(), "-token", token).CombinedOutput()
	if err == nil || !strings.Contains(string(out), "chmod 600") {
		t.Errorf("a token that everybody may read: %v, %s", err, out)
	}
}

// The user's token is sent to servers on this computer alone.
func TestTokenStaysHere(t *testing.T) {
	for servers, want := range map[string]bool{
		"nats://127.0.0.1:4222":                      true,
		"nats://localhost:4222, nats://[::1]:4223":   true,
		"localhost:4222":                             true,
		"127.0.0.1:4222, [::1]:4223":                 true,
		"user:secret@127.0.0.1:4222":                 false,
		"10.0.0.1:4222":                              false,
		"nats://user:secret@127.0.0.1:4222":          false,
		"nats://127.0.0.1:4222,nats://10.0.0.1:4222": false,
		"nats://localhost.example.org:4222":          false,
		"nats://127.0.0.1.example.org:4222":          false,
	} {
		if areLocal(servers) != want {
			t.Errorf("%s: want %v", servers, want)
		}
	}
}

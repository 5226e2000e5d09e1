package e2e

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"

	"player/e2e/acceptance"
	"player/e2e/must"
	"player/e2e/needs"
	"player/e2e/waiting"
)

// The WireGuard example of docs/TLS.md, with its two files as they are printed there but
// for keys and the endpoint: a client drives through the tunnel, and when the link dies
// the motors stop.
func TestWireGuard(t *testing.T) {
	acceptance.Only(t)
	t.Parallel()
	for _, program := range []string{"wg", "wg-quick", "wireguard-go"} { // not each kernel has WireGuard
		needs.Program(t, program)
	}
	n := newNetwork(t)
	page := must.Get(os.ReadFile("../docs/TLS.md"))(t)
	private, public := map[string]string{}, map[string]string{}
	for _, who := range []string{"of the robot", "of your computer"} {
		private[who] = wg(t, "", "genkey")
		public[who] = wg(t, private[who], "pubkey")
	}
	files := examples(string(page), "[Interface]")
	if len(files) != 2 {
		t.Fatalf("%d examples", len(files))
	}
	dir := t.TempDir()
	for i, namespace := range []string{n.robot, n.client} {
		text := strings.ReplaceAll(files[i], "robot.local:", robotAddress+":")
		for who := range private {
			text = strings.ReplaceAll(text, "PrivateKey = ("+who+")", "PrivateKey = "+private[who])
			text = strings.ReplaceAll(text, "PublicKey = ("+who+")", "PublicKey = "+public[who])
		}
		// The name of the file is the name of the interface, and of a socket that all namespaces share.
		file := write(t, dir, fmt.Sprintf("wg%d-%d.conf", os.Getpid(), i), text)
		must.Do(t, os.Chmod(file, 0o600))
		quick := func(verb string) {
			cmd := exec.Command("ip", "netns", "exec", namespace, "wg-quick", verb, file)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("wg-quick %s: %v\n%s", verb, err, out)
			}
		}
		t.Cleanup(func() { quick("down") })
		if quick("up"); t.Failed() {
			t.FailNow()
		}
	}

	_ = launch{port: robotPort, via: []string{"ip", "netns", "exec", n.robot}}.start(t, "-bind", "10.9.0.1", "-stage", room)
	near := dialIn(t, n.robot, &net.Dialer{}, "10.9.0.1")
	near.mustOpen("pr", "pr")
	far := dialIn(t, n.client, &net.Dialer{}, "10.9.0.1")
	if got, _, _ := net.SplitHostPort(far.conn.LocalAddr().String()); got != "10.9.0.2" {
		t.Errorf("the client has the address %s", got)
	}
	far.mustOpen("pa", "pa")
	far.drive(0, 40)
	waiting.Until(t, "the robot turns", func() bool { return near.position().TurnRate != 0 })
	n.walkAway(t)
	waiting.Until(t, "the robot stops", func() bool { return near.position().TurnRate == 0 })
}

// wg runs the program wg.
func wg(t *testing.T, input, verb string) string {
	t.Helper()
	cmd := exec.Command("wg", verb)
	cmd.Stdin = strings.NewReader(input)
	out := must.Get(cmd.Output())(t)
	return strings.TrimSpace(string(out))
}

// examples returns the indented blocks of a page that begin with a line, without
// the indentation. A block ends with the next line that is not indented.
func examples(page, first string) (blocks []string) {
	in := false
	for line := range strings.Lines(page) {
		text, indented := strings.CutPrefix(line, "    ")
		switch {
		case !indented && strings.TrimSpace(line) != "":
			in = false
		case !in && strings.TrimSpace(text) == first:
			in, blocks = true, append(blocks, text)
		case in:
			blocks[len(blocks)-1] += text
		}
	}
	return blocks
}

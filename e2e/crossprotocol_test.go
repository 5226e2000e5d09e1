package e2e

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"player/codec"
	"player/e2e/must"
	"player/e2e/ports"
	"player/e2e/waiting"
	product "player/server"
	robot "player/simulation/emulator/p2os"
)

// A page of any site can make the browser send bytes of its choice to the robot's
// TCP port, behind the header of an HTTP request. The robot must not obey them.
// The port of this test is not one that browsers block, as 6665 is.
func TestPageCannotDriveRobot(t *testing.T) {
	t.Parallel()
	b := startBrowser(t)
	r := startRobot(t, robot.Options{MotorsOn: true})
	s := start(t, "-debug", "-pp", r.Port())
	p := s.dial(t)
	p.mustOpen("pr", "pr") // the robot is set up
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "<title>Free pictures of cats</title>")
	}))
	defer site.Close()
	page := b.open(t, site.URL)

	// The server took "POST" for the header of a message of 0x5354 bytes and
	// skipped it. The page can measure the browser's header and fill up the rest.
	const skipped = 4 + 0x5354
	attack := codec.AppendMessage(nil, 'd', 'r', []byte("pw"))
	drive := codec.AppendMessage(nil, 'c', 'p', codec.PositionCommand{Speed: 300}.Append(nil))
	attack = append(attack, bytes.Repeat(drive, 50)...)
	size := headerSize(t, page, skipped+len(attack))
	body := append(make([]byte, skipped-size), attack...)
	if again := headerSize(t, page, len(body)); again != size { // the header contains the size of the body
		t.Fatalf("the header has %d bytes, then %d", size, again)
	}
	evaluate[bool](page, post(s.address, body)+`, true`)
	moved := func() string { return toMove.FindString(r.Transcript()) }
	waiting.Until(t, "the page's connection is closed", func() bool { return s.Printed(product.LogDisconnected) || moved() != "" })
	if command := moved(); command != "" {
		t.Errorf("the page made the robot move: %s", command)
	}
}

// toMove matches a command to move in the robot's transcript.
var toMove = regexp.MustCompile(`VEL2 [1-9-]\d*`)

// post returns the expression by which a page sends a body to an address.
func post(address string, body []byte) string {
	numbers := strings.Join(strings.Fields(strings.Trim(fmt.Sprint(body), "[]")), ",")
	return fmt.Sprintf(`fetch("http://%s/", {mode: "no-cors", method: "POST", body: new Uint8Array([%s])}).catch(() => null)`, address, numbers)
}

// headerSize returns how many bytes the browser sends before a body of a size.
func headerSize(t *testing.T, page *tab, body int) int {
	t.Helper()
	l := must.Get(net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", ports.Free(t, 1))))(t) // its address is as long as the robot's
	defer l.Close()
	size := make(chan int, 1)
	go func() {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		var got []byte
		for in := make([]byte, 4096); ; {
			n, err := conn.Read(in)
			got = append(got, in[:n]...)
			if i := bytes.Index(got, []byte("\r\n\r\n")); i >= 0 && len(got) >= i+4+body || err != nil {
				size <- i + 4
				return
			}
		}
	}()
	evaluate[bool](page, post(l.Addr().String(), make([]byte, body))+`, true`)
	return <-size
}

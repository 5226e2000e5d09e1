package e2e

import (
	"bytes"
	"crypto/tls"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"player/codec"
	"player/e2e/must"
	"player/e2e/ports"
	"player/e2e/waiting"
	"player/server/session"
	"player/simulation/emulator/line"
	robot "player/simulation/emulator/p2os"
)

// Programs that speak other protocols are disconnected, at every port, and nothing
// that they send reaches a robot (PROTOCOL 1.7).
func TestOtherProtocols(t *testing.T) {
	t.Parallel()
	hardware := startRobot(t, robot.Options{})
	other := ports.Free(t, 1)
	s := serve(t, `
		driver ( name "p2os" port %q )
		driver ( name "testpattern" provides ["%d:position:0"] )`, hardware.Port(), other)
	drive := slices.Concat(codec.AppendRequest(nil, []byte("pa")), motors(1), codec.AppendMessage(nil, codec.KindCommand, codec.Position, codec.PositionCommand{Speed: 200}.Append(nil)))
	for _, address := range []string{s.address, net.JoinHostPort("127.0.0.1", strconv.Itoa(other))} {
		for _, begins := range []string{
			"POST / HTTP/1.1\r\n\r\n", "GET / HTTP/1.1\r\n\r\n", "PRI * HTTP/2.0\r\n\r\n", "SSH-2.0-x\r\n", "\x16\x03\x01\x00\x05", "\x00\x00\x00\x00",
		} {
			seen := len(s.Output.String())
			conn := must.Get(net.Dial("tcp", address))(t)
			// Behind the header, and where the original server reads on: the size of
			// a message "PO" is 0x5354.
			size := int(begins[2])<<8 | int(begins[3])
			text := slices.Concat([]byte(begins), make([]byte, max(0, codec.ClientHeaderSize+size-len(begins))), drive)
			_, _ = conn.Write(text) // the server may close it meanwhile
			(&peer{t, conn}).closed()
			conn.Close()
			waiting.Until(t, "the reason in the log", func() bool { return strings.Contains(s.Output.String()[seen:], session.ErrForeign.Error()) })
		}
		// Bytes of clients of these protocols. Their errors are the errors of a connection
		// that was closed.
		if _, err := http.Post("http://"+address, "text/plain", bytes.NewReader(slices.Repeat(drive, 2000))); err == nil {
			t.Error("an answer by HTTP")
		}
		if _, err := tls.Dial("tcp", address, &tls.Config{InsecureSkipVerify: true}); err == nil {
			t.Error("an answer by TLS")
		}
	}
	if heard := hardware.Heard(line.HostToDevice); len(heard) > 0 {
		t.Errorf("the robot was sent % x", heard)
	}
	s.dial(t).mustOpen("pa", "pa")
}

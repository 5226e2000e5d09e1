package client

import (
	"errors"
	"strings"
	"testing"

	"player/e2e/must"
)

// Bytes that are no reply are an error at once: read as a block it would be one that never ends.
func TestForeignServer(t *testing.T) {
	for _, text := range []string{"HTTP/1.1 400 Bad Request\r\n\r\n", "r\x00\x02", "rr", "\x00", strings.Repeat("x", 1000)} {
		c, s := dial(t)
		must.Get(s.conn.Write([]byte(text)))(t)
		err := c.Request(within(t), "srpr")
		if !errors.Is(err, ErrForeign) || !strings.Contains(err.Error(), `it sent "`) || len(err.Error()) > 300 {
			t.Errorf("%q: %v", text, err)
		}
		if again := c.Read(within(t)); !errors.Is(again, ErrForeign) {
			t.Errorf("%q: then %v", text, again)
		}
	}
}

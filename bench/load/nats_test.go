package load

import (
	"fmt"
	"testing"
)

// Messages with and without a reply subject between other lines, cut at every byte.
func TestNATSMessagesHoweverCut(t *testing.T) {
	const headers = "NATS/1.0\r\nPlayer-Age: 1\r\n\r\n"
	message := func(subject string, id int, reply, payload string) string {
		return fmt.Sprintf("HMSG %s %d %s%d %d\r\n%s%s\r\n", subject, id, reply, len(headers), len(headers)+len(payload), headers, payload)
	}
	stream := "INFO {\"headers\":true}\r\nPING\r\nPONG\r\n" + message("a.data", 1, "", "one\r\n") + message("b.json", 0, "_INBOX.1 ", "") + message("b.data", 0, "_INBOX.2 ", "two")
	const want = "ping; a.data 1 \"one\\r\\n\"; b.json 0 \"\"; b.data 0 \"two\"; "
	for cut := range len(stream) + 1 {
		p := natsParser{subscriptions: 2}
		got := ""
		var rest []byte
		for _, piece := range []string{stream[:cut], stream[cut:]} {
			b := append(rest, piece...)
			for {
				m, n, err := p.next(b)
				if err != nil {
					t.Fatalf("cut at %d: %v", cut, err)
				}
				if n == 0 {
					break
				}
				b = b[n:]
				if m.ping {
					got += "ping; "
				} else if m.subject != nil {
					got += fmt.Sprintf("%s %d %q; ", m.subject, m.subscription, m.payload)
				}
			}
			rest = b
		}
		if got != want || len(rest) > 0 {
			t.Fatalf("cut at %d: %s, %d bytes are left, want %s", cut, got, len(rest), want)
		}
	}
	for _, bad := range []string{"-ERR 'Maximum Connections Exceeded'\r\n", "HMSG a.data 2 4 5\r\n", "HMSG a.data 1 5 4\r\n", "HMSG a.data 1\r\n", "HMSG\r\n"} {
		p := natsParser{subscriptions: 2}
		if _, _, err := p.next([]byte(bad)); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}

package visitors

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestCloseReason(t *testing.T) {
	if got := CloseReason("no route to host"); got != "no route to host" {
		t.Errorf("short: %q", got)
	}
	for _, text := range []string{strings.Repeat("x", 500), strings.Repeat("ü", 500), strings.Repeat("\xffx", 500)} {
		if got := CloseReason(text); len(got) > reasonLimit || len(got) < reasonLimit-3 || !utf8.ValidString(got) {
			t.Errorf("%d bytes: %q", len(got), got)
		}
	}
}

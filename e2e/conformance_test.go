package e2e

import (
	"strings"
	"testing"
)

// Requests and replies over one connection each (PROTOCOL 2).
func TestRequests(t *testing.T) {
	t.Parallel()
	s := start(t, "-stage", room)
	for _, c := range []struct {
		clause string
		steps  []string // request>reply
	}{
		{"2.2 empty", []string{">"}},
		{"2.2 lone byte", []string{"s>s"}},
		{"2.2 lone byte behind a pair", []string{"srp>srp"}},
		{"2.4 adds up", []string{"srsw>sasa"}},
		{"2.4 adds up over requests", []string{"sr>sr", "sw>sa"}},
		{"2.4 downgrade", []string{"pa>pa", "pr>pr", "pa>pa", "pw>pw"}},
		{"2.4 open and close", []string{"srsc>scsc"}},
		{"2.4 close and open", []string{"sr>sr", "scsr>srsr"}},
		{"2.5 unknown device", []string{"qr>qe", "qr>qe", "qc>qe", "\x00r>\x00e", "\xffr>\xffe", "Lr>Le"}},
		{"2.5 close first", []string{"sc>se", "sr>sr", "sc>sc", "sc>sc"}},
		{"2.5 bad access in an earlier slot", []string{"sxpw>sepw"}},
		{"2.5 mixed", []string{"srqrpw>srqepw"}},
		{"2.9 write to sensors", []string{"swlwmwvw>swlwmwvw"}},
		{"all seven", []string{"lrsrpagamrvrza>lrsrpagamrvrza"}},
	} {
		t.Run(c.clause, func(t *testing.T) {
			p := s.dial(t)
			for _, step := range c.steps {
				request, want, _ := strings.Cut(step, ">")
				if got := p.request(request); got != want {
					t.Errorf("request %q: reply %q, want %q", request, got, want)
				}
			}
		})
	}
}

package app

import (
	"net"
	"strings"
	"testing"

	"player/e2e/certs"
	"player/e2e/must"
)

func TestTLSMistakes(t *testing.T) {
	lab := certs.New(t, "lab")
	pair := lab.Issue("robot", nil)
	taken := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer taken.Close()
	robot := []string{"-bind", "127.0.0.1", "-gp", freePort(t), "-http", "off", "-stage", room}
	free := "127.0.0.1:" + freePort(t)
	for _, tt := range []struct{ tls, cert, want string }{
		{taken.Addr().String(), pair.Cert, "tls: listen tcp " + taken.Addr().String() + ": bind: address already in use"},
		{free, "nowhere.pem", "tls: certificate nowhere.pem and key " + pair.Key + ": open nowhere.pem: no such file or directory"},
		{"7665", pair.Cert, `-tls: "7665" is not an address to listen on`},
		{free, "", "-tls: tls needs listen, cert and key"},
	} {
		if _, _, err := runs(t, append(robot, "-tls", tt.tls, "-tls-cert", tt.cert, "-tls-key", pair.Key)...); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s %s: %v, want %s", tt.tls, tt.cert, err, tt.want)
		}
	}
	stdout, stderr, err := runs(t, append(append([]string{"check"}, robot...), "-tls", free, "-tls-cert", pair.Key, "-tls-key", pair.Key)...)
	if err != nil || !strings.Contains(stdout, "by TLS on "+free) || !strings.Contains(stderr, "player: warning: tls: certificate ") {
		t.Errorf("check: %v, %s, %s", err, stdout, stderr)
	}
	if _, stderr, err := runs(t, append(append([]string{"check"}, robot...), "-tls", free, "-tls-cert", pair.Cert, "-tls-key", pair.Key, "-tls-clients", lab.File)...); err != nil || strings.Contains(stderr, "warning") {
		t.Errorf("check: %v, %s", err, stderr)
	}
}

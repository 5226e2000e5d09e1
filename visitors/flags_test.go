package visitors

import (
	"flag"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/zap"

	"player/config/rights"
	"player/e2e/certs"
	"player/e2e/must"
)

func TestFlags(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		must.Do(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	lab := file("lab", `access ( allow ["read" "write"] from "10.0.0.0/8" )`)
	ada := file("ada", `access ( allow "write" name "ada" )`)
	authority := certs.New(t, "lab")
	pair := authority.Issue("robot", nil)
	pages := []string{"-tls-cert", pair.Cert, "-tls-key", pair.Key}
	other, here := netip.MustParseAddr("10.0.0.5"), netip.MustParseAddr("::1")
	for _, c := range []struct {
		args        []string
		other, here rights.Set
		url, err    string
	}{
		{nil, rights.Read, rights.All, "http://localhost:80", ""},
		{[]string{"-access", lab}, rights.Read | rights.Write, rights.None, "http://localhost:80", ""},
		{pages, rights.Read, rights.All, "https://localhost:80", ""},
		{append(pages, "-tls-clients", authority.File, "-access", ada), rights.None, rights.None, "https://localhost:80", ""},
		{append(pages, "-access", ada), 0, 0, "", "rights by name need certificates of clients"},
		{[]string{"-access", file("empty", "")}, 0, 0, "", "has no section access"},
		{[]string{"-access", file("robot", `driver ( name "p2os" )`)}, 0, 0, "", "driver"},
		{[]string{"-access", filepath.Join(dir, "none")}, 0, 0, "", "-access: "},
		{pages[:2], 0, 0, "", "belong together"},
		{[]string{"-tls-clients", authority.File}, 0, 0, "", "-tls-clients needs them"},
		{[]string{"-tls-cert", lab, "-tls-key", lab}, 0, 0, "", "certificate " + lab},
	} {
		var f Flags
		set := flag.NewFlagSet("", flag.ContinueOnError)
		f.Add(set)
		must.Do(t, set.Parse(c.args))
		got, err := f.Common("0.0.0.0:80", zap.NewNop())
		if err != nil || c.err != "" {
			if err == nil || c.err == "" || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%q: %v, want %q", c.args, err, c.err)
			}
			continue
		}
		if a, b := got.Access.Of(other, ""), got.Access.Of(here, ""); a != c.other || b != c.here || f.Given() == (c.args == nil) {
			t.Errorf("%q: others may %v, this computer %v, want %v and %v", c.args, a, b, c.other, c.here)
		}
		if url := got.URL(&net.TCPAddr{IP: net.IPv4zero, Port: 80}); url != c.url {
			t.Errorf("%q: %s, want %s", c.args, url, c.url)
		}
		if c.args != nil && strings.HasPrefix(c.url, "https") && got.Access.Of(other, "ada").Has(rights.Write) != (len(c.args) > len(pages)) {
			t.Errorf("%q: ada may %v", c.args, got.Access.Of(other, "ada"))
		}
	}
}

package ports

import (
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"player/e2e/acceptance"
	"player/e2e/must"
)

// A port is given once, and not while a program listens on it.
func TestClaim(t *testing.T) {
	t.Parallel()
	row := Free(t, 3)
	for port := row; port < row+3; port++ {
		if Claim(t, port) {
			t.Errorf("port %d is given twice", port)
		}
	}
	port, release, err := Take(1)
	if err != nil {
		t.Fatal(err)
	}
	l := must.Get(net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port)))(t)
	release()
	if Claim(t, port) {
		t.Errorf("port %d is given, and somebody listens", port)
	}
	if _, ok := claimRow(port-1, 2); ok {
		t.Errorf("a row with port %d is given", port)
	}
	l.Close()
	if !Claim(t, port-1) || !Claim(t, port) {
		t.Errorf("port %d is not given again", port)
	}
}

// fixed finds a call that listens on a port that is a number, as net.Listen("tcp", ":8080").
var fixed = regexp.MustCompile(`[Ll]isten\w*\([^)\n]*"[^"\n]*:[1-9][0-9]*"`)

// No test listens on a fixed port: another program of the computer may have it, for example a Player
// in use.
func TestNoFixedPorts(t *testing.T) {
	acceptance.Alone(t)
	t.Parallel()
	root, tests := "../..", 0
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		tests++
		text, err := os.ReadFile(path)
		for _, call := range fixed.FindAllString(string(text), -1) {
			if !strings.Contains(path, "e2e/ports/") {
				t.Errorf("%s listens on a fixed port: %s: use port 0, or ports.Free", path, call)
			}
		}
		return err
	})
	if err != nil || tests < 100 {
		t.Errorf("%d files of tests are found, %v", tests, err)
	}
	if !fixed.MatchString(`net.Listen("tcp", "127.0.0.1:8080")`) || fixed.MatchString(`net.Listen("tcp", "[::1]:0")`) {
		t.Error("the pattern is wrong")
	}
}

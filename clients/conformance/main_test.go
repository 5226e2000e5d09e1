package conformance

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"player/e2e/built"
	"player/e2e/waiting"
)

// scratch is the directory of the programs that are built once for all tests.
var scratch string

func TestMain(m *testing.M) {
	var err error
	if scratch, err = os.MkdirTemp("", "player-conformance"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := waiting.Run(m, 8)
	os.RemoveAll(scratch)
	os.Exit(code)
}

// serverBinary builds the server when it is first asked for, and returns the path of the binary.
var serverBinary = sync.OnceValues(func() (string, error) {
	dir, err := built.Programs("../..", ".")
	return filepath.Join(dir, "player"), err
})

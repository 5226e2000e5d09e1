package conformance

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// concurrency is how many parallel tests run at a time. They mostly wait; with Go's
// default, the number of processors, they take twice as long.
const concurrency = "8"

// scratch is the directory of what is built once for all tests.
var scratch string

func TestMain(m *testing.M) {
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "test.parallel" })
	if !given {
		_ = flag.Set("test.parallel", concurrency)
	}
	var err error
	if scratch, err = os.MkdirTemp("", "player-conformance"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	os.RemoveAll(scratch)
	os.Exit(code)
}

// serverBinary builds the server when it is first asked for, and returns the path of the binary.
var serverBinary = sync.OnceValues(func() (string, error) {
	binary := filepath.Join(scratch, "player")
	if out, err := exec.Command("go", "build", "-o", binary, "../..").CombinedOutput(); err != nil {
		return "", fmt.Errorf("building the server: %w\n%s", err, out)
	}
	return binary, nil
})

// Package needs is for tests that need something of the machine: a program, the rights of
// root, a feature of the kernel. In CI, where the project's check installs everything, its
// lack is a failure; elsewhere the test is skipped and says why.
package needs

import (
	"os"
	"os/exec"
	"testing"
)

// Program returns the path of a program.
func Program(t testing.TB, name string) (path string) {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		Missing(t, err)
	}
	return path
}

// Root checks whether the test runs as root.
func Root(t testing.TB) {
	t.Helper()
	if os.Geteuid() != 0 {
		Missing(t, "it needs root")
	}
}

// Missing ends a test that lacks something.
func Missing(t testing.TB, why ...any) {
	t.Helper()
	if os.Getenv("CI") != "" {
		t.Fatal(why...)
	}
	t.Skip(why...)
}

// Package needs is for tests that need something of the machine: a program, the rights of
// root, a feature of the kernel. In CI, where the project's check installs everything, its
// lack is a failure; elsewhere the test is skipped and says why.
//
// With -short, only unit tests run: those that need programs, terminals, root or much time are
// skipped, also in CI.
package needs

import (
	"os"
	"os/exec"
	"testing"
)

// Programs marks a test that starts programs or opens terminals.
func Programs(t testing.TB) {
	t.Helper()
	unlessShort(t, "it starts programs or opens terminals")
}

// Time marks a test that waits for time to pass, or computes for long.
func Time(t testing.TB) {
	t.Helper()
	unlessShort(t, "it takes long")
}

// Rounds returns how many rounds a test takes that computes for long: few with -short, which show the
// rule, and otherwise all.
func Rounds(few, all int) int {
	if testing.Short() {
		return few
	}
	return all
}

// DefaultPort marks a test that takes a port which servers have by default: it fails while another
// run or a server has it.
func DefaultPort(t testing.TB) {
	t.Helper()
	unlessShort(t, "it takes a default port")
}

func unlessShort(t testing.TB, why string) {
	t.Helper()
	if testing.Short() {
		t.Skip("-short: " + why)
	}
}

// Program returns the path of a program, which the test starts.
func Program(t testing.TB, name string) (path string) {
	t.Helper()
	Programs(t)
	path, err := exec.LookPath(name)
	if err != nil {
		Missing(t, err)
	}
	return path
}

// Root checks whether the test runs as root. Such a test changes the machine.
func Root(t testing.TB) {
	t.Helper()
	unlessShort(t, "it changes the machine")
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

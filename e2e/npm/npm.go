// Package npm installs programs of other people for tests.
package npm

import (
	"os"
	"os/exec"
	"testing"
)

// Install returns a copy of a folder with the packages of its package-lock.json. Without
// npm or its registry it skips the test, or in CI fails it.
func Install(t *testing.T, folder string) (directory string) {
	t.Helper()
	missing := t.Skipf
	if os.Getenv("CI") != "" {
		missing = t.Fatalf
	}
	for _, program := range []string{"node", "npm"} {
		if _, err := exec.LookPath(program); err != nil {
			missing("there is no %s: other people's programs do not take part", program)
		}
	}
	directory = t.TempDir()
	if err := os.CopyFS(directory, os.DirFS(folder)); err != nil {
		t.Fatal(err)
	}
	install := exec.Command("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund")
	install.Dir = directory
	if out, err := install.CombinedOutput(); err != nil {
		missing("npm ci: %v: %s", err, out)
	}
	return directory
}

// Package npm installs programs of other people for tests.
package npm

import (
	"fmt"
	"os"
	"os/exec"
	"player/e2e/needs"
	"testing"
)

// Install returns a copy of a folder with the packages of its package-lock.json. Without
// npm or its registry it skips the test, or in CI fails it.
func Install(t *testing.T, folder string) (directory string) {
	t.Helper()
	directory = t.TempDir()
	if err := Into(directory, folder); err != nil {
		needs.Missing(t, "other people's programs do not take part: ", err)
	}
	return directory
}

// Into copies a folder into an empty directory, with the packages of the folder's
// package-lock.json. npm asks its registry only for what its cache lacks: the lock file
// has the versions and their hashes, so the registry's answer would be the same.
func Into(directory, folder string) error {
	for _, program := range []string{"node", "npm"} {
		if _, err := exec.LookPath(program); err != nil {
			return err
		}
	}
	if err := os.CopyFS(directory, os.DirFS(folder)); err != nil {
		return err
	}
	install := exec.Command("npm", "ci", "--prefer-offline", "--ignore-scripts", "--no-audit", "--no-fund")
	install.Dir = directory
	if out, err := install.CombinedOutput(); err != nil {
		return fmt.Errorf("npm ci: %w: %s", err, out)
	}
	return nil
}

// Package npm installs programs of other people for tests.
package npm

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"player/e2e/built"
	"player/e2e/needs"
)

// Install returns a copy of a folder with the packages of its package-lock.json. Without
// npm or its registry it skips the test, or in CI fails it.
func Install(t *testing.T, folder string) (directory string) {
	t.Helper()
	needs.Programs(t)
	directory = t.TempDir()
	if err := Into(directory, folder); err != nil {
		needs.Missing(t, "other people's programs do not take part: ", err)
	}
	return directory
}

// Into copies a folder into an empty directory, with the packages of the folder's
// package-lock.json, which are installed once. npm asks its registry only for packages that its cache
// lacks: the lock file has the versions and their hashes, so the registry's answer would be the
// same.
func Into(directory, folder string) error {
	lists := []string{filepath.Join(folder, "package.json"), filepath.Join(folder, "package-lock.json")}
	installed, err := built.Folder("npm", lists, []string{"node", "npm"}, func(installed string) error {
		for _, list := range lists {
			text, err := os.ReadFile(list)
			if err == nil {
				err = os.WriteFile(filepath.Join(installed, filepath.Base(list)), text, 0o600)
			}
			if err != nil {
				return err
			}
		}
		install := exec.Command("npm", "ci", "--prefer-offline", "--ignore-scripts", "--no-audit", "--no-fund")
		install.Dir = installed
		// npm removes node_modules when it gives up. It must not outlive the lock, which ends with this
		// process: it would remove the packages that the next one has installed.
		install.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
		if out, err := install.CombinedOutput(); err != nil {
			return fmt.Errorf("npm ci: %w: %s", err, out)
		}
		return nil
	})
	if err != nil {
		return err
	}
	const packages = "node_modules"
	return errors.Join(os.CopyFS(directory, os.DirFS(folder)), os.Symlink(filepath.Join(installed, packages), filepath.Join(directory, packages)))
}

// Node runs a program of a directory in node and returns the lines that it prints.
func Node(t *testing.T, directory string, args ...string) []string {
	t.Helper()
	run := exec.Command("node", args...)
	run.Dir = directory
	var failure strings.Builder
	run.Stderr = &failure
	out, err := run.Output()
	if err != nil {
		t.Fatalf("node %q: %v: %s", args, err, failure.String())
	}
	return strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
}

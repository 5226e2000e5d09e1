// Package built keeps programs and files that tests build, so that each is built once for all packages
// and runs of the tests. It keeps them in a folder of the user's cache, like go test its packages.
package built

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// Programs builds the programs of packages ("./simulation/emulator") of the module in a folder, and returns
// the folder that has them. The go command checks whether a program there fits its
// sources, which costs a sixth of linking it.
func Programs(module string, packages ...string) (folder string, err error) {
	root, err := filepath.Abs(module)
	if err != nil {
		return "", err
	}
	// A clone has a folder of its own: its tests must not run another one's programs.
	folder, unlock, err := open("go", root+"\n"+os.Getenv("GOWORK")+"\n"+os.Getenv("GOFLAGS"))
	if err != nil {
		return "", err
	}
	defer unlock()
	build := exec.Command("go", append([]string{"build", "-o", folder}, packages...)...)
	build.Dir = root
	out, err := build.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("building %s: %w\n%s", strings.Join(packages, " "), err, out)
	}
	return folder, nil
}

// Folder returns a folder that fill makes of sources, which are files and folders, with
// programs. It calls fill if there is no folder of the same sources and programs. Clones in other folders have the
// same sources, so paths of sources may not get into what runs. Pages (.md) are no sources.
func Folder(name string, sources, programs []string, fill func(folder string) error) (folder string, err error) {
	var of strings.Builder
	for _, program := range programs {
		if _, err := exec.LookPath(program); err != nil {
			return "", err
		}
		// Another compiler builds anew, also behind a program of its name that keeps its results (ccache).
		for _, folder := range filepath.SplitList(os.Getenv("PATH")) {
			path, err := filepath.EvalSymlinks(filepath.Join(folder, program))
			if err != nil {
				continue // it is not in this folder
			}
			info, err := os.Stat(path)
			if err != nil {
				return "", err
			}
			fmt.Fprintln(&of, path, info.Size(), info.ModTime())
		}
	}
	for _, source := range sources {
		err := filepath.WalkDir(source, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || !entry.Type().IsRegular() || filepath.Ext(path) == ".md" {
				return err
			}
			file, err := os.Open(path)
			if err != nil {
				return err
			}
			defer file.Close()
			sum := sha256.New()
			_, err = io.Copy(sum, file)
			fmt.Fprintf(&of, "%s %x\n", path, sum.Sum(nil))
			return err
		})
		if err != nil {
			return "", err
		}
	}
	folder, unlock, err := open(name, of.String())
	if err != nil {
		return "", err
	}
	defer unlock()
	whole := filepath.Join(folder, ".whole")
	if exists(whole) {
		return folder, nil
	}
	if err := errors.Join(os.RemoveAll(folder), os.Mkdir(folder, 0o700)); err != nil {
		return "", err
	}
	if err := fill(folder); err != nil {
		return "", err
	}
	return folder, os.WriteFile(whole, nil, 0o600)
}

// unused is how long a folder is kept that no test has asked for. They take up to 200 MB.
const unused = 7 * 24 * time.Hour

// open returns the folder of a name and its sources, which is the caller's alone until
// it calls unlock.
func open(name, of string) (folder string, unlock func(), err error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", nil, err
	}
	all := filepath.Join(cache, "player-tests")
	folder = filepath.Join(all, fmt.Sprintf("%s-%x", name, sha256.Sum256([]byte(of))))
	if err := os.MkdirAll(all, 0o700); err != nil {
		return "", nil, err
	}
	lock, err := os.OpenFile(folder+".lock", os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return "", nil, err
	}
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		lock.Close()
		return "", nil, err
	}
	now := time.Now()
	err = errors.Join(os.MkdirAll(folder, 0o700), os.Chtimes(lock.Name(), now, now)) // only the owner of the lock makes it
	locks, _ := filepath.Glob(filepath.Join(all, "*.lock"))                          // the pattern is well formed
	for _, path := range locks {
		if info, err := os.Stat(path); err == nil && now.Sub(info.ModTime()) > unused {
			_ = errors.Join(os.RemoveAll(strings.TrimSuffix(path, ".lock")), os.Remove(path)) // another time
		}
	}
	return folder, func() { lock.Close() }, err
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

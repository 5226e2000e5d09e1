package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"runtime"
	"strings"

	"golang.org/x/sys/unix"
)

// machine is all that a figure depends on, apart from the program. Results of different
// machines are never in one report.
type machine struct {
	CPU    string `json:"cpu"`
	Cores  int    `json:"cores"`
	Kernel string `json:"kernel"`
	Go     string `json:"go"`
	OS     string `json:"os"`
}

func thisMachine() machine {
	m := machine{Cores: runtime.NumCPU(), Go: runtime.Version(), OS: runtime.GOOS + "/" + runtime.GOARCH}
	var u unix.Utsname
	if unix.Uname(&u) == nil {
		m.Kernel = unix.ByteSliceToString(u.Release[:])
	}
	info, _ := os.ReadFile("/proc/cpuinfo") // without it the name stays empty
	for line := range strings.Lines(string(info)) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
			m.CPU = strings.TrimSpace(value)
			break
		}
	}
	return m
}

// withChanges is behind the commit of a tree that differs from it.
const withChanges = " with changes"

// commit names the tree that is measured, empty without git.
func commit(ctx context.Context) string {
	id, err := exec.CommandContext(ctx, "git", "rev-parse", "--short=12", "HEAD").Output()
	if err != nil {
		return ""
	}
	name := string(bytes.TrimSpace(id))
	// Results of an earlier run are no change of the program.
	changes, err := exec.CommandContext(ctx, "git", "status", "--porcelain", "--untracked-files=no", "--", ":/", ":(exclude,top)bench/results", ":(exclude,top)docs").Output()
	if err == nil && len(changes) > 0 {
		name += withChanges
	}
	return name
}

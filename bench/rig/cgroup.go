package rig

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// quotaPeriod is the period of a quota, the kernel's default: a process that has
// used its share waits until the period ends.
const quotaPeriod = 100 * time.Millisecond

// Group is a control group, version 1 or 2, that limits a process to a share of
// one processor and to an amount of memory.
type Group struct{ dirs []string }

// NewGroup makes a group with a share of one processor (0.1 is a tenth) and
// memory in bytes. It needs root and a mounted controller.
func NewGroup(share float64, memory int) (*Group, error) {
	if os.Geteuid() != 0 {
		return nil, errors.New("control groups need root")
	}
	quota := strconv.Itoa(int(share * float64(quotaPeriod.Microseconds())))
	period := strconv.Itoa(int(quotaPeriod.Microseconds()))
	name := fmt.Sprintf("player-bench-%d", os.Getpid())
	g := &Group{}
	const root = "/sys/fs/cgroup"
	var err error
	if _, v2 := os.Stat(filepath.Join(root, "cgroup.controllers")); v2 == nil {
		err = errors.Join(
			os.WriteFile(filepath.Join(root, "cgroup.subtree_control"), []byte("+cpu +memory"), 0),
			g.add(filepath.Join(root, name), [][2]string{
				{"cpu.max", quota + " " + period}, {"memory.max", strconv.Itoa(memory)}}))
	} else {
		err = errors.Join(
			g.add(filepath.Join(root, "cpu", name), [][2]string{{"cpu.cfs_period_us", period}, {"cpu.cfs_quota_us", quota}}),
			g.add(filepath.Join(root, "memory", name), [][2]string{{"memory.limit_in_bytes", strconv.Itoa(memory)}}))
	}
	if err != nil {
		g.Close()
		return nil, fmt.Errorf("control group: %w", err)
	}
	return g, nil
}

func (g *Group) add(dir string, settings [][2]string) error {
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	g.dirs = append(g.dirs, dir)
	for _, s := range settings {
		if err := os.WriteFile(filepath.Join(dir, s[0]), []byte(s[1]), 0); err != nil {
			return err
		}
	}
	return nil
}

// Enter is a command of a shell that puts the shell into the group.
func (g *Group) Enter() string {
	return "for d in " + strings.Join(g.dirs, " ") + "; do echo $$ > $d/cgroup.procs || exit 1; done"
}

// Close removes the group, whose processes have ended.
func (g *Group) Close() {
	for _, dir := range g.dirs {
		// A process that has just been waited for may still be leaving.
		for limit := time.Now().Add(time.Second); os.Remove(dir) != nil && time.Now().Before(limit); {
			time.Sleep(5 * time.Millisecond)
		}
	}
}

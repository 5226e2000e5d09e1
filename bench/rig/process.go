package rig

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Usage is a process's use of the machine since its start, summed over its threads.
type Usage struct {
	CPU       time.Duration `json:"cpu_ns"`
	Voluntary uint64        `json:"voluntary"` // context switches because it waited
	// Busiest is the voluntary switches of the thread with the most CPU time: in a
	// server with one loop, how often the loop was woken.
	Busiest uint64 `json:"busiest_voluntary"`
	RSS     int    `json:"rss"` // bytes, now
	// Anonymous is the part of RSS that is the process's own, in bytes: the rest is pages of files, which processes share
	// and the kernel takes back when memory is short. Zero: it was not read.
	Anonymous int `json:"anonymous,omitempty"`
	Peak      int `json:"peak"` // bytes, the largest RSS
	Threads   int `json:"threads"`

	threads map[string]thread
}

// thread is the usage of one thread.
type thread struct {
	cpu       time.Duration
	voluntary uint64
}

// Sub is the use since an earlier moment; memory is as of now.
func (u Usage) Sub(o Usage) Usage {
	u.CPU -= o.CPU
	u.Voluntary -= o.Voluntary
	var most time.Duration
	for id, t := range u.threads {
		if cpu := t.cpu - o.threads[id].cpu; cpu >= most {
			most, u.Busiest = cpu, t.voluntary-o.threads[id].voluntary
		}
	}
	return u
}

// UsageOf reads /proc for a process. Threads that have ended are not counted;
// a server ends none while it serves.
func UsageOf(pid int) (Usage, error) {
	dir := filepath.Join("/proc", strconv.Itoa(pid))
	u := Usage{threads: map[string]thread{}}
	tasks, err := os.ReadDir(filepath.Join(dir, "task"))
	if err != nil {
		return u, err
	}
	for _, task := range tasks {
		path := filepath.Join(dir, "task", task.Name())
		sched, err := os.ReadFile(filepath.Join(path, "schedstat"))
		if err != nil {
			return u, err
		}
		var ran int64 // ns on a processor
		if _, err := fmt.Sscan(string(sched), &ran); err != nil {
			return u, fmt.Errorf("%s/schedstat: %w", path, err)
		}
		status, err := fields(filepath.Join(path, "status"))
		if err != nil {
			return u, err
		}
		t := thread{time.Duration(ran), uint64(status["voluntary_ctxt_switches"])}
		u.threads[task.Name()] = t
		u.CPU += t.cpu
		u.Voluntary += t.voluntary
	}
	u.Threads = len(u.threads)
	status, err := fields(filepath.Join(dir, "status"))
	if err != nil {
		return u, err
	}
	u.RSS, u.Anonymous, u.Peak = status["VmRSS"]<<10, status["RssAnon"]<<10, status["VmHWM"]<<10
	return u, nil
}

// fields reads the numbers of a status file; sizes are in KiB.
func fields(path string) (map[string]int, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	m := map[string]int{}
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(line, ":")
		if words := strings.Fields(value); len(words) > 0 {
			if n, err := strconv.Atoi(words[0]); err == nil {
				m[name] = n
			}
		}
	}
	return m, nil
}

// Busy returns the share of all processors that was used during some time from now on, also by other guests of the host.
func Busy(during time.Duration) (float64, error) {
	before, err := processorTimes()
	if err != nil {
		return 0, err
	}
	time.Sleep(during)
	after, err := processorTimes()
	if err != nil {
		return 0, err
	}
	var all, rest int64
	for i := range after {
		n := after[i] - before[i]
		if all += n; i == idleTime || i == waitTime {
			rest += n
		}
	}
	return 1 - float64(rest)/float64(max(all, 1)), nil
}

// The times of processorTimes, in its order.
const (
	userTime = iota
	niceTime
	systemTime
	idleTime
	waitTime // idle as well
	interruptTime
	softTime
	stolenTime
	times
)

// processorTimes are the times of all processors since boot, in ticks.
func processorTimes() (n [times]int64, err error) {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return n, err
	}
	var name string
	into := []any{&name}
	for i := range n {
		into = append(into, &n[i])
	}
	if _, err := fmt.Sscan(string(text), into...); err != nil {
		return n, fmt.Errorf("/proc/stat: %w", err)
	}
	return n, nil
}

// tick is the unit of the times in /proc/stat: USER_HZ is 100 on
// every architecture that Go runs on.
const tick = 10 * time.Millisecond

// Stolen is the time since boot in which processors of this machine had work and
// the host ran other guests instead, summed over the processors.
func Stolen() (time.Duration, error) {
	n, err := processorTimes()
	return time.Duration(n[stolenTime]) * tick, err
}

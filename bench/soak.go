package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/coder/websocket"
	"golang.org/x/sys/unix"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"

	"player/bench/load"
	"player/bench/stats"
	"player/emulator/line"
	"player/emulator/p2os"
)

// The soak is everything at once, for long: clients that come and go, pages,
// floods, hardware that is unplugged, and a recording whose disk is full. Meanwhile
// a well client is served, and the server may not grow. Goroutines cannot be counted
// from outside; those that leak show in its memory.
const (
	soakName   = "soak"
	soakWindow = time.Hour
	soakPlot   = "soak.svg"
	// soakSamples is how many samples a soak has at most. Shorter ones than
	// leastSample would have too few intervals of the well client for a p99.
	soakSamples = 60
	leastSample = 5 * time.Second
	// soakDisk is the size in bytes of the recording's disk. It is full within a
	// minute.
	soakDisk = 512 << 10
	// soakClients is the server's limit. Now and then more come.
	soakClients = 40

	// What counts as flat: from the second third of the soak to the last, the medians
	// grow by at most so many bytes, descriptors and threads.
	memoryRoom, descriptorRoom, threadRoom = 2 * mib, 10, 4
	// wellLimit bounds the p99 of the well client's interval error, or twice that
	// without the others, if it is more (issue 13).
	wellLimit = 5 * time.Millisecond
	// restLimit is how long the server may take to give back all descriptors when
	// everybody has left.
	restLimit = 30 * time.Second
)

// sample is the server during a part of a soak.
type sample struct {
	At          time.Duration // its end
	RSS         float64       // bytes
	Descriptors float64
	Threads     float64
	P99         time.Duration // of the well client's interval error
}

// enterDisk mounts a small disk on a directory and becomes the server.
func enterDisk(dir string, program []string) error {
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprintf("size=%d", soakDisk)); err != nil {
		fmt.Fprintln(os.Stderr, "bench: the disk is not small:", err)
	}
	return syscall.Exec(program[0], program, os.Environ())
}

// soaked is a server that is soaked, and those who use it.
type soaked struct {
	*process
	robot *p2os.Robot
	page  string // host:port
	small string // directory of the small disk

	connections, pages, floods, unplugged atomic.Int64
}

// soak soaks the server for a window. It fails if the server does.
func soak(ctx context.Context, window time.Duration, out string) (err error) {
	w, err := build(ctx)
	if err != nil {
		return err
	}
	defer w.close()
	s, err := w.startSoaked(ctx)
	if err != nil {
		return err
	}
	defer s.robot.Close()
	defer func() {
		if stop := s.stop(); stop != nil && ctx.Err() == nil {
			err = errors.Join(err, stop)
		}
	}()
	if err := s.awaitListening(ctx); err != nil {
		return err
	}
	length := max(leastSample, window/soakSamples)
	alone, err := s.sample(ctx, length)
	if err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "alone     %v\n", alone)
	rest, err := s.descriptors()
	if err != nil {
		return err
	}

	strangers, leave := context.WithCancel(ctx)
	left := s.strangers(strangers)
	defer left.Wait()
	defer leave()
	var samples []sample
	for begin := time.Now(); time.Since(begin) < window || len(samples) < 3; {
		next, err := s.sample(ctx, length)
		if err != nil {
			return err
		}
		next.At = time.Since(begin)
		samples = append(samples, next)
		fmt.Fprintf(os.Stderr, "%-8v  %v; so far %d connections, %d pages, %d floods, %d times unplugged\n", next.At.Round(time.Second), next,
			s.connections.Load(), s.pages.Load(), s.floods.Load(), s.unplugged.Load())
	}
	leave()
	left.Wait()
	http.DefaultClient.CloseIdleConnections() // of the pages
	if err := s.drawSoak(samples, filepath.Join(out, soakPlot)); err != nil {
		return err
	}
	// Alone again: what else the machine does has its part in the well client's p99.
	again, err := s.sample(ctx, length)
	if err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "alone     %v\n", again)
	alone.P99 = max(alone.P99, again.P99)
	err = judgeSoak(alone, samples, os.Getenv("CI") == "") // machines that check commits are not quiet
	if s.connections.Load() == 0 || s.pages.Load() == 0 || s.floods.Load() == 0 || s.unplugged.Load() == 0 {
		err = errors.Join(err, errors.New("not everybody took part"))
	}
	return errors.Join(err, s.awaitRest(ctx, rest), s.checkDisk())
}

// startSoaked starts the server with two robots: one of the test driver that is
// recorded, and a Pioneer that is unplugged now and then.
func (w *workshop) startSoaked(ctx context.Context) (*soaked, error) {
	s := &soaked{process: &process{}, small: filepath.Join(w.dir, "small")}
	if err := os.Mkdir(s.small, 0o755); err != nil {
		return nil, err
	}
	var err error
	var page int
	if s.port, err = freePort(); err != nil {
		return nil, err
	}
	if page, err = freePort(); err != nil {
		return nil, err
	}
	s.page = loopbackAddress(page)
	if s.robot, err = p2os.Start(p2os.Options{Line: line.Options{Link: w.serialPort()}}); err != nil {
		return nil, err
	}
	file := filepath.Join(w.dir, "player.cfg")
	configuration := cell{Size: large, Device: 50}.configuration("", "") + fmt.Sprintf(`
		driver ( name "p2os" provides ["%d:position:0" "%[1]d:sonar:0"] port "%s" )
		driver ( name "writelog" file "run.mcap" max_size 1 files 2 open 1 requires ["laser:0" "position:0"] )
		driver ( name "writelog" file "small/run.mcap" open 1 requires ["laser:0"] )
`, s.port+1, w.serialPort())
	if err := os.WriteFile(file, []byte(configuration), 0o644); err != nil {
		return nil, err
	}
	s.prepare(ctx, "/proc/self/exe", diskVerb, s.small, w.path(player), "-gp", strconv.Itoa(s.port), "-http", s.page, "-max-clients", strconv.Itoa(soakClients), file)
	s.cmd.Stderr = &lastBytes{b: &s.said}
	s.cmd.SysProcAttr.Cloneflags = unix.CLONE_NEWNS
	if os.Geteuid() != 0 { // may mount in a namespace of its own
		s.cmd.SysProcAttr.Cloneflags |= unix.CLONE_NEWUSER
		s.cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Geteuid(), Size: 1}}
	}
	if err := s.cmd.Start(); err != nil {
		s.robot.Close()
		return nil, fmt.Errorf("start %s: %w", player, err)
	}
	return s, nil
}

// lastBytes keeps the end of a log.
type lastBytes struct{ b *bytes.Buffer }

func (l *lastBytes) Write(p []byte) (int, error) {
	if l.b.Len() > mib {
		l.b.Reset()
	}
	return l.b.Write(p)
}

// sample serves a well client beside whatever goes on, and reads the server's
// meters.
func (s *soaked) sample(ctx context.Context, length time.Duration) (sample, error) {
	const settle = 500 * time.Millisecond
	well := cell{Groups: []group{{Name: "well", Clients: 1, Rate: 50, Task: load.Stream}}, Size: large}
	var r run
	if err := s.serve(ctx, &r, meters{pid: s.cmd.Process.Pid}, 0, s.spec(well, nil, settle, length)); err != nil {
		return sample{}, err
	}
	if g := r.Load.Groups[0]; g.Closed > 0 || g.Bad > 0 || g.Frames == 0 {
		return sample{}, fmt.Errorf("the well client got %d frames, %d bad ones; closed: %d", g.Frames, g.Bad, g.Closed)
	}
	n, err := s.descriptors()
	return sample{RSS: float64(r.Usage.RSS), Descriptors: n, Threads: float64(r.Usage.Threads), P99: r.Load.Groups[0].Interval.P99}, err
}

func (p sample) String() string {
	return fmt.Sprintf("RSS %s, %.0f descriptors, %.0f threads, p99 %s", memory(p.RSS), p.Descriptors, p.Threads, duration(float64(p.P99)))
}

func (s *soaked) descriptors() (float64, error) {
	open, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", s.cmd.Process.Pid))
	return float64(len(open)), err
}

// strangers lets everybody use the server until ctx ends.
func (s *soaked) strangers(ctx context.Context) *sync.WaitGroup {
	var all sync.WaitGroup
	again := func(n int, fn func(ctx context.Context)) {
		for range n {
			all.Go(func() {
				for ctx.Err() == nil {
					fn(ctx)
				}
			})
		}
	}
	again(8, s.visit)
	again(3, s.openPage)
	for _, message := range []string{
		"xy\x00\x02n\x00" + strings.Repeat("??\x00\x00", 90), // malformed
		"dr\x00\x02pacp\x00\x04\x00\x00\x00\x00",             // commands
		"xy\x00\x02r\x01dr\x00\x02prxy\x00\x01d",             // frames
		"dr\x00\x04srlr",                                     // replies
	} {
		again(1, func(ctx context.Context) { s.flood(ctx, message) })
	}
	again(1, func(ctx context.Context) { // beyond the limit of clients
		var conns []net.Conn
		for range 2 * soakClients {
			if c, err := s.dial(ctx, "127.0.0.4", s.port); err == nil {
				conns = append(conns, c)
			}
		}
		_ = wait(ctx, time.Second)
		for _, c := range conns {
			c.Close()
		}
		_ = wait(ctx, 5*time.Second)
	})
	again(1, s.unplug)
	return &all
}

// dial connects from an address of this computer.
func (s *soaked) dial(ctx context.Context, from string, port int) (net.Conn, error) {
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}, Timeout: stopLimit}
	c, err := d.DialContext(ctx, "tcp", loopbackAddress(port))
	if err == nil {
		s.connections.Add(1)
	}
	return c, err
}

// visit is a client that opens devices of one of the robots, perhaps drives, reads
// for a while, perhaps, and leaves in one of the ways there are.
func (s *soaked) visit(ctx context.Context) {
	c, err := s.dial(ctx, "127.0.0.3", s.port+rand.IntN(2))
	if err != nil {
		_ = wait(ctx, 100*time.Millisecond)
		return
	}
	defer c.Close()
	for _, m := range []string{"xy\x00\x03f\x00\x32", "dr\x00\x06pasryr", "cp\x00\x04\x00\x64\x00\x0A", "dr\x00\x02pc", "xp\x00\x02m\x01", "dr\x00"} {
		if _, err := c.Write([]byte(m)); err != nil {
			return
		}
		if rand.IntN(10) == 0 {
			break
		}
	}
	_ = c.SetReadDeadline(time.Now().Add(rand.N(time.Second)))
	if rand.IntN(4) > 0 {
		_, _ = io.Copy(io.Discard, c)
	} else {
		_ = wait(ctx, rand.N(time.Second))
	}
	if rand.IntN(3) == 0 {
		_ = c.(*net.TCPConn).SetLinger(0) // a reset
	}
}

// openPage is a page that watches a robot and drives it, and is closed or reloaded.
func (s *soaked) openPage(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, 100*time.Millisecond+rand.N(2*time.Second))
	defer cancel()
	if reply, err := http.Get("http://" + s.page + "/robots"); err == nil {
		_, _ = io.Copy(io.Discard, reply.Body)
		reply.Body.Close()
	}
	var open sync.WaitGroup
	defer open.Wait()
	for _, kind := range []string{"stream", "drive"} {
		address := fmt.Sprintf("ws://%s/%s?robot=127.0.0.1:%d", s.page, kind, s.port+rand.IntN(2))
		ws, _, err := websocket.Dial(ctx, address, &websocket.DialOptions{HTTPHeader: http.Header{"Origin": {"http://" + s.page}}})
		if err != nil {
			_ = wait(ctx, 100*time.Millisecond)
			return
		}
		s.pages.Add(1)
		open.Go(func() {
			defer ws.CloseNow()
			for {
				if _, _, err := ws.Read(ctx); err != nil {
					return
				}
			}
		})
	}
}

// flood sends a message as fast as it is taken, for some seconds, and reads what
// comes back.
func (s *soaked) flood(ctx context.Context, message string) {
	ctx, cancel := context.WithTimeout(ctx, time.Second+rand.N(5*time.Second))
	defer cancel()
	c, err := s.dial(ctx, "127.0.0.2", s.port)
	if err != nil {
		_ = wait(ctx, 100*time.Millisecond)
		return
	}
	defer c.Close()
	s.floods.Add(1)
	pour(ctx, c, message)
}

// unplug unplugs the Pioneer now and then.
func (s *soaked) unplug(ctx context.Context) {
	_ = wait(ctx, rand.N(8*time.Second))
	s.robot.Unplug()
	s.unplugged.Add(1)
	_ = wait(ctx, rand.N(4*time.Second))
	if err := s.robot.Plug(); err != nil {
		fmt.Fprintln(os.Stderr, "bench: plug:", err)
	}
}

// awaitRest waits until the server has given back what strangers had it open.
func (s *soaked) awaitRest(ctx context.Context, rest float64) error {
	for limit := time.Now().Add(restLimit); ; {
		n, err := s.descriptors()
		switch {
		case err != nil || n <= rest:
			return err
		case time.Now().After(limit):
			return fmt.Errorf("%.0f descriptors are open %v after everybody has left, %.0f before they came", n, restLimit, rest)
		}
		if err := wait(ctx, 100*time.Millisecond); err != nil {
			return err
		}
	}
}

// checkDisk prints whether the small disk was full.
func (s *soaked) checkDisk() error {
	var disk unix.Statfs_t
	if err := unix.Statfs(fmt.Sprintf("/proc/%d/root%s", s.cmd.Process.Pid, s.small), &disk); err != nil {
		return err
	}
	size, free := disk.Blocks*uint64(disk.Bsize), disk.Bfree*uint64(disk.Bsize)
	fmt.Fprintf(os.Stderr, "disk of the second recording: %d KiB, %d KiB free\n", size>>10, free>>10)
	if size == soakDisk && free > soakDisk/8 {
		return errors.New("the small disk was not filled")
	}
	return nil
}

// judgeSoak returns what is not flat, or too late if the machine is quiet.
func judgeSoak(alone sample, samples []sample, quiet bool) error {
	var errs []error
	for _, f := range []struct {
		name   string
		of     func(sample) float64
		room   float64
		format func(float64) string
	}{
		{"memory", func(p sample) float64 { return p.RSS }, memoryRoom, memory},
		{"descriptors", func(p sample) float64 { return p.Descriptors }, descriptorRoom, count},
		{"threads", func(p sample) float64 { return p.Threads }, threadRoom, count},
	} {
		grown, last := growth(samples, f.of)
		fmt.Fprintf(os.Stderr, "%s: grown by %s from the second third to the last, median %s\n", f.name, f.format(grown), f.format(last))
		if grown > f.room {
			errs = append(errs, fmt.Errorf("%s: it has grown by %s", f.name, f.format(grown)))
		}
	}
	var p99 []float64
	for _, p := range samples {
		p99 = append(p99, float64(p.P99))
	}
	limit, got := float64(max(wellLimit, 2*alone.P99)), stats.Median(p99)
	fmt.Fprintf(os.Stderr, "p99 of the well client: median %s, worst %s, limit %s\n", duration(got), duration(slices.Max(p99)), duration(limit))
	if got > limit && quiet {
		errs = append(errs, fmt.Errorf("the well client's p99 is %s", duration(got)))
	}
	return errors.Join(errs...)
}

// growth returns by how much the median of a figure grows from the second third of
// the samples to the last, and that of the last.
func growth(samples []sample, of func(sample) float64) (grown, last float64) {
	var values []float64
	for _, p := range samples {
		values = append(values, of(p))
	}
	third := len(values) / 3
	last = stats.Median(slices.Clone(values[len(values)-third:]))
	return last - stats.Median(slices.Clone(values[third:2*third])), last
}

// drawSoak draws the samples over time.
func (s *soaked) drawSoak(samples []sample, path string) error {
	var panels []*plot.Plot
	for _, f := range []struct {
		title, unit string
		of          func(sample) float64
	}{
		{"Memory", "RSS, MiB", func(p sample) float64 { return p.RSS / mib }},
		{"Descriptors (threads dashed)", "number", func(p sample) float64 { return p.Descriptors }},
		{"p99 interval error, 50 Hz", "ms", func(p sample) float64 { return millis(float64(p.P99)) }},
	} {
		p := panel(f.title, "minutes", f.unit, false, false)
		p.Y.Min = 0
		var points, threads plotter.XYs
		for _, at := range samples {
			points = append(points, plotter.XY{X: at.At.Minutes(), Y: f.of(at)})
			threads = append(threads, plotter.XY{X: at.At.Minutes(), Y: at.Threads})
		}
		if err := curve(p, "", points, blue, thinCurve, solid, false); err != nil {
			return err
		}
		if f.unit == "number" {
			if err := curve(p, "", threads, gray, thinCurve, dashed, false); err != nil {
				return err
			}
		}
		panels = append(panels, p)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return tile(path, panels)
}

package e2e

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"player/bench/rig"
	"player/e2e/must"
	"player/e2e/ports"
	"player/e2e/strangers"
	"player/e2e/waiting"
	robot "player/simulation/emulator/p2os"
)

var (
	soakFor    = flag.Duration("soak", 0, "how long TestSoak uses the server in all ways at once; 0: not at all")
	soakServer = flag.String("soakserver", "", "absolute path of the server that TestSoak uses, for example a release's; empty: one that is built")
	soakFolder = flag.String("soakfolder", "", "absolute path of a folder that gets the samples of TestSoak, soak.json, and their picture, soak.svg")
)

const (
	// soakSamples is how many samples a soak has.
	soakSamples = 60
	// soakClients is the limit of clients. Now and then more come.
	soakClients = 40
	// soakDisk is the size in KiB of the disk of a recording, which is full within a
	// minute.
	soakDisk = 512
	// From the second third of the soak to the last, the medians grow by at most so
	// many KiB, descriptors and threads.
	memoryRoom, descriptorRoom, threadRoom = 2048, 10, 4
)

// sample is the server at one moment.
type sample struct {
	Seconds     float64 `json:"s"`             // since the soak began
	Memory      float64 `json:"rss_kib"`       // KiB
	Anonymous   float64 `json:"anonymous_kib"` // the part of it that is the server's own, KiB
	Descriptors float64 `json:"descriptors"`
	Threads     float64 `json:"threads"`
	Wakes       float64 `json:"wakes_per_s"` // of all threads, since the last sample
	Late        float64 `json:"late_p99_ms"` // p99 of how late frames reached the well client since the last sample, ms
}

// soak is a server that is used in all ways at once.
type soak struct {
	*server
	version string // what the server prints with -version
	page    string // http://HOST:PORT/
	ports   [2]string
	robot   *robot.Robot

	begin time.Time
	usage rig.Usage // at the last sample
	at    time.Time // of the last sample

	connections, pages, floods, unplugged atomic.Int64
}

// TestSoak uses the server in all ways at once: clients that come and go, pages,
// floods, hardware that is unplugged, a recording whose disk is full. A well client is
// served meanwhile, and the server may not grow. Goroutines cannot be counted from
// outside; those that leak show in its memory.
func TestSoak(t *testing.T) {
	if *soakFor == 0 {
		t.Skip("-soak says for how long")
	}
	s := startSoak(t)
	first := dialFrom("127.0.0.3", s.ports[1]) // with the first line that is opened the guard begins
	(&peer{t, first}).mustOpen("pa", "pa")
	first.Close()
	waiting.Until(t, "the robot is closed", func() bool { return !s.robot.State().Open })
	rest := s.sample(t)
	well := s.wellClient(t)
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	left := s.strangers(ctx)
	var samples []sample
	if *soakFolder != "" {
		defer func() {
			if err := (report{s.version, soakFor.String(), !t.Failed(), samples}).save(*soakFolder); err != nil {
				t.Error(err)
			}
		}()
	}
	for tick := time.Tick(*soakFor / soakSamples); len(samples) < soakSamples; {
		<-tick
		next := s.sample(t)
		next.Late = float64(well.takeLate(t)) / float64(time.Millisecond)
		samples = append(samples, next)
		t.Logf("%.0f KiB, %.0f of them anonymous, %.0f descriptors, %.0f threads, %.0f wakes a second, p99 %.1f ms; %d connections, %d pages, %d floods, %d times unplugged",
			next.Memory, next.Anonymous, next.Descriptors, next.Threads, next.Wakes, next.Late, s.connections.Load(), s.pages.Load(), s.floods.Load(), s.unplugged.Load())
	}
	leave()
	left.Wait()
	http.DefaultClient.CloseIdleConnections()
	if s.connections.Load() == 0 || s.pages.Load() == 0 || s.floods.Load() == 0 || s.unplugged.Load() == 0 {
		t.Error("not everybody took part")
	}
	for _, f := range figures() {
		grown, last := growth(samples, f.of)
		t.Logf("%s: grown by %.0f from the second third to the last, median %.0f", f.name, grown, last)
	}
	if err := flat(samples); err != nil {
		t.Error(err)
	}
	t.Logf("p99 of the well client: median %.1f ms of %d samples", median(samples, func(p sample) float64 { return p.Late }), len(samples))
	if !s.Printed("no space left") {
		t.Error("the small disk was not filled")
	}
	well.conn.Close()
	open := 0.0
	waiting.Until(t, "all descriptors are given back", func() bool {
		now := s.sample(t).Descriptors
		if now != open {
			t.Logf("%.0f descriptors are open, %.0f at rest", now, rest.Descriptors)
		}
		open = now
		return now <= rest.Descriptors
	})
}

// startSoak starts the server with two robots: one of the test driver that is
// recorded, once on a small disk, and a Pioneer that is unplugged now and then.
func startSoak(t *testing.T) *soak {
	t.Helper()
	s := &soak{robot: startRobot(t, robot.Options{})}
	dir := t.TempDir()
	small := filepath.Join(dir, "small")
	must.Do(t, os.Mkdir(small, 0o755))
	other := ports.Free(t, 1)
	file := write(t, dir, "soak.cfg", fmt.Sprintf(`
		driver ( name "testpattern" rate 50 )
		driver ( name "p2os" provides ["%d:position:0" "%[1]d:sonar:0"] port %q )
		driver ( name "writelog" file "run.mcap" max_size 1 files 2 open 1 requires ["laser:0" "position:0"] )
		driver ( name "writelog" file "small/run.mcap" open 1 requires ["laser:0"] )
	`, other, s.robot.Port()))
	disk := fmt.Sprintf(`mount -t tmpfs -o size=%dk none %q; exec "$0" "$@"`, soakDisk, small)
	via := []string{"unshare", "--mount", "sh", "-ec", disk}
	if os.Geteuid() != 0 {
		via = slices.Insert(via, 1, "--map-root-user") // who may mount in a namespace of its own
	}
	program := cmp.Or(*soakServer, binary)
	s.version = strings.TrimSpace(string(must.Get(exec.Command(program, "-version").Output())(t)))
	s.begin, s.at = time.Now(), time.Now()
	s.server = launch{via: via, binary: program}.start(t, "-http", "127.0.0.1:0", "-max-clients", strconv.Itoa(soakClients), file)
	s.page = s.dashboard(t)
	s.ports = [...]string{s.address, net.JoinHostPort("127.0.0.1", strconv.Itoa(other))}
	return s
}

// sample reads the server's meters.
func (s *soak) sample(t *testing.T) sample {
	t.Helper()
	pid := s.Cmd.Process.Pid
	open := must.Get(os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid)))(t)
	usage, now := must.Get(rig.UsageOf(pid))(t), time.Now()
	p := sample{
		Seconds: math.Round(now.Sub(s.begin).Seconds()), Memory: float64(usage.RSS >> 10), Anonymous: float64(usage.Anonymous >> 10),
		Descriptors: float64(len(open)), Threads: float64(usage.Threads),
		Wakes: math.Round(float64(usage.Sub(s.usage).Voluntary) / now.Sub(s.at).Seconds()),
	}
	s.usage, s.at = usage, now
	return p
}

// wellClient reads 50 frames a second.
type wellClient struct {
	conn net.Conn
	late chan []time.Duration // how much later than its period each frame came; buffers one
	err  chan error
}

func (s *soak) wellClient(t *testing.T) *wellClient {
	t.Helper()
	const period = 20 * time.Millisecond
	p := s.server.dial(t)
	p.send([]byte("xy\x00\x03f\x00\x32")...)
	p.mustOpen("sr", "sr")
	w := &wellClient{conn: p.conn, late: make(chan []time.Duration, 1), err: make(chan error, 1)}
	w.late <- nil
	go func() {
		last := time.Now()
		for {
			if _, _, err := p.tryBlock(patience); err != nil {
				w.err <- err
				return
			}
			now := time.Now()
			w.late <- append(<-w.late, (now.Sub(last) - period).Abs())
			last = now
		}
	}()
	return w
}

// takeLate returns the p99 since the last call.
func (w *wellClient) takeLate(t *testing.T) time.Duration {
	t.Helper()
	select {
	case err := <-w.err:
		t.Fatalf("the well client: %v", err)
	default:
	}
	late := <-w.late
	w.late <- nil
	if len(late) == 0 {
		return math.MaxInt64 // no frame came
	}
	slices.Sort(late)
	return late[len(late)*99/100]
}

// strangers lets everybody use the server until ctx ends.
func (s *soak) strangers(ctx context.Context) *sync.WaitGroup {
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
	to := strangers.Addresses{Robot: s.address, Page: strings.Trim(s.page, "htp:/")}
	for _, p := range strangers.Abuses() {
		again(1, func(ctx context.Context) { s.during(ctx, 6*time.Second, p, "127.0.0.2", to, &s.floods) })
	}
	again(3, func(ctx context.Context) {
		s.during(ctx, 2*time.Second, strangers.Crowds()[0], "127.0.0.5", to, &s.pages)
	})
	again(1, func(ctx context.Context) { // beyond the limit of clients
		var conns []net.Conn
		for range 2 * soakClients {
			if c := dialFrom("127.0.0.4", s.address); c != nil {
				conns = append(conns, c)
				s.connections.Add(1)
			}
		}
		pause(ctx, time.Second)
		for _, c := range conns {
			c.Close()
		}
		pause(ctx, 5*time.Second)
	})
	again(1, func(ctx context.Context) {
		pause(ctx, rand.N(8*time.Second))
		s.robot.Unplug()
		s.unplugged.Add(1)
		pause(ctx, rand.N(4*time.Second))
		_ = s.robot.Plug() // fails only with the emulator, which the test of floods would show
	})
	return &all
}

// pause waits, unless ctx ends.
func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// during does the strangers' work for a while.
func (s *soak) during(ctx context.Context, longest time.Duration, p strangers.Workload, from string, to strangers.Addresses, counter *atomic.Int64) {
	ctx, cancel := context.WithTimeout(ctx, rand.N(longest))
	defer cancel()
	dial := func(address string) (net.Conn, error) {
		d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}, Timeout: patience}
		c, err := d.DialContext(ctx, "tcp", address)
		if err != nil {
			pause(ctx, 100*time.Millisecond) // refused
			return nil, err
		}
		s.connections.Add(1)
		return c, nil
	}
	for ctx.Err() == nil {
		p.Do(ctx, dial, to)
		counter.Add(1)
	}
}

// visit is a client that opens devices of one of the robots, perhaps drives, reads
// for a while, perhaps, and leaves in one of the ways there are.
func (s *soak) visit(ctx context.Context) {
	c := dialFrom("127.0.0.3", s.ports[rand.IntN(len(s.ports))])
	if c == nil {
		pause(ctx, 100*time.Millisecond)
		return
	}
	s.connections.Add(1)
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
		pause(ctx, rand.N(time.Second))
	}
	if rand.IntN(3) == 0 {
		_ = c.(*net.TCPConn).SetLinger(0) // a reset
	}
	if reply, err := http.Get(s.page + "robots"); err == nil {
		_, _ = io.Copy(io.Discard, reply.Body)
		reply.Body.Close()
	}
}

// figure is one that may not grow.
type figure struct {
	name string
	of   func(sample) float64
	room float64
}

func figures() []figure {
	return []figure{
		{"memory, KiB", func(p sample) float64 { return p.Memory }, memoryRoom},
		{"descriptors", func(p sample) float64 { return p.Descriptors }, descriptorRoom},
		{"threads", func(p sample) float64 { return p.Threads }, threadRoom},
	}
}

// flat returns an error that names a figure that has grown.
func flat(samples []sample) error {
	for _, f := range figures() {
		if grown, _ := growth(samples, f.of); grown > f.room {
			return fmt.Errorf("%s: it has grown by %.0f", f.name, grown)
		}
	}
	return nil
}

// growth returns by how much the median of a figure grows from the second third of
// the samples to the last, and the median of the last.
func growth(samples []sample, of func(sample) float64) (grown, last float64) {
	third := len(samples) / 3
	last = median(samples[len(samples)-third:], of)
	return last - median(samples[third:2*third], of), last
}

func median(samples []sample, of func(sample) float64) float64 {
	var values []float64
	for _, p := range samples {
		values = append(values, of(p))
	}
	slices.Sort(values)
	return values[len(values)/2]
}

// A soak fails if one of its figures grows, and not if it only varies.
func TestSoakIsFlat(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		at   func(i float64) sample
		flat bool
	}{
		"flat": {func(float64) sample { return sample{Memory: 15000, Descriptors: 40, Threads: 7} }, true},
		"it varies": {func(i float64) sample {
			return sample{Memory: 15000 + 1000*math.Sin(i), Descriptors: 40 + 5*math.Sin(i), Threads: 7}
		}, true},
		"memory leaks":       {func(i float64) sample { return sample{Memory: 15000 + 128*i} }, false},
		"descriptors leak":   {func(i float64) sample { return sample{Descriptors: 40 + i} }, false},
		"threads leak":       {func(i float64) sample { return sample{Threads: 7 + i/3} }, false},
		"it warms up before": {func(i float64) sample { return sample{Memory: 15000 - max(0, 19-i)*512} }, true},
	} {
		var samples []sample
		for i := range soakSamples {
			samples = append(samples, tt.at(float64(i)))
		}
		if err := flat(samples); (err == nil) != tt.flat {
			t.Errorf("%s: %v", name, err)
		}
	}
}

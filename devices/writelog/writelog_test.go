package writelog

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"player/codec"
	"player/devices"
	"player/devices/retry"
	"player/e2e/must"
	"player/formats/logfile"
	"player/formats/telemetry"
)

const (
	ms       = time.Millisecond
	patience = 20 * time.Second
)

// began is when the server of the tests was started.
var began = time.Date(2026, 7, 28, 10, 0, 0, 0, time.UTC)

// mount is the declared place of the tests' devices.
var mount = devices.Geometry{X: 80, Heading: 180, Length: 156}

// host is the outside world: the deadlines of links.
type host struct {
	devices.Host
	at map[*devices.Link]time.Duration
}

func (h *host) WakeAt(l *devices.Link, at time.Duration) { h.at[l] = at }

// robot is a driver with a position and a sonar. Its first setups fail,
// as many as failures.
type robot struct {
	link     *devices.Link
	failures int
}

func (r *robot) instance() devices.Instance {
	return devices.Instance{Driver: r, Name: "robot", Provides: []devices.Spec{devices.Position(), devices.Sonar()}}
}

func (r *robot) Setup(now time.Duration, link *devices.Link) {
	r.link = link
	if r.failures > 0 {
		r.failures--
		link.Fail(now, errors.New("no answer"))
		return
	}
	link.Ready(now)
}

func (r *robot) Shutdown(now time.Duration)           { r.link.Stopped(now) }
func (r *robot) Tick(now time.Duration) time.Duration { return 0 }
func (r *robot) Configure(time.Duration, *devices.Device, []byte) error {
	return errors.New("refused")
}

type client struct{}

func (client) SetupDone(time.Duration, *devices.Device, error) {}

// rig is a robot and its recorder.
type rig struct {
	t               testing.TB
	robot           *robot
	table           *devices.Table
	host            *host
	link            *devices.Link // of the recorder
	driver          *Driver
	position, sonar *devices.Device
	path            string
	log             *observer.ObservedLogs
	disk            chan struct{} // the disk stalls until it is closed
}

// newRig starts a recorder at 100 ms. Files are of maxSize bytes.
func newRig(t testing.TB, path string, maxSize int64, files int, open bool, failures int) *rig {
	t.Helper()
	r := newFrozenRig(t, path, maxSize, files, open, failures)
	close(r.disk)
	return r
}

// newFrozenRig is newRig with a disk that stalls.
func newFrozenRig(t testing.TB, path string, maxSize int64, files int, open bool, failures int) *rig {
	t.Helper()
	disk := make(chan struct{})
	core, log := observer.New(zapcore.InfoLevel)
	logger := zap.New(core, zap.Hooks(func(e zapcore.Entry) error {
		if e.Message == logBegins { // it has made the file
			<-disk
		}
		return nil
	}))
	r := &rig{t: t, robot: &robot{failures: failures}, table: devices.NewTable(logger), host: &host{at: map[*devices.Link]time.Duration{}}, path: path, log: log, disk: disk}
	robot, err := r.table.Attach(r.robot.instance())
	if err != nil {
		t.Fatal(err)
	}
	robot.SetGeometry(mount)
	r.position, r.sonar = r.table.Device(codec.Position), r.table.Device(codec.Sonar)
	if r.driver, err = New([]*devices.Device{r.position, r.sonar}, open); err != nil {
		t.Fatal(err)
	}
	r.driver.clock = func() time.Time { return began.Add(100 * ms) }
	r.driver.disk.path, r.driver.disk.maxSize, r.driver.disk.files = path, maxSize, files
	if r.link, err = r.table.Attach(Kind("").Instance(r.driver)); err != nil {
		t.Fatal(err)
	}
	r.link.KeepOn()
	r.table.Connect(r.host)
	r.table.Start(100 * ms)
	if r.link.State() != devices.Ready {
		t.Fatal(r.link.State())
	}
	return r
}

// wake serves the recorder's deadline, if now is behind it.
func (r *rig) wake(now time.Duration) {
	if at := r.host.at[r.link]; at != 0 && at <= now {
		r.host.at[r.link] = 0
		if next := r.link.Wake(now); next != 0 {
			r.host.at[r.link] = next
		}
	}
}

// await waits for a result of the disk.
func (r *rig) await(what string, ok func() bool) {
	r.t.Helper()
	for deadline := time.Now().Add(patience); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			r.t.Fatalf("waited in vain: %s; log %v", what, r.log.All())
		}
	}
}

// stop shuts the robot down and waits for the end of the file.
func (r *rig) stop(now time.Duration) {
	r.t.Helper()
	r.table.Shutdown(now)
	r.await("the end", func() bool {
		now += 10 * ms
		r.wake(now)
		return r.table.Done()
	})
}

// logged are the messages in the log.
func (r *rig) logged() (lines []string) {
	for _, e := range r.log.All() {
		lines = append(lines, e.Message)
	}
	return lines
}

func (r *rig) hasLogged(line string) bool { return slices.Contains(r.logged(), line) }

// read returns the lines of a log.
func read(t testing.TB, path string) (lines []string) {
	t.Helper()
	r := must.Get(logfile.Open(path))(t)
	defer r.Close()
	for {
		m, err := r.Next()
		if err == io.EOF {
			break
		}
		lines = append(lines, fmt.Sprintf("%v %s %q", time.Duration(m.Time-began.UnixNano()), m.Channel.Topic(), m.Payload))
	}
	if r.Damage() != nil {
		t.Errorf("%s: %v", path, r.Damage())
	}
	return lines
}

func TestRecords(t *testing.T) {
	r := newRig(t, filepath.Join(t.TempDir(), "run.mcap"), megabyte, 3, false, 0)
	r.position.SetCommand(110*ms, []byte("lost")) // it is not open
	must.Get(r.position.Subscribe(200*ms, client{}))(t)
	r.position.Publish(250*ms, []byte("where it is"))
	if at := r.host.at[r.link]; at != 250*ms+flushPeriod {
		t.Errorf("to be flushed at %v", at)
	}
	r.position.SetCommand(260*ms, []byte("fast"))
	_ = r.position.Configure(270*ms, []byte("m\x01")) // refused, and yet it was asked for
	r.sonar.Publish(240*ms, []byte("how far it is"))
	r.wake(501 * ms)
	r.await("a file", func() bool { _, err := os.Stat(r.path); return err == nil })
	if at := r.host.at[r.link]; at != 750*ms {
		t.Errorf("next at %v", at)
	}
	r.wake(750 * ms)
	if at := r.host.at[r.link]; at != 0 {
		t.Errorf("it wakes at %v, though there is nothing to record", at)
	}
	r.position.Publish(900*ms, nil)
	r.stop(950 * ms)
	want := []string{
		`250ms /position "where it is"`, `260ms /position/command "fast"`, `270ms /position/configuration "m\x01"`,
		`240ms /sonar "how far it is"`, `900ms /position ""`,
	}
	if got := read(t, r.path); !slices.Equal(got, want) {
		t.Errorf("recorded\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if !r.hasLogged(logBegins) || !r.hasLogged(logEnds) {
		t.Error(r.logged())
	}
	// Data that comes now is not recorded, and does no harm.
	r.position.Publish(2*time.Second, []byte("late"))
	s, err := logfile.Scan(r.path)
	if err != nil || len(s.Channels) != 6 || !s.Start.Equal(began) || s.Channels[0].Geometry != telemetry.Geometry(mount) {
		t.Errorf("%+v, %v", s, err)
	}
}

// Without data to record there is no file, and older ones stay.
func TestNothingToRecord(t *testing.T) {
	r := newRig(t, filepath.Join(t.TempDir(), "run.mcap"), megabyte, 1, false, 0)
	must.Do(t, os.WriteFile(r.path, []byte("yesterday"), 0o644))
	r.stop(time.Second)
	if text, _ := os.ReadFile(r.path); string(text) != "yesterday" {
		t.Errorf("%q", text)
	}
}

func TestOpen(t *testing.T) {
	r := newRig(t, filepath.Join(t.TempDir(), "run.mcap"), megabyte, 1, true, 2)
	if r.sonar.Link().State() != devices.Ready {
		// The first two setups fail, one for each device.
		at := r.host.at[r.link]
		if at != 100*ms+retry.First {
			t.Fatalf("tried again at %v", at)
		}
		r.sonar.Publish(at-ms, []byte("anyway")) // arms the flush before the retry
		if next := r.host.at[r.link]; next != at {
			t.Errorf("the retry at %v has become one at %v", at, next)
		}
		r.wake(at)
	}
	if r.sonar.Link().State() != devices.Ready || !r.sonar.Link().Subscribed(r.sonar) || !r.sonar.Link().Subscribed(r.position) {
		t.Fatal("the devices are not open")
	}
	r.stop(10 * time.Second)
	if got := read(t, r.path); len(got) != 1 {
		t.Error(got)
	}
}

// Files are bounded in size and number; together they hold the newest messages
// without a gap.
func TestRotation(t *testing.T) {
	const size, files, messages = 300 << 10, 3, 12000
	r := newRig(t, filepath.Join(t.TempDir(), "run.mcap"), size, files, true, 0)
	now := 200 * ms
	payload := make([]byte, codec.SonarSize)
	for i := range messages {
		now += 10 * ms
		copy(payload, fmt.Sprintf("%6d", i))
		r.sonar.Publish(now, payload)
		r.wake(now)
		r.await("a batch", func() bool { return len(r.driver.disk.free) > 2 })
	}
	r.stop(now)
	var got []string
	for n := files - 1; n >= 0; n-- {
		path := older(r.path, n)
		info := must.Get(os.Stat(path))(t)
		if info.Size() > size || n > 0 && info.Size() < size/2 {
			t.Errorf("%s has %d bytes", path, info.Size())
		}
		got = append(got, read(t, path)...)
	}
	if len(got) < messages/2 || len(got) >= messages {
		t.Fatalf("%d of %d messages are left", len(got), messages)
	}
	for i, line := range got {
		if want := fmt.Sprintf("/sonar \"%6d", messages-len(got)+i); !strings.Contains(line, want) {
			t.Fatalf("message %d: %s, want %s", i, line, want)
		}
	}
	if left, _ := os.ReadDir(filepath.Dir(r.path)); len(left) != files {
		t.Errorf("%d files", len(left))
	}
}

// A file also ends when its index takes too much memory.
func TestRotationByIndex(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.mcap")
	d := disk{path: path, maxSize: 64 * megabyte, maxIndex: 16 << 10, files: 2, log: zap.NewNop()}
	d.info.Channels = []logfile.Channel{{Interface: "sonar"}}
	for i := 0; ; i++ {
		if _, err := os.Stat(older(path, 1)); err == nil {
			break
		}
		if i > d.maxIndex {
			t.Fatalf("%d chunks in one file", i)
		}
		var b logfile.Batch
		b.Add(0, time.Duration(i)*ms, nil)
		must.Do(t, d.write(&b))
	}
	must.Do(t, d.close())
}

func TestRotateNames(t *testing.T) {
	for path, want := range map[string]string{"run.mcap": "run.2.mcap", "/a.b/run": "/a.b/run.2", "x/run.a.mcap": "x/run.a.2.mcap"} {
		if got := older(path, 2); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
	path := filepath.Join(t.TempDir(), "run.mcap")
	for i := range 5 {
		must.Do(t, rotate(path, 3))
		must.Do(t, os.WriteFile(path, []byte{byte('0' + i)}, 0o644))
	}
	for n, want := range []string{"4", "3", "2"} {
		if got, err := os.ReadFile(older(path, n)); string(got) != want {
			t.Errorf("%s: %q, %v", older(path, n), got, err)
		}
	}
}

// While the disk is busy the loop goes on; lost data is logged.
func TestSlowDisk(t *testing.T) {
	r := newRig(t, filepath.Join(t.TempDir(), "run.mcap"), megabyte, 1, true, 0)
	var taken []*logfile.Batch
	for range batches {
		taken = append(taken, <-r.driver.disk.free)
	}
	r.sonar.Publish(200*ms, []byte("lost"))
	r.sonar.Publish(210*ms, []byte("also lost"))
	r.wake(460 * ms)
	if e := r.log.FilterMessage("the disk is too slow: not everything is recorded").All(); len(e) != 1 || e[0].ContextMap()["messages lost"] != int64(2) {
		t.Errorf("%v", r.log.All())
	}
	r.sonar.Publish(500*ms, []byte("lost as well"))
	for _, b := range taken {
		r.driver.disk.free <- b
	}
	r.sonar.Publish(510*ms, []byte("kept"))
	r.stop(600 * ms)
	if n := r.log.FilterMessage("the disk is too slow: not everything is recorded").Len(); n != 2 {
		t.Errorf("logged %d times", n)
	}
	if got := read(t, r.path); !slices.Equal(got, []string{`510ms /sonar "kept"`}) {
		t.Error(got)
	}
}

// A disk that stalls for ten seconds loses nothing.
func TestFrozenDisk(t *testing.T) {
	r := newFrozenRig(t, filepath.Join(t.TempDir(), "run.mcap"), megabyte, 1, true, 0)
	now, messages := 200*ms, 0
	for ; now < 10*time.Second; now += 20 * ms {
		r.sonar.Publish(now, make([]byte, codec.SonarSize))
		r.driver.record(3, now, make([]byte, 900)) // 50 KB/s in all
		r.wake(now)
		messages += 2
	}
	if n := r.driver.dropped; n > 0 {
		t.Errorf("%d messages are lost", n)
	}
	close(r.disk)
	r.stop(now)
	if got := len(read(t, r.path)); got != messages || r.log.FilterLevelExact(zapcore.WarnLevel).Len() > 0 {
		t.Errorf("%d messages, want %d; %v", got, messages, r.logged())
	}
}

// When the disk fails, recording ends with one line, and nothing else does.
func TestFailingDisk(t *testing.T) {
	r := newRig(t, "/dev/full", megabyte, 1, true, 0)
	r.driver.disk.path = filepath.Join(t.TempDir(), "nowhere", "run.mcap")
	now := 200 * ms
	for range 100 {
		now += 50 * ms
		r.sonar.Publish(now, make([]byte, codec.SonarSize))
		r.wake(now)
	}
	r.await("the end", func() bool {
		now += 50 * ms
		r.sonar.Publish(now, nil)
		r.wake(now)
		return r.driver.state == failed
	})
	if r.sonar.Link().State() != devices.Idle {
		t.Errorf("the robot is %v", r.sonar.Link().State())
	}
	r.sonar.Publish(now, nil)
	if at := r.host.at[r.link]; at != 0 {
		t.Errorf("it wakes at %v", at)
	}
	r.stop(now)
	if n := r.log.FilterLevelExact(zapcore.ErrorLevel).Len(); n != 1 {
		t.Errorf("%d errors: %v", n, r.logged())
	}
}

// Two recorders do not take a file from each other.
func TestOneFileForTwo(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.mcap")
	first := newRig(t, path, megabyte, 3, true, 0)
	first.sonar.Publish(200*ms, []byte("first"))
	first.wake(time.Second)
	first.await("a file", func() bool { return first.hasLogged(logBegins) })
	second := newRig(t, path, megabyte, 3, true, 0)
	second.sonar.Publish(200*ms, []byte("second"))
	second.stop(time.Second)
	if e := second.log.FilterLevelExact(zapcore.ErrorLevel).All(); len(e) != 1 || !strings.Contains(fmt.Sprint(e[0].ContextMap()), "by another recorder") {
		t.Error(e)
	}
	first.sonar.Publish(1200*ms, []byte("still the first"))
	first.stop(2 * time.Second)
	if got := read(t, path); len(got) != 2 {
		t.Error(got)
	}
}

// Recording allocates nothing: the index's work for a chunk is spread over the chunk's
// messages.
func TestAllocates(t *testing.T) {
	r := newRig(t, filepath.Join(t.TempDir(), "run.mcap"), 1<<30, 1, true, 0)
	now := 200 * ms
	scan := make([]byte, codec.SonarSize)
	message := func() {
		now += 10 * ms
		r.sonar.Publish(now, scan)
		r.wake(now)
	}
	for range 5000 {
		message()
		r.await("a batch", func() bool { return len(r.driver.disk.free) > 0 })
	}
	if n := testing.AllocsPerRun(5000, message); n != 0 {
		t.Errorf("%v allocations per message", n)
	}
	r.stop(now)
}

func TestKind(t *testing.T) {
	k := Kind("player 1")
	table := devices.NewTable(zap.NewNop())
	must.Get(table.Attach((&robot{}).instance()))(t)
	directory := t.TempDir()
	make := func(file string, required ...*devices.Device) error {
		values := k.Defaults()
		values["file"] = file
		d, err := k.New(devices.Args{Name: k.Name, Values: values, Requires: required})
		if err == nil && (d.(*Driver).disk.maxSize != 64<<20 || d.(*Driver).disk.info.Server != "player 1") {
			t.Errorf("%+v", d)
		}
		return err
	}
	sonar := table.Device(codec.Sonar)
	if err := make(filepath.Join(directory, "run.mcap"), sonar, table.Device(codec.Position)); err != nil {
		t.Error(err)
	}
	for want, err := range map[string]error{
		"requires [":             make(filepath.Join(directory, "run.mcap")),
		"a block for each robot": make(filepath.Join(directory, "run.mcap"), sonar, sonar),
		"no log can be written":  make(filepath.Join(directory, "nowhere", "run.mcap"), sonar),
		"not a regular file":     make(directory, sonar),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// A panic in the goroutine that writes files ends the recording, with an error.
func TestWriterPanics(t *testing.T) {
	d := disk{file: os.Stderr, maxSize: 1} // without a writer
	if err := d.write(&logfile.Batch{}); err == nil || !strings.Contains(err.Error(), "panicked") {
		t.Errorf("write: %v", err)
	}
	if err := d.close(); err == nil || !strings.Contains(err.Error(), "panicked") {
		t.Errorf("close: %v", err)
	}
}

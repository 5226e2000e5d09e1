package sicklms200

import (
	"bytes"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"player/codec"
	"player/devices"
	"player/devices/line/linetest"
)

var update = flag.Bool("update", false, "rewrite the golden files")

const ms = time.Millisecond

// bench is a driver with a client, in simulated time.
type bench struct {
	*linetest.World
	t      testing.TB
	driver *Driver
	link   *devices.Link
	laser  *devices.Device
	log    *observer.ObservedLogs
	done   []error // how setups ended
}

func (b *bench) SetupDone(_ time.Duration, _ *devices.Device, err error) {
	b.done = append(b.done, err)
}

func newBench(t testing.TB) *bench {
	t.Helper()
	core, log := observer.New(zap.DebugLevel)
	table := devices.NewTable(zap.New(core))
	b := &bench{World: linetest.NewWorld(), t: t, driver: New("/dev/laser"), log: log}
	if err := table.Attach(b.driver); err != nil {
		t.Fatal(err)
	}
	table.Connect(b.World)
	b.laser = table.Device(codec.Laser)
	b.link = b.laser.Link()
	return b
}

func (b *bench) subscribe() {
	if pending, err := b.laser.Subscribe(b.Now(), b); err != nil || !pending {
		b.done = append(b.done, err)
	}
}

func (b *bench) ready() {
	b.t.Helper()
	b.subscribe()
	b.untilUp()
}

func (b *bench) untilUp() {
	b.t.Helper()
	if !b.Until(b.driver.line.IsUp, 20*time.Second) {
		b.t.Fatalf("not connected: %v", b.done)
	}
}

func (b *bench) ranges() (r codec.LaserData) {
	b.t.Helper()
	if err := r.Decode(b.laser.Data()); err != nil {
		b.t.Fatal(err)
	}
	return r
}

// requestNames are the requests as they are on the wire.
var requestNames = map[string]string{
	"02 00 02 00 20 25 35 08":                         "stop",
	"02 00 02 00 20 24 34 08":                         "stream",
	"02 00 02 00 20 40 50 08":                         "38400",
	"02 00 0A 00 20 00 53 49 43 4B 5F 4C 4D 53 BE C5": "password",
	"02 00 01 00 31 15 12":                            "status?",
	"02 00 01 00 74 50 12":                            "configuration?",
	"02 00 05 00 3B B4 00 32 00 3B 1F":                "variant",
}

func requestName(b []byte) string {
	if name, ok := requestNames[fmt.Sprintf("% X", b)]; ok {
		return name
	}
	if len(b) > 5 && b[4] == 0x77 {
		return "configuration"
	}
	return fmt.Sprintf("% X", b)
}

// Recorded lasers; the golden files hold what the driver sent.
func TestSessions(t *testing.T) {
	for _, name := range []string{"session", "at38400"} {
		t.Run(name, func(t *testing.T) {
			got := replay(t, "testdata/"+name+".hex")
			golden := "testdata/" + name + ".golden"
			if *update {
				if err := os.WriteFile(golden, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, want) {
				t.Errorf("the driver now sends:\n%s", got)
			}
		})
	}
}

func replay(t *testing.T, file string) []byte {
	b := newBench(t)
	var out bytes.Buffer
	fmt.Fprintln(&out, "# seconds, baud, what the driver sent")
	b.Heard = func(p *linetest.Port, sent []byte) {
		fmt.Fprintf(&out, "%6.3f %d % X ; %s\n", (b.Now() - time.Second).Seconds(), p.Baud, sent, requestName(sent))
	}
	b.subscribe()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var baud, wait int // of a laser that does not follow the driver's speed; ms
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "#") {
			continue
		}
		if _, err := fmt.Sscanf(line, "baud %d", &baud); err == nil {
			continue
		}
		if _, err := fmt.Sscanf(line, "wait %d", &wait); err == nil {
			b.Pass(time.Duration(wait) * ms)
			continue
		}
		b.Pass(100 * ms)
		if baud == 0 || baud == b.Port().Baud {
			b.Port().Say(unhex(t, line))
		}
	}
	ranges := b.ranges()
	b.laser.Unsubscribe(b.Now(), b)
	b.Pass(2 * time.Second)
	fmt.Fprintf(&out, "# scans %d, the last %d\n", b.laser.Seq(), ranges)
	if b.link.State() != devices.Idle {
		t.Errorf("link is %s", b.link.State())
	}
	return out.Bytes()
}

// scan is a telegram with 361 values of the given word, in mm.
func scan(word uint16) []byte {
	return scanTelegram(CodeScan, append([]uint16{ScanCount | 1<<unitShift}, slices.Repeat([]uint16{word}, ScanCount)...))
}

func TestPublishesEveryScanOnce(t *testing.T) {
	b := newBench(t)
	b.newLaser(38400)
	b.ready()
	b.Pass(10 * ms)
	before := b.laser.Seq()
	telegram := scan(0xE000 | 1234) // all flags set
	for _, cut := range []int{1, 2, 100, len(telegram) - 1} {
		b.Port().Say(telegram[:cut])
		b.Port().Say(telegram[cut:])
	}
	b.Port().Say(bytes.Repeat(telegram, 3))
	if n := b.laser.Seq() - before; n != 7 {
		t.Fatalf("7 scans were published as %d", n)
	}
	for i, r := range b.ranges() {
		if r != 1234 {
			t.Fatalf("reading %d is %d mm", i, r)
		}
	}
	if len(b.laser.Data()) != codec.LaserSize || b.laser.Age(b.Now()) != 0 {
		t.Fatalf("%d bytes, %v old", len(b.laser.Data()), b.laser.Age(b.Now()))
	}
}

func TestNoiseIsNotPublished(t *testing.T) {
	b := newBench(t)
	l := b.newLaser(38400)
	b.ready()
	l.mute = true // the test itself plays it
	b.log.TakeAll()
	rnd := rand.New(rand.NewPCG(1, 2))
	good, bad := scan(500), scan(600)
	bad[100]++
	short := scanTelegram(CodeScan, []uint16{ScanCount | 1<<unitShift, 600, 600}) // more values than there are
	before := b.laser.Seq()
	for range 20 {
		b.Pass(100 * ms)
		noise := make([]byte, rnd.IntN(300))
		for i := range noise {
			noise[i] = byte(rnd.Uint32())
		}
		b.Port().Say(noise)
		b.Port().Say(bad)
		b.Port().Say(short)
		b.Port().Say(bad[:rnd.IntN(len(bad))])
		b.Port().Say(good)
		b.Port().Say(good)
		if r := b.ranges(); r[0] != 500 && r[0] != 1000 || r[100] != r[0] {
			t.Fatalf("noise was published: %d", r)
		}
	}
	if n := b.laser.Seq() - before; n < 20 || n > 40 {
		t.Fatalf("%d of 40 scans published", n)
	}
	lines := b.log.All()
	for _, e := range lines {
		if e.Message != "noise on the line" || e.ContextMap()["port"] != "/dev/laser" || e.ContextMap()["device"] != "sicklms200" {
			t.Fatalf("log %q %v", e.Message, e.ContextMap())
		}
	}
	if len(lines) < 1 || len(lines) > 3 {
		t.Fatalf("%d log lines in 2 s", len(lines))
	}
}

// reseal gives a telegram the CRC that belongs to it.
func reseal(t []byte) []byte {
	c := crc(t[:len(t)-crcSize])
	return append(t[:len(t)-crcSize], byte(c), byte(c>>8))
}

func TestHealth(t *testing.T) {
	b := newBench(t)
	l := b.newLaser(38400)
	b.ready()
	l.mute = true
	b.log.TakeAll()
	dirty := scan(500)
	dirty[len(dirty)-crcSize-1] = 0x90
	dirty = reseal(dirty)
	for range 100 {
		b.Pass(100 * ms)
		b.Port().Say(dirty)
	}
	lines := b.log.All()
	if len(lines) != 1 || lines[0].ContextMap()["polluted"] != true {
		t.Fatalf("log %v", lines)
	}
	if b.ranges()[0] != 500 {
		t.Fatal("the scan was dropped")
	}
}

func TestTakesNoConfiguration(t *testing.T) {
	b := newBench(t)
	b.newLaser(9600)
	b.ready()
	if err := b.laser.Configure(b.Now(), []byte("m\x01")); err == nil {
		t.Fatal("a configuration was taken")
	}
}

func TestSteadyStateAllocatesNothing(t *testing.T) {
	b := newBench(t)
	l := b.newLaser(38400)
	b.ready()
	l.mute = true
	b.Pass(100 * ms)
	p, telegram := b.Port(), scan(500)
	if n := testing.AllocsPerRun(500, func() {
		b.Pass(100 * ms)
		p.Say(telegram)
	}); n != 0 {
		t.Fatalf("%v allocations for each scan", n)
	}
}

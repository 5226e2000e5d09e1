package sicklms200

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"player/codec"
	"player/devices"
	"player/devices/transport"
)

// scanOf is a telegram with 361 values of the given word, in mm.
func scanOf(word uint16) []byte {
	return scanTelegram(CodeScan, append([]uint16{ScanCount | 1<<unitShift}, slices.Repeat([]uint16{word}, ScanCount)...))
}

func TestPublishesEveryScanOnce(t *testing.T) {
	b, _ := ready(t, 38400)
	b.Pass(10 * ms)
	before := b.laser.Seq()
	telegram := scanOf(0xE000 | 1234) // all flags set
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

func TestUpsideDown(t *testing.T) {
	b := newBench(t)
	b.newLaser(38400)
	b.driver.flip = true
	b.Ready()
	words := make([]uint16, 1+ScanCount)
	for i := range words {
		words[i] = uint16(i)
	}
	words[0] = ScanCount | 1<<unitShift
	b.Port().Say(scanTelegram(CodeScan, words))
	if r := b.ranges(); r[0] != ScanCount || r[ScanCount-1] != 1 {
		t.Fatalf("the right end is reading %d of the sensor, the left end %d", r[0], r[ScanCount-1])
	}
}

func TestNoiseIsNotPublished(t *testing.T) {
	b, l := ready(t, 38400)
	l.mute = true // the test itself plays it
	b.Log.TakeAll()
	rnd := rand.New(rand.NewPCG(1, 2))
	good, bad := scanOf(500), scanOf(600)
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
	lines := b.Log.All()
	for _, e := range lines {
		if e.Message != transport.LogDamaged || e.ContextMap()["port"] != "/dev/laser" || e.ContextMap()["device"] != "sicklms200" {
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
	b, l := ready(t, 38400)
	l.mute = true
	b.Log.TakeAll()
	dirty := scanOf(500)
	dirty[len(dirty)-crcSize-1] = 0x90
	dirty = reseal(dirty)
	for range 100 {
		b.Pass(100 * ms)
		b.Port().Say(dirty)
	}
	lines := b.Log.All()
	if len(lines) != 1 || lines[0].ContextMap()["polluted"] != true {
		t.Fatalf("log %v", lines)
	}
	if b.ranges()[0] != 500 {
		t.Fatal("the scan was dropped")
	}
}

// The laser has nothing to configure: a request is refused (manual 3.6), and the laser hears nothing of it.
func TestConfigure(t *testing.T) {
	b, _ := ready(t, 38400)
	wrote := len(b.Port().Wrote)
	if err := b.laser.Configure(b.Now(), []byte{'m', 1}); !errors.Is(err, devices.ErrNoConfiguration) || len(b.Port().Wrote) > wrote {
		t.Errorf("%v, %d bytes were written", err, len(b.Port().Wrote)-wrote)
	}
}

func TestSteadyStateAllocatesNothing(t *testing.T) {
	b, l := ready(t, 38400)
	l.mute = true
	b.Pass(100 * ms)
	p, telegram := b.Port(), scanOf(500)
	if n := testing.AllocsPerRun(500, func() {
		b.Pass(100 * ms)
		p.Say(telegram)
	}); n != 0 {
		t.Fatalf("%v allocations for each scan", n)
	}
}

package urg

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"player/codec"
	"player/devices"
	"player/devices/devicetest"
	"player/devices/scan"
	"player/devices/transport"
	"player/devices/transport/transporttest"
	"player/e2e/must"
)

// The examples of the specification: status lines, and the encoding of distances.
func TestGolden(t *testing.T) {
	for _, line := range []string{"00P", "99b", "02R"} {
		if data, ok := sealed([]byte(line)); !ok || string(data) != line[:2] {
			t.Errorf("%s: %q %v", line, data, ok)
		}
		if _, ok := sealed([]byte(line[:2] + "x")); ok {
			t.Errorf("%sx is taken for good", line[:2])
		}
	}
	for text, want := range map[string]int{"CB": 1234, "1Dh": 5432, "m2@0": 16000000} {
		if n, ok := decode([]byte(text)); n != want || !ok {
			t.Errorf("%s: %d, want %d", text, n, want)
		}
	}
	if got := Scan(44, 725); got != "MD0044072501000" {
		t.Errorf("request %s", got)
	}
}

func TestParameters(t *testing.T) {
	var p Parameters
	for line := range strings.FieldsSeq("MODL:URG-04LX;9 DMIN:20;4 DMAX:5600;_ ARES:1024;\\ AMIN:44;7 AMAX:725;o AFRT:384;6 SCAN:600;` NONE:x;R") {
		if !p.Set([]byte(line)) {
			t.Errorf("%s is taken for damaged", line)
		}
	}
	for line := range strings.FieldsSeq("AFRT:284;6 AFRT:384;7 AFRT:384,6 DMAX:?;? ; 6 SCAN:600") {
		if p.Set([]byte(line)) {
			t.Errorf("%s is taken for good", line)
		}
	}
	want := Parameters{"URG-04LX", 20, 5600, 1024, 44, 725, 384, 600}
	if p != want || p.Check() != nil {
		t.Fatalf("%+v, want %+v: %v", p, want, p.Check())
	}
	for degrees, step := range map[float64]int{0: 384, 90: 640, -90: 128, 200: 725, -200: 44} {
		if got := p.Step(degrees); got != step {
			t.Errorf("%v degrees are step %d, want %d", degrees, got, step)
		}
	}
	if a := p.Angle(640); a != 90 {
		t.Errorf("step 640 is at %v degrees", a)
	}
	fine := Parameters{"UST-20LX-H01", 20, 60000, 2880, 0, 2160, 1080, 2400} // steps of 1/8 degree
	if err := fine.Check(); err != nil {
		t.Errorf("%+v: %v", fine, err)
	}
	for _, bad := range []Parameters{{}, {"", 20, 5600, 0, 44, 725, 384, 600}, {"", 20, 5600, 1024, 725, 44, 384, 600}, {"", 20, 20, 1024, 44, 725, 384, 600}, {"", 20, 5600, 1024, 0, 10000, 384, 600}} {
		if bad.Check() == nil {
			t.Errorf("%+v is taken for good", bad)
		}
	}
}

// seal adds the checksum to a line.
func seal(text string) string { return text + string(checksum([]byte(text))) }

// scanOf is the answer with one scan of n readings of 1234 mm.
func scanOf(n int) string {
	text := "MD0044072501000\n99b\n" + seal("0CB0") + "\n"
	data := strings.Repeat("0CB", n)
	for data != "" {
		part := data[:min(64, len(data))]
		text += seal(part) + "\n"
		data = data[len(part):]
	}
	return text + "\n"
}

// answers returns the requests of the complete answers in the parts of a stream, and how
// many readings of 1234 mm the last one has.
func answers(steps int, parts ...[]byte) (all []string, readings int) {
	var l transport.Lines
	var a Answer
	for _, part := range parts {
		for line, rest, ok := l.Next(part); ok; line, rest, ok = l.Next(rest) {
			if !a.Take(line) {
				continue
			}
			all = append(all, a.Request()+" "+a.Status())
			readings = 0
			a.distances(steps, func(_, mm int) {
				if mm == 1234 {
					readings++
				}
			})
		}
	}
	return all, readings
}

func TestCutAtEveryByte(t *testing.T) {
	stream := []byte("rest\x00of\nsomething\n\nQT\n00P\n\nMD0044072501000\n00P\n\n" + scanOf(100))
	want := []string{"of something", "QT 00", "MD0044072501000 00", "MD0044072501000 99"}
	for cut := range len(stream) + 1 {
		got, n := answers(100, stream[:cut], stream[cut:])
		if len(got) != 4 || !slices.Equal(got[1:], want[1:]) || n != 100 {
			t.Fatalf("cut at %d: %q with %d readings", cut, got, n)
		}
	}
}

func TestDamagedScanIsDropped(t *testing.T) {
	good := []byte(scanOf(100))
	const head, stamp = len("MD0044072501000\n"), len("99b\n0CB0x\n")
	for i := head; i < len(good); i++ {
		for _, change := range []byte{1, 0x40} {
			if change == 0x40 && i < head+stamp {
				continue // the checksum of 6 bits cannot show that, and the time is not used
			}
			bad := slices.Clone(good)
			bad[i] ^= change
			if bytes.Equal(bad, good) {
				continue
			}
			var l transport.Lines
			var a Answer
			for line, rest, ok := l.Next(bad); ok; line, rest, ok = l.Next(rest) {
				if a.Take(line) && a.isScan() && a.distances(100, func(int, int) {}) {
					t.Fatalf("byte %d damaged: the scan is taken for good", i)
				}
			}
		}
	}
}

// FuzzAnswer never panics and accepts a bounded number of readings, for any input and
// any cuts.
func FuzzAnswer(f *testing.F) {
	f.Add([]byte(scanOf(50)), 10, 50)
	f.Add([]byte("PP\n00P\nMODL:X;a\nDMIN:20;7\n\n"), 5, 1)
	f.Fuzz(func(t *testing.T, in []byte, cut, steps int) {
		cut = max(0, min(cut, len(in)))
		steps = max(0, min(steps, 2*maxSteps))
		var l transport.Lines
		var a Answer
		var p Parameters
		for _, part := range [][]byte{in[:cut], in[cut:]} {
			for line, rest, ok := l.Next(part); ok; line, rest, ok = l.Next(rest) {
				p.Set(line)
				if a.Take(line) && a.isScan() {
					a.distances(steps, func(i, mm int) {
						if i >= maxSteps || mm < 0 || mm >= 1<<18 {
							t.Fatalf("reading %d is %d", i, mm)
						}
					})
				}
			}
		}
		if p.Check() == nil && (p.Step(90) > p.Last || p.Step(-90) < p.First) {
			t.Fatalf("%+v", p)
		}
	})
}

func TestScansAllocateNothing(t *testing.T) {
	var l transport.Lines
	var a Answer
	var readings codec.LaserData
	in := []byte(scanOf(681))
	if n := testing.AllocsPerRun(100, func() {
		for line, rest, ok := l.Next(in); ok; line, rest, ok = l.Next(rest) {
			if a.Take(line) {
				a.distances(681, func(i, mm int) { readings[i/2] = uint16(mm) })
			}
		}
	}); n != 0 {
		t.Errorf("%v allocations a scan", n)
	}
}

// described is a sensor's answer to PP.
const described = "PP\n00P\nMODL:URG-04LX;9\nDMIN:20;4\nDMAX:5600;_\n" +
	"ARES:1024;\\\nAMIN:44;7\nAMAX:725;o\nAFRT:384;6\nSCAN:600;e\n\n"

// A value below the least distance is a code, of which one means that nothing is in range, and another one of later
// models.
func TestDistances(t *testing.T) {
	for _, tt := range []struct {
		model string
		value int
		want  int
	}{
		{"URG-04LX(Hokuyo)", 0, scan.Nothing}, {"URG-04LX(Hokuyo)", 1, scan.Unknown}, {"UBG-04LX-F01", 0, scan.Nothing},
		{"UTM-30LX/LN", 0, scan.Unknown}, {"UTM-30LX/LN", 1, scan.Nothing},
		{"UST-10LX", 1, scan.Nothing}, {"UST-10LX", 5, scan.Unknown},
		{"URG-04LX", 19, scan.Unknown}, {"URG-04LX", 20, 20}, {"URG-04LX", 5600, 5600}, {"URG-04LX", 5601, scan.Nothing},
	} {
		p := Parameters{Model: tt.model, Min: 20, Max: 5600}
		if got := p.distance(tt.value, p.nothing()); got != tt.want {
			t.Errorf("%s: value %d is %d, want %d", tt.model, tt.value, got, tt.want)
		}
	}
}

// rangerOf returns a driver whose block names the ranger, in which a described sensor scans; its readings are 1234 mm.
func rangerOf(t *testing.T, description string, readings int) (b *transporttest.Bench, ranger *devices.Device) {
	t.Helper()
	instance := Kind().Instance(must.Get(Kind().New(devices.Args{Name: "urg", Values: Kind().Defaults()}))(t))
	instance.Select([]devices.Spec{devices.Laser(), devices.Ranger()})
	b = transporttest.NewBench(t, instance)
	b.Heard = func(p *transporttest.Port, sent []byte) {
		switch {
		case bytes.HasPrefix(sent, []byte(parameters)):
			p.Say([]byte(description))
		case bytes.HasPrefix(sent, []byte(laserOn)):
			p.Say([]byte("BM\n00P\n\n"))
		case bytes.HasPrefix(sent, []byte(scanning)):
			p.Say([]byte(scanOf(readings)))
		}
	}
	ranger = b.Link.Device(codec.Ranger)
	_ = must.Get(ranger.Subscribe(b.Now(), b))(t)
	b.Until(ranger.HasData, 5*time.Second)
	return b, ranger
}

// All steps are asked for, and not only those in front of the robot. The hot path allocates nothing.
func TestRanger(t *testing.T) {
	b, ranger := rangerOf(t, described, 725-44+1)
	data := transporttest.Data[codec.RangerData](t, ranger)
	rays := ranger.AppendRays(nil)
	if len(data.Ranges) != 682 || data.Unit != 1 || data.Ranges[681] != 1234 {
		t.Errorf("%d readings, the last %d", len(data.Ranges), data.Ranges[len(data.Ranges)-1])
	}
	if len(rays) != 1 || rays[0].Heading != -340*360./1024 || rays[0].Near != 20 || rays[0].Far != 5600 {
		t.Errorf("rays %+v", rays)
	}
	in, before := []byte(scanOf(682)), ranger.Seq()
	if n := testing.AllocsPerRun(100, func() { b.Port().Say(in) }); n != 0 || ranger.Seq() < before+100 {
		t.Errorf("%v allocations a scan", n)
	}
}

// A sensor that sees farther than 65 m has readings in a coarser unit.
func TestFarRanger(t *testing.T) {
	far := strings.Replace(described, "DMAX:5600;_", seal("DMAX:80000;"), 1)
	_, ranger := rangerOf(t, far, 682)
	if data := transporttest.Data[codec.RangerData](t, ranger); data.Unit != 2 || data.Ranges[0] != 617 {
		t.Errorf("%d units of %d mm", data.Ranges[0], data.Unit)
	}
}

func TestProbe(t *testing.T) {
	answers := devicetest.Probe(t, probe())
	answers("described", "SCIP2.0\n0Eu\n\n"+described, true, "", "URG-04LX")
	answers("half a description", described[:60], false, "", "")
	answers("damaged", strings.Replace(described, "AFRT:384", "AFRT:284", 1), false, "", "")
	answers("a scan", scanOf(20), true, "", "")
	answers("text", "O 1 2\nS 1 2 3\n\nO 1 2\n", false, "", "")
}

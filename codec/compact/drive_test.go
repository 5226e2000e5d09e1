package compact_test

import (
	"bytes"
	"encoding/binary"
	"maps"
	"math"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"player/codec"
	"player/codec/compact"
	"player/e2e/must"
	"player/examples/lab"
)

// driveThrough is two minutes in an office, of the devices with letters.
var driveThrough = sync.OnceValues(func() ([]lab.Moment, error) {
	moments, err := lab.Drive("../../simulation/worlds/office.world", 2*time.Minute)
	for _, m := range moments {
		maps.DeleteFunc(m, func(letter byte, _ []byte) bool { return !codec.OnWire(letter) })
	}
	return moments, err
})

func drive(t testing.TB) []lab.Moment {
	t.Helper()
	return must.Get(driveThrough())(t)
}

// noisy returns a scan with noise of sigma mm on the readings in range.
func noisy(random *rand.Rand, scan []byte, sigma float64) []byte {
	scan = bytes.Clone(scan)
	for r := scan; len(r) > 0; r = r[2:] {
		if v := binary.BigEndian.Uint16(r); v < 8000 {
			binary.BigEndian.PutUint16(r, uint16(max(0, math.Round(float64(v)+random.NormFloat64()*sigma))))
		}
	}
	return scan
}

// The sizes that docs/PROTOCOL.md promises (8.4.8), and the goals of scans.
func TestSizeOfScans(t *testing.T) {
	var whole codec.Scan
	for _, tt := range []struct {
		sigma       float64 // mm
		scan        codec.Scan
		mean, worst int // bytes
	}{
		{0, whole, 155, 200},
		{5, whole, 285, 320},
		{10, whole, 320, 360},
		{5, codec.Scan{Step: 1, Last: 360, Unit: 10}, 170, 215},
		{5, codec.Scan{Step: 1, First: 90, Last: 270, Unit: 1}, 160, 190},
		{5, codec.Scan{Step: 2, Last: 360, Unit: 1}, 175, 195},
		{5, codec.Scan{Step: 2, Last: 360, Unit: 10}, 110, 140},
		{5, codec.Scan{Step: 18, First: 9, Last: 351, Unit: 1}, 40, 47},
		{5, codec.Scan{Step: 18, First: 9, Last: 351, Unit: 10}, 33, 38},
		{5, codec.Scan{Step: 18, First: 9, Last: 351, Unit: 50}, 25, 30},
	} {
		random := rand.New(rand.NewPCG(1, 2))
		total, worst := 0, 0
		moments := drive(t)
		for _, m := range moments {
			n := len(compact.Append(nil, codec.Laser, noisy(random, m[codec.Laser], tt.sigma), tt.scan))
			total, worst = total+n, max(worst, n)
		}
		mean := total / len(moments)
		t.Logf("sigma %v mm, %+v: %d scans, mean %d bytes, worst %d", tt.sigma, tt.scan, len(moments), mean, worst)
		if len(moments) < 500 || mean > tt.mean || worst > tt.worst {
			t.Errorf("want at least 500 scans, mean %d, worst %d", tt.mean, tt.worst)
		}
	}
}

func BenchmarkScan(b *testing.B) {
	random := rand.New(rand.NewPCG(1, 2))
	var scans, codes [][]byte
	for _, m := range drive(b) {
		scans = append(scans, noisy(random, m[codec.Laser], 5))
		codes = append(codes, compact.AppendRanges(nil, scans[len(scans)-1]))
	}
	b.Run("encode", func(b *testing.B) {
		var dst []byte
		for i := 0; b.Loop(); i++ {
			dst = compact.AppendRanges(dst[:0], scans[i%len(scans)])
		}
	})
	b.Run("decode", func(b *testing.B) {
		dst := make([]byte, codec.LaserSize)
		for i := 0; b.Loop(); i++ {
			compact.DecodeRanges(dst, codes[i%len(codes)])
		}
	})
}

package sick

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"testing"

	"player/simulation/emulator/internal/rawhost"
)

// TestRecordedScan makes a scan whose start and CRC were recorded.
func TestRecordedScan(t *testing.T) {
	l := newLaser(Options{Angle: 180, Resolution: 50}, new(wire))
	var mm [Values]uint16
	for i := range mm {
		mm[i] = uint16(1000 + 10*i)
	}
	l.SetRanges(mm)
	l.SetFlags(5, 1) // dazzled
	got := appendTelegram(nil, fromLaser, l.appendScan(nil, 0, 0))
	head := rawhost.Bytes(t, "02 80 D6 02 B0 69 41 E8 03 F2 03 FC 03 06 04 10 04 1A 24 24 04 2E 04")
	if len(got) != 732 || !bytes.HasPrefix(got, head) || !bytes.HasSuffix(got, []byte{0x10, 0x76, 0xF3}) {
		t.Errorf("%d bytes, % X ... % X", len(got), got[:len(head)], got[len(got)-3:])
	}
}

func TestScans(t *testing.T) {
	var mm [Values]uint16
	for i := range mm {
		mm[i] = uint16(1000 + 10*i)
	}
	mm[360] = 60000
	tests := []struct {
		opts        Options
		first, last int
		head        string
		n           int
		v           map[int]int // by index in the scan
	}{
		{Options{Angle: 180, Resolution: 100}, 0, 0, "B0 B5 40", 181, map[int]int{0: 1000, 1: 1020, 180: 8191}},
		{Options{Angle: 100, Resolution: 25}, 0, 0, "B0 91 41", 401, map[int]int{0: 1800, 1: 1800, 2: 1810, 400: 3800}},
		{Options{Angle: 100, Resolution: 50}, 0, 0, "B0 C9 40", 201, map[int]int{0: 1800, 1: 1810, 200: 3800}},
		{Options{Angle: 180, Resolution: 50}, 91, 271, "B7 5B 00 0F 01 B5 40", 181, map[int]int{0: 1900, 180: 3700}},
		{Options{Angle: 180, Resolution: 50, Unit: CM}, 0, 0, "B0 69 01", 361, map[int]int{0: 100, 1: 101, 360: 6000}},
		{Options{Angle: 180, Resolution: 50, Unit: DM}, 0, 0, "B0 69 81", 361, map[int]int{0: 10, 360: 600}},
	}
	for _, tt := range tests {
		l := newLaser(tt.opts, new(wire))
		l.SetRanges(mm)
		got := l.appendScan(nil, tt.first, tt.last)
		head := rawhost.Bytes(t, tt.head)
		if !bytes.HasPrefix(got, head) || len(got) != len(head)+2*tt.n+1 {
			t.Errorf("%+v: %d bytes, % X", tt.opts, len(got), got[:8])
			continue
		}
		for i, want := range tt.v {
			if v := int(binary.LittleEndian.Uint16(got[len(head)+2*i:])); v != want {
				t.Errorf("%+v: value %d is %d, want %d", tt.opts, i, v, want)
			}
		}
	}
}

// TestIndices: two bytes follow the values.
func TestIndices(t *testing.T) {
	plain, indexed := newLaser(Options{Indices: false}, new(wire)), newLaser(Options{Indices: true}, new(wire))
	plain.variant, indexed.variant = variant{180, 50}, variant{180, 50}
	indexed.scans = 7
	want := plain.appendScan(nil, 0, 0)
	want = append(want[:len(want)-1], 7, 7, want[len(want)-1])
	if got := indexed.appendScan(nil, 0, 0); !bytes.Equal(got, want) {
		t.Errorf("% X", got[len(got)-4:])
	}
}

func TestCorridor(t *testing.T) {
	mm := corridor()
	if got := fmt.Sprint(mm[0], mm[60], mm[180], mm[300], mm[360]); got != "1500 1732 3000 1732 1500" {
		t.Error(got)
	}
}

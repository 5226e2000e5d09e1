package sicklms200

import (
	"encoding/binary"
	"errors"
	"slices"
	"testing"
)

// partOfScan is a telegram of the values 91 to 93 of a scan.
var partOfScan = scanTelegram(CodeScanRange, []uint16{91, 93, 3 | 1<<unitShift, 500, 501, 502})

func scanTelegram(code Code, words []uint16) []byte {
	var data []byte
	for _, w := range words {
		data = binary.LittleEndian.AppendUint16(data, w)
	}
	return appendTelegram(nil, addressHost, byte(code), append(data, 0x10)...)
}

func TestScanVariants(t *testing.T) {
	full := func(head uint16, n int) []uint16 { return append([]uint16{head}, make([]uint16, n)...) }
	for _, tt := range []struct {
		name  string
		code  Code
		words []uint16
		first uint16
		count int
		unit  Unit
		err   error
	}{
		{"361 mm", CodeScan, full(0x4169, 361), 1, 361, Millimetres, nil},
		{"361 cm", CodeScan, full(0x0169, 361), 1, 361, Centimetres, ErrUnit},
		{"361 in a unit unknown", CodeScan, full(0x8169, 361), 1, 361, 2, ErrUnit},
		{"181", CodeScan, full(0x40B5, 181), 1, 181, Millimetres, ErrVariant},
		{"201 cm", CodeScan, full(0x00C9, 201), 1, 201, Centimetres, ErrVariant},
		{"401", CodeScan, full(0x4191, 401), 1, 401, Millimetres, ErrVariant},
		{"none", CodeScan, full(0x4000, 0), 1, 0, Millimetres, ErrVariant},
		{"values 91 to 271", CodeScanRange, append([]uint16{91, 271}, full(0x40B5, 181)...), 91, 181, Millimetres, ErrVariant},
		{"values 1 to 361", CodeScanRange, append([]uint16{1, 361}, full(0x4169, 361)...), 1, 361, Millimetres, nil},
		{"values 5 to 365", CodeScanRange, append([]uint16{5, 365}, full(0x4169, 361)...), 5, 361, Millimetres, ErrVariant},
		{"values 1 to 401", CodeScanRange, append([]uint16{1, 401}, full(0x4191, 401)...), 1, 401, Millimetres, ErrVariant},
		{"count over the length", CodeScan, full(0x4169, 360), 0, 0, 0, ErrScan},
		{"count under the length", CodeScan, full(0x4169, 363), 0, 0, 0, ErrScan},
		{"361 mm and indices", CodeScan, append(full(0x4169, 361), 0x0201), 1, 361, Millimetres, nil},
		{"values 1 to 401 and indices", CodeScanRange, append([]uint16{1, 401}, append(full(0x4191, 401), 0x0201)...), 1, 401, Millimetres, ErrVariant},
		{"another code", CodeType, full(0x4169, 361), 0, 0, 0, ErrNotScan},
		{"no count", CodeScan, nil, 0, 0, 0, ErrNotScan},
		{"range without count", CodeScanRange, []uint16{1, 361}, 0, 0, 0, ErrNotScan},
	} {
		s, err := DecodeScan(scanTelegram(tt.code, tt.words))
		if !errors.Is(err, tt.err) || s.First != tt.first || s.Count != tt.count || s.Unit != tt.unit {
			t.Errorf("%s: first %d, count %d, unit %d, %v", tt.name, s.First, s.Count, s.Unit, err)
		}
		if n := len(s.values) / 2; n != tt.count || n != s.Count {
			t.Errorf("%s: %d ranges", tt.name, n)
		}
	}
}

func TestScanBits(t *testing.T) {
	s, err := DecodeScan(scanTelegram(CodeScan, []uint16{4 | 1<<unitShift, 0xFFFF, 0x2001, 0xE000, 0x1FFF}))
	if !errors.Is(err, ErrVariant) {
		t.Fatal(err)
	}
	if got, want := rangesOf(s), []uint16{8191, 1, 0, 8191}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	s, err = DecodeScan(partOfScan)
	if got, want := rangesOf(s), []uint16{500, 501, 502}; !errors.Is(err, ErrVariant) || s.First != 91 || !slices.Equal(got, want) {
		t.Errorf("part of a scan: first %d, %v, %v", s.First, got, err)
	}
}

// rangesOf returns all values of a scan.
func rangesOf(s Scan) []uint16 {
	ranges := make([]uint16, s.Count)
	for i := range ranges {
		ranges[i] = s.Range(i)
	}
	return ranges
}

package codec

import (
	"reflect"
	"testing"
)

func TestFreshness(t *testing.T) {
	for _, tt := range []struct {
		name  string
		value *FreshnessData
		bytes string
	}{
		{"nothing else read", &FreshnessData{Time: 1, Ages: []uint32{}}, "0000000000000001"},
		{"over a year", &FreshnessData{Time: 0x0123456789ABCDEF, Ages: []uint32{250, NoAge, MaxAge, 0}},
			"0123456789ABCDEF 000000FA FFFFFFFF FFFFFFFE 00000000"},
	} {
		want := unhex(tt.bytes)
		if got := tt.value.Append([]byte("ab")); string(got) != "ab"+string(want) {
			t.Errorf("%s: encoded % X, want % X", tt.name, got[2:], want)
		}
		got := &FreshnessData{Time: 77, Ages: make([]uint32, 9)}
		ages := &got.Ages[:1][0]
		if err := got.Decode(want); err != nil || !reflect.DeepEqual(got, tt.value) {
			t.Errorf("%s: %+v, %v", tt.name, got, err)
		}
		if &got.Ages[:1][0] != ages {
			t.Errorf("%s: the slice of ages was not reused", tt.name)
		}
	}
	for size := range 32 {
		err := new(FreshnessData).Decode(make([]byte, size))
		if legal := size >= 8 && size%4 == 0; (err == nil) != legal {
			t.Errorf("%d bytes: %v", size, err)
		}
	}
}

func FuzzFreshnessData(f *testing.F) {
	fuzzPayload[*FreshnessData](f, -1,
		unhex("0000000000000001"),
		unhex("0123456789ABCDEF 000000FA FFFFFFFF FFFFFFFE 00000000"))
}

package codec

import (
	"slices"
	"testing"
)

func TestAppendBits(t *testing.T) {
	var d IOData
	d.AppendBits(0b1010, 4, true)
	d.AppendBits(0xFFFF, 2, false)
	d.AppendBits(0x8000, 0, true)
	if want := []int32{0, 1, 0, 1, Unknown, Unknown}; !slices.Equal(d.Values, want) {
		t.Errorf("%d, want %d", d.Values, want)
	}
}

func TestAppendChannels(t *testing.T) {
	got := AppendChannels([]Channel{{Name: "before"}}, Channel{Number: 4, Role: Output, Unit: "mV", Max: 5}, "a b,c")
	want := []Channel{{Name: "before"}, {Number: 4, Role: Output, Unit: "mV", Max: 5, Name: "a b"},
		{Number: 5, Role: Output, Unit: "mV", Max: 5, Name: "c"}}
	if !slices.Equal(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}

package line

import (
	"testing"
	"time"
)

func TestEntryString(t *testing.T) {
	tests := []struct {
		e    Entry
		want string
	}{
		{Entry{1723 * time.Millisecond, 9600, HostToDevice, []byte{0xFA, 0xFB, 3, 0, 0, 0}, ""},
			"    1.723   9600 H>D FA FB 03 00 00 00"},
		{Entry{3560 * time.Millisecond, 38400, DeviceToHost, []byte{2, 0x80}, "ACK"},
			"    3.560  38400 D>H 02 80   ; ACK"},
		{Entry{12345678 * time.Millisecond, 500000, Remark, nil, "unplugged"},
			"12345.678 500000 -- unplugged"},
	}
	for _, tt := range tests {
		if got := tt.e.String(); got != tt.want {
			t.Errorf("got  %q\nwant %q", got, tt.want)
		}
	}
}

func TestRecordIsBounded(t *testing.T) {
	l := &Line{}
	for i := range keepEntries + 1 {
		l.add(Entry{Baud: i})
	}
	got := l.Record()
	if len(got) != keepEntries/2+1 || got[len(got)-1].Baud != keepEntries || got[0].Baud != keepEntries/2 {
		t.Errorf("%d entries, %d to %d", len(got), got[0].Baud, got[len(got)-1].Baud)
	}
}

package dashboard

import (
	"encoding/hex"
	"strings"
	"testing"
	"time"
)

func TestAppendFrame(t *testing.T) {
	frame := appendFrameHeader(nil, 7, 0x0102)
	frame = appendFrameBlock(frame, 'm', 1500*time.Microsecond, true, []byte{0x11, 0x06, 0x7c})
	frame = appendFrameBlock(frame, 'v', 0, false, nil)
	frame = appendFrameBlock(frame, 's', 100*time.Minute, true, []byte{9})
	frame = appendFrameBlock(frame, 'p', -time.Second, true, nil)
	want := strings.ReplaceAll("00000007 00000102"+
		" 6d 000005dc 0003 11067c"+
		" 76 ffffffff 0000"+
		" 73 fffffffe 0001 09"+
		" 70 00000000 0000", " ", "")
	if got := hex.EncodeToString(frame); got != want {
		t.Errorf("frame %s\nwant  %s", got, want)
	}
	payload := make([]byte, 722)
	if n := testing.AllocsPerRun(100, func() {
		frame = appendFrameBlock(appendFrameHeader(frame[:0], 1, 0), 'l', time.Second, true, payload)
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

package foxglove

import (
	"bytes"
	"encoding/json"
	"sync"
	"sync/atomic"
	"testing"

	"player/e2e/must"
	"player/formats/telemetry"
)

// A picture is encoded once for all viewers, also at one moment, and the next one again.
func TestPictureIsEncodedOnce(t *testing.T) {
	var s shared
	var made atomic.Int64
	robot := telemetry.New("r0", nil)
	send := func(number uint64, at int64) []byte {
		payload, err := payloadOf(s.message(number, at, func() telemetry.CompressedImage {
			made.Add(1)
			return robot.Image("front", at, []byte{byte(number)})
		}))
		if err != nil {
			t.Error(err)
		}
		return payload
	}
	var viewers sync.WaitGroup
	want := must.Get(json.Marshal(robot.Image("front", 5, []byte{1})))(t)
	for range 8 {
		viewers.Go(func() {
			if got := send(1, 5); !bytes.Equal(got, want) {
				t.Errorf("%s, want %s", got, want)
			}
		})
	}
	viewers.Wait()
	if made.Load() != 1 {
		t.Errorf("8 viewers had a picture encoded %d times", made.Load())
	}
	for i, tt := range []struct {
		number uint64
		at     int64
	}{{2, 5}, {2, 6}} { // a picture of a log that is played again has another time
		if got := send(tt.number, tt.at); bytes.Equal(got, want) || made.Load() != int64(i+2) {
			t.Errorf("picture %d at %d: %s, encoded %d times", tt.number, tt.at, got, made.Load())
		}
	}
	s.forget()
	if send(2, 6); made.Load() != 4 {
		t.Errorf("encoded %d times", made.Load())
	}
}

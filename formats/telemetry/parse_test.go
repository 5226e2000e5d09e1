package telemetry

import "testing"

func TestParseVelocity(t *testing.T) {
	for _, tt := range []struct {
		message         string
		speed, turnRate int
		bad             bool
	}{
		{`{"linear":{"x":0.25,"y":1,"z":1},"angular":{"x":1,"y":1,"z":-1.5707963}}`, 250, -90, false},
		{`{"linear":{"x":-0.2}}`, -200, 0, false},
		{`{"angular":{"z":0.5}}`, 0, 29, false},
		{`{}`, 0, 0, false},
		{`{"linear":{"x":1e300},"angular":{"z":-1e300}}`, 32767, -32768, false},
		{`{"linear":{"x":"1"}}`, 0, 0, true},
		{`[1]`, 0, 0, true},
		{``, 0, 0, true},
	} {
		speed, turnRate, err := ParseVelocity([]byte(tt.message))
		if speed != tt.speed || turnRate != tt.turnRate || (err != nil) != tt.bad {
			t.Errorf("%s: %d, %d, %v", tt.message, speed, turnRate, err)
		}
	}
}

func TestParseLogLine(t *testing.T) {
	got, at, err := ParseLogLine([]byte(`{"level":"warn","ts":"2026-07-28T12:15:00.250+0200","msg":"lost","robot":"r0","after":1.5}`))
	if want := (Log{Timestamp: Time{1785233700, 250e6}, Level: 3, Message: "lost after=1.5 robot=r0", Name: "player"}); err != nil || got != want || at != 1785233700250e6 {
		t.Errorf("%+v, %d, %v", got, at, err)
	}
	for _, line := range []string{"", "{}", `{"ts":"yesterday"}`, `[]`} {
		if _, _, err := ParseLogLine([]byte(line)); err == nil {
			t.Errorf("%s: no error", line)
		}
	}
}

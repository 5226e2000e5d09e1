package boards

import (
	"encoding/json"
	"math"
	"time"
)

// UGV is an ESP32 firmware of Waveshare for a UGV Rover (json_cmd.h, uart_ctrl.h, movtion_module.h,
// ugv_advance.h, ugv_config.h of waveshareteam/ugv_base_ros and ugv_base_general): 172 mm between
// the wheels.
type UGV struct {
	Feedback Feedback

	commanded time.Duration
	reported  time.Duration
	silent    bool          // it does not send feedback by itself
	pause     time.Duration // between two of these
}

// Feedback is how a UGV reports, by baseInfoFeedback in ugv_advance.h.
type Feedback int

const (
	// Metres is ugv_base_ros from 86d3b3a of May 2024 on: ways in m, volts.
	Metres Feedback = iota
	// Centimetres is ugv_base_ros since bd82974 of September 2024: ways in whole cm, hundredths of a volt.
	Centimetres
	// Speeds is ugv_base_ros of March 2024 (53c25eb), and ugv_base_general until today (91e5871): no ways. The speeds are
	// of a robot with encoders (mainType 3).
	Speeds
)

const (
	ugvTrack = 0.172           // m
	ugvBeat  = 3 * time.Second // HEART_BEAT_DELAY
	ugvMost  = 2.0             // m/s; faster commands are ignored
)

func (*UGV) baud() int    { return 115200 }
func (*UGV) ends() string { return "\n" }

func (f *UGV) command(b *Board, text string) bool {
	var c struct {
		T          *int
		L, R, X, Z float64
		Cmd        float64 `json:"cmd"`
	}
	if json.Unmarshal([]byte(text), &c) != nil || c.T == nil {
		return false // without an answer
	}
	switch *c.T {
	case 1:
		f.drive(b, c.L, c.R)
	case 13:
		f.drive(b, c.X-c.Z*ugvTrack/2, c.X+c.Z*ugvTrack/2)
	case 130:
		f.report(b)
	case 131:
		f.silent = c.Cmd == 0
	case 142:
		f.pause = time.Duration(math.Abs(c.Cmd)) * time.Millisecond
	case 143: // its echo is off
	default:
		return false
	}
	return true
}

func (f *UGV) drive(b *Board, left, right float64) {
	f.commanded = b.at
	if max(math.Abs(left), math.Abs(right)) <= ugvMost {
		b.state.Speed = [2]float64{left * 1000, right * 1000}
	}
}

// report is baseInfoFeedback. ArduinoJson writes numbers with up to 9 digits.
func (f *UGV) report(b *Board) {
	f.reported = b.at
	s := &b.state
	switch f.Feedback {
	case Centimetres:
		b.say(`{"T":1001,"L":%g,"R":%g,"ax":-100,"ay":60,"az":8224,"gx":-2,"gy":1,"gz":3,"mx":120,"my":-45,"mz":310,`+
			`"odl":%d,"odr":%d,"v":1185}`, s.Speed[0]/1000, s.Speed[1]/1000, int(s.Way[0]/10), int(s.Way[1]/10))
		return
	case Speeds:
		b.say(`{"T":1001,"L":%g,"R":%g,"r":-0.012345678,"p":0.023456789,"y":"null","v":11.85000038}`, s.Speed[0]/1000, s.Speed[1]/1000)
		return
	}
	b.say(`{"T":1001,"L":%g,"R":%g,"r":-0.012345678,"p":0.023456789,"y":1.570796327,"q0":0.707106781,"q1":0,"q2":0,"q3":0.707106781,`+
		`"ax":-12.20703125,"ay":7.32421875,"az":1003.90625,"gx":-0.122137405,"gy":0.061068702,"gz":0.183206107,`+
		`"odl":%.9g,"odr":%.9g,"v":11.85000038}`, s.Speed[0]/1000, s.Speed[1]/1000, s.Way[0]/1000, s.Way[1]/1000)
}

func (f *UGV) tick(b *Board) {
	// Without a pause the period is the firmware's loop, 10 ms, or longer on a slow line: the loop waits for it.
	if !f.silent && (b.Line == nil || !b.Busy()) && b.at-f.reported >= max(f.pause, 10*time.Millisecond) {
		f.report(b)
	}
	if b.at-f.commanded > ugvBeat {
		b.trip()
	}
}

func (f *UGV) restart() { *f = UGV{Feedback: f.Feedback} }

package boards

import (
	"encoding/json"
	"math"
	"time"
)

// Cobra is the ESP32-S3 firmware of a Waveshare Cobra Flex (waveshare.com/wiki/Cobra_Flex, "JSON Communication
// Protocol", as the drivers of LCAS/ros2_cobra_flex and livekit-examples/cobra_flex_ros read it): its wheels have
// 74.5 mm, speeds are tenths of a turn a minute, ways whole centimetres, and the battery hundredths of a volt.
type Cobra struct {
	enabled   bool // its motors obey
	flows     bool // it sends feedback by itself
	commanded time.Duration
	reported  time.Duration
}

const (
	cobraTenth = math.Pi * 74.5 / 60 / 10 // mm/s for a tenth of a turn a minute
	cobraMost  = 1800                     // tenths of a turn a minute
	cobraPause = 50 * time.Millisecond    // not documented: as in the UGV's firmware
	cobraBeat  = 3 * time.Second          // not documented: as in the UGV's firmware
)

func (*Cobra) baud() int    { return 115200 }
func (*Cobra) ends() string { return "\n" }

func (f *Cobra) command(b *Board, text string) bool {
	var c struct {
		T    *int
		L, R float64
		Cmd  float64 `json:"cmd"`
	}
	if json.Unmarshal([]byte(text), &c) != nil || c.T == nil {
		return false // without an answer
	}
	switch *c.T {
	case 1:
		f.commanded = b.at
		for i, speed := range [2]float64{c.L, c.R} {
			if speed = math.Trunc(max(-cobraMost, min(speed, cobraMost))); f.enabled {
				b.state.Speed[i] = speed * cobraTenth
			}
		}
	case 12:
		f.enabled = true
	case 130:
		f.report(b)
	case 131:
		f.flows = c.Cmd != 0
	default:
		return false
	}
	return true
}

func (f *Cobra) report(b *Board) {
	f.reported = b.at
	s := &b.state
	left, right := int(math.Round(s.Speed[0]/cobraTenth)), int(math.Round(s.Speed[1]/cobraTenth))
	b.say(`{"T":1001,"M1":%d,"M2":%d,"M3":%d,"M4":%d,"odl":%d,"odr":%d,"v":1173}`,
		left, right, right, left, int(s.Way[0]/10), int(s.Way[1]/10))
}

func (f *Cobra) tick(b *Board) {
	if f.flows && b.at-f.reported >= cobraPause {
		f.report(b)
	}
	if b.at-f.commanded > cobraBeat {
		b.trip()
	}
}

func (f *Cobra) restart() { *f = Cobra{} }

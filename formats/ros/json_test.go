package ros

import (
	"encoding/json"
	"math"
	"testing"
)

func TestAppendJSON(t *testing.T) {
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	for _, tt := range []struct {
		message any
		want    string
	}{
		{LaserScan{Header: Header{Time{-1, 5}, "a\"b"}, AngleMin: -1.5, RangeMax: inf, Ranges: []float32{0.1, inf, -inf, nan, 1e-9}},
			`{"header":{"stamp":{"sec":-1,"nanosec":5},"frame_id":"a\"b"},"angle_min":-1.5,"angle_max":0,"angle_increment":0,"time_increment":0,"scan_time":0,"range_min":0,"range_max":null,"ranges":[0.1,null,null,null,1e-09],"intensities":[]}`},
		{UInt8MultiArray{Data: []uint8{1, 0, 255}}, `{"layout":{"dim":[],"data_offset":0},"data":"AQD/"}`},
		{Twist{Vector3{X: 0.1}, Vector3{Z: math.NaN()}}, `{"linear":{"x":0.1,"y":0,"z":0},"angular":{"x":0,"y":0,"z":null}}`},
	} {
		if got := string(AppendJSON(nil, tt.message)); got != tt.want || !json.Valid([]byte(got)) {
			t.Errorf("%T:\n%s, want\n%s", tt.message, got, tt.want)
		}
	}
	for _, messages := range packages() {
		for _, m := range messages {
			if got := AppendJSON(nil, m); !json.Valid(got) {
				t.Errorf("%T: %s", m, got)
			}
		}
	}
}

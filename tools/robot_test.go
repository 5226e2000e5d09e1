package tools

import "testing"

func TestCheckDevices(t *testing.T) {
	for request, want := range map[string]bool{
		"lr": true, "srlrpr": true,
		"imu": true, "laser:1,gps": true, "sonar": true,
		"lasers:1": false, "laser:x": false, "imu,": false, "laser:1,lr": false,
		"": false, "l": false, "srl": false, "pw": false, "srpa": false, "yr": false,
	} {
		if err := CheckDevices(request); (err == nil) != want {
			t.Errorf("%q: %v", request, err)
		}
	}
}

package tools

import "testing"

func TestReadable(t *testing.T) {
	for request, want := range map[string]bool{
		"lr": true, "srlrpr": true,
		"": false, "l": false, "srl": false, "pw": false, "srpa": false, "yr": false,
	} {
		if err := Readable(request); (err == nil) != want {
			t.Errorf("%q: %v", request, err)
		}
	}
}

package urg

import (
	"strings"
	"testing"
)

func TestProbe(t *testing.T) {
	described := "PP\n00P\nMODL:URG-04LX;9\nDMIN:20;4\nDMAX:5600;_\nARES:1024;\\\nAMIN:44;7\nAMAX:725;o\nAFRT:384;6\nSCAN:600;e\n\n"
	for name, tt := range map[string]struct {
		heard, model string
		found        bool
	}{
		"nothing":            {"", "", false},
		"described":          {"SCIP2.0\n0Eu\n\n" + described, "URG-04LX", true},
		"half a description": {described[:60], "", false},
		"damaged":            {strings.Replace(described, "AFRT:384", "AFRT:284", 1), "", false},
		"what it was sent":   {string(probe().Ask), "", false},
		"a scan":             {scanOf(20), "", true},
		"text":               {"O 1 2\nS 1 2 3\n\nO 1 2\n", "", false},
	} {
		if a := recognise([]byte(tt.heard)); a.Found != tt.found || a.Model != tt.model {
			t.Errorf("%s: %+v", name, a)
		}
	}
}

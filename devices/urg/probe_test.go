package urg

import (
	"strings"
	"testing"

	"player/devices/devicetest"
)

func TestProbe(t *testing.T) {
	described := "PP\n00P\nMODL:URG-04LX;9\nDMIN:20;4\nDMAX:5600;_\nARES:1024;\\\nAMIN:44;7\nAMAX:725;o\nAFRT:384;6\nSCAN:600;e\n\n"
	answers := devicetest.Probe(t, probe())
	answers("described", "SCIP2.0\n0Eu\n\n"+described, true, "", "URG-04LX")
	answers("half a description", described[:60], false, "", "")
	answers("damaged", strings.Replace(described, "AFRT:384", "AFRT:284", 1), false, "", "")
	answers("a scan", scanOf(20), true, "", "")
	answers("text", "O 1 2\nS 1 2 3\n\nO 1 2\n", false, "", "")
}

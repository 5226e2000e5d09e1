package sicklms200

import (
	"fmt"
	"strings"
	"time"

	"player/devices"
)

// probe asks for the status and then for the type. Both only read. A laser that
// streams is recognised by its scans, and streams on.
func probe() *devices.Probe {
	return &devices.Probe{
		Speeds:    speeds,
		Ask:       AppendStatusRequest(nil),
		Wait:      300 * time.Millisecond,
		Recognise: recognise,
	}
}

// recognise takes any telegram for a laser's: the checksum tells it from noise.
func recognise(heard []byte) (a devices.Answer) {
	var parser Parser
	for t, rest := parser.Next(heard); t != nil; t, rest = parser.Next(rest) {
		a.Found, a.Next = true, nil
		switch t.Code() {
		case CodeStatus:
			a.Next = appendRequest(nil, requestType)
		case CodeType, CodePowerUp:
			a.Model = fmt.Sprintf("%.40q", strings.TrimSpace(string(t.Data())))
		}
	}
	return a
}

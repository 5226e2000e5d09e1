package sicklms200

import (
	"fmt"
	"strings"
	"time"

	"player/devices"
	"player/devices/transport"
)

// probe asks for the status and then for the type. Both only read. A laser that
// streams is recognised by its scans, and streams on.
func probe() *devices.Probe {
	return &devices.Probe{
		Name:      "a SICK laser",
		Speeds:    speeds,
		Ask:       AppendStatusRequest(nil),
		Wait:      300 * time.Millisecond,
		Recognise: recognise,
	}
}

// recognise takes any telegram for a laser's: noise has no valid checksum. A scan may take as
// long as a driver listens at one speed, so its beginning is enough. A false beginning must not
// hide a telegram behind it, so there is no Parser.
func recognise(heard []byte) (a devices.Answer) {
	for i := range heard {
		t := Telegram(heard[i:])
		size, v := inspect(t)
		switch {
		case v == transport.Partial && len(t) > headSize && t.Code() == CodeScan && t[headSize-1] > 0:
			a.Found = true
		case v == transport.Whole:
			t = t[:size]
			a.Found, a.Next = true, nil
			switch t.Code() {
			case CodeStatus:
				a.Next = appendRequest(nil, requestType)
			case CodeType, CodePowerUp:
				a.Model = fmt.Sprintf("%.40q", strings.TrimSpace(string(t.Data())))
			}
		}
	}
	return a
}

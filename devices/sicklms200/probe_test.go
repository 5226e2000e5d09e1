package sicklms200

import (
	"testing"

	"player/devices/devicetest"
)

func TestProbe(t *testing.T) {
	const request = "\x02\x00\x01\x00\x31\x15\x12" // the LMS-200's manual, request of the status
	p := probe()
	if string(p.Ask) != request || len(p.Leave) != 0 {
		t.Errorf("ask % X, leave % X", p.Ask, p.Leave)
	}
	telegram := func(code Code, data string) string {
		return string(appendTelegram(nil, addressHost, byte(code), append([]byte(data), 0x10)...))
	}
	answers := devicetest.Probe(t, p)
	answers("a wrong CRC", "\x02\x80\x02\x00\x92\x10\x00\x00", false, "", "")
	answers("status", "junk"+telegram(CodeStatus, "V02.10 "), true, string(appendRequest(nil, requestType)), "")
	answers("it does not tell its status", telegram(CodeNack, ""), true, "", "")
	answers("a scan", telegram(CodeScan, "\x01\x40\x10\x00"), true, "", "")
	answers("type", telegram(CodeType, "LMS200;30106;V02.10 "), true, "", `"LMS200;30106;V02.10"`)
}

package sicklms200

import "testing"

func TestProbeAsks(t *testing.T) {
	const status = "\x02\x00\x01\x00\x31\x15\x12" // the LMS-200's manual, request of the status
	if p := probe(); string(p.Ask) != status || len(p.Leave) != 0 {
		t.Errorf("ask % X, leave % X", p.Ask, p.Leave)
	}
}

func TestRecognise(t *testing.T) {
	telegram := func(code Code, data string) string {
		return string(appendTelegram(nil, addressHost, byte(code), append([]byte(data), 0x10)...))
	}
	status := telegram(CodeStatus, "V02.10 ")
	kind := string(appendRequest(nil, requestType))
	for _, tt := range []struct {
		name, heard string
		found       bool
		next, model string
	}{
		{"nothing", "", false, "", ""},
		{"noise", "\x02\x80\x02\x00\x92\x10\x00\x00", false, "", ""},
		{"a line that returns what it is sent", string(probe().Ask), false, "", ""},
		{"status", "junk" + status, true, kind, ""},
		{"it does not tell its status", telegram(CodeNack, ""), true, "", ""},
		{"a scan", telegram(CodeScan, "\x01\x40\x10\x00"), true, "", ""},
		{"type", telegram(CodeType, "LMS200;30106;V02.10 "), true, "", `"LMS200;30106;V02.10"`},
	} {
		a := recognise([]byte(tt.heard))
		if a.Found != tt.found || string(a.Next) != tt.next || a.Model != tt.model {
			t.Errorf("%s: %v, next % X, %s", tt.name, a.Found, a.Next, a.Model)
		}
	}
}

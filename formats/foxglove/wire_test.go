package foxglove

import (
	"bytes"
	"reflect"
	"testing"
)

func TestText(t *testing.T) {
	for _, tt := range []struct {
		op      string
		content any
		want    string
	}{
		{"status", Status{StatusError, "no <b>"}, `{"op":"status","level":2,"message":"no \u003cb\u003e"}`},
		{"empty", struct{}{}, `{"op":"empty"}`},
		{"serverInfo", ServerInfo{Name: "Player", Capabilities: []string{"services"}, SupportedEncodings: []string{"json"}, SessionID: "7"},
			`{"op":"serverInfo","name":"Player","capabilities":["services"],"supportedEncodings":["json"],"sessionId":"7"}`},
		{"parameterValues", ParameterValues{Parameters: []Parameter{{"/r.rate", 10.0, "float64"}}},
			`{"op":"parameterValues","parameters":[{"name":"/r.rate","value":10,"type":"float64"}]}`},
		{"parameterValues", ParameterValues{Parameters: []Parameter{{"/r.devices", map[string]string{"laser": "ready"}, ""}}, ID: "4"},
			`{"op":"parameterValues","parameters":[{"name":"/r.devices","value":{"laser":"ready"}}],"id":"4"}`},
		{"serviceCallFailure", ServiceFailure{1, 2, "x"}, `{"op":"serviceCallFailure","serviceId":1,"callId":2,"message":"x"}`},
	} {
		if got, err := Text(tt.op, tt.content); err != nil || string(got) != tt.want {
			t.Errorf("%s, %v\nwant %s", got, err, tt.want)
		}
	}
}

// The bytes are the ones in the tables of the specification.
func TestBinary(t *testing.T) {
	if got := AppendMessageData(nil, 0x01020304, 0x1122334455667788, []byte("{}")); !bytes.Equal(got, []byte("\x01\x04\x03\x02\x01\x88\x77\x66\x55\x44\x33\x22\x11{}")) {
		t.Errorf("message data %x", got)
	}
	if got := AppendServiceResponse(nil, ServiceCall{7, 9, "json", nil}, []byte("{}")); !bytes.Equal(got, []byte("\x03\x07\x00\x00\x00\x09\x00\x00\x00\x04\x00\x00\x00json{}")) {
		t.Errorf("service response %x", got)
	}
	if got := AppendPlayback(nil, Ended, 0x1122334455667788, 0.5, true, "id"); !bytes.Equal(got, []byte("\x05\x03\x88\x77\x66\x55\x44\x33\x22\x11\x00\x00\x00\x3f\x01\x02\x00\x00\x00id")) {
		t.Errorf("playback %x", got)
	}
	for _, tt := range []struct {
		message string
		want    any // nil: an error
	}{
		{"\x01\x04\x03\x02\x01{}", MessageData{0x01020304, []byte("{}")}},
		{"\x01\x04\x03\x02\x01", MessageData{0x01020304, []byte{}}},
		{"\x01\x04\x03\x02", nil},
		{"\x02\x07\x00\x00\x00\x09\x00\x00\x00\x04\x00\x00\x00json{}", ServiceCall{7, 9, "json", []byte("{}")}},
		{"\x02\x07\x00\x00\x00\x09\x00\x00\x00\x04\x00\x00\x00json", ServiceCall{7, 9, "json", []byte{}}},
		{"\x02\x07\x00\x00\x00\x09\x00\x00\x00\x05\x00\x00\x00json", nil},
		{"\x02\x07\x00\x00\x00\x09\x00\x00\x00\xff\xff\xff\xffjson", nil},
		{"\x02\x07\x00\x00\x00\x09\x00\x00\x00\x04\x00\x00", nil},
		{"\x03\x01\x00\x00\x00\x3f\x01\x88\x77\x66\x55\x44\x33\x22\x11\x02\x00\x00\x00id", PlaybackControl{true, 0.5, true, 0x1122334455667788, "id"}},
		{"\x03\x00\x00\x00\x80\x3f\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00", PlaybackControl{Speed: 1}},
		{"\x03\x00\x00\x00\x80\x3f\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00", nil},
		{"\x03\x00\x00\x00\x80\x3f\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00", nil},
		{"\x09\x00\x00\x00\x00", nil},
		{"", nil},
	} {
		got, err := ParseBinary([]byte(tt.message))
		if (err != nil) != (tt.want == nil) || err == nil && !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%x: %+v, %v", tt.message, got, err)
		}
	}
}

package p2os

import (
	"encoding/binary"
	"testing"
	"time"
)

// Every model drives a metre, which its SIPs report in its own units, and lists each of
// its sonars.
func TestModels(t *testing.T) {
	for _, name := range Models() {
		b := opened(t, Options{Subclass: name})
		m := b.model
		for i := range m.sonars {
			b.SetSonar(i, float64(1000+10*i))
		}
		heard := map[byte]bool{}
		b.say("0B 3B F4 01") // VEL 500
		for range 20 {
			b.sent = nil
			b.say("00")
			b.run(100 * time.Millisecond)
			body, ok := parsePacket(b.sent[0])
			if !ok {
				t.Fatalf("%s: % X", name, b.sent)
			}
			if speed := float64(int16(binary.LittleEndian.Uint16(body[7:]))) * m.velocity; !near(speed, 500, m.velocity) {
				t.Errorf("%s: wheel at %v mm/s", name, speed)
			}
			for list := body[20 : 20+3*body[19]]; len(list) > 0; list = list[3:] {
				heard[list[0]] = true
				if mm := float64(binary.LittleEndian.Uint16(list[1:])) * m.echo; !near(mm, float64(1000+10*int(list[0])), 1) {
					t.Errorf("%s: sonar %d reads %v mm", name, list[0], mm)
				}
			}
		}
		last, _ := parsePacket(b.sent[0])
		wrap := float64(int(1)<<m.bits) * m.unit
		if mm := float64(binary.LittleEndian.Uint16(last[1:])) * m.unit; !near(mm, 1000, m.unit+3) && !near(mm+wrap, 1000, m.unit+3) {
			t.Errorf("%s: after 1000 mm x is %v mm, it wraps at %v", name, mm, wrap)
		}
		want := len(m.sonars)
		if name == "powerbot" || name == "powerbot-sh" {
			want = 28
		}
		if len(heard) != want {
			t.Errorf("%s: %d sonars, want %d", name, len(heard), want)
		}
	}
	if CheckModel("p3dx-sh") != nil || CheckModel("p4dx") == nil {
		t.Error("the models are checked wrongly")
	}
}

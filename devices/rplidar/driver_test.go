package rplidar

import (
	"bytes"
	"encoding/binary"
	"math"
	"testing"
	"time"

	"player/codec"
	"player/devices/devicetest"
	"player/devices/transport/transporttest"
)

// The answers of an A1 to the driver's requests before it scans.
const (
	infoA1    = "A5 5A 14 00 00 00 04 18 1D 01 07 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00"
	healthOK  = "A5 5A 03 00 00 00 06 00 00 00"
	expressA1 = "A5 5A 54 00 00 40 82"
)

// startA1 opens the driver with an A1 behind it, which has been asked for an express scan.
func startA1(t *testing.T) *transporttest.Bench {
	t.Helper()
	b, driver := transporttest.NewKind(t, Kind())
	b.Heard = func(p *transporttest.Port, sent []byte) {
		for request, answer := range map[Request]string{GetInfo: infoA1, GetHealth: healthOK, ExpressScan: expressA1} {
			if bytes.HasPrefix(sent, []byte{requestStart, byte(request)}) {
				p.Say(devicetest.Hex(t, answer))
			}
		}
	}
	b.Subscribe()
	if !b.Until(func() bool { return driver.(*Driver).stream == answerExpress }, setupTime) {
		t.Fatal("no scan was asked for")
	}
	return b
}

// TestMotorOfA1: the motor of an A1 runs while DTR is released, and stops when the driver
// has ended.
func TestMotorOfA1(t *testing.T) {
	b := startA1(t)
	if b.Port().DTR {
		t.Error("DTR is asserted in a scan: the motor stands")
	}
	turn(b, -1, nil)
	turn(b, -1, nil)
	b.Unsubscribe()
	b.Pass(time.Second)
	if p := b.Port(); !p.Closed || !p.DTR || !bytes.HasSuffix(p.Wrote, AppendRequest(nil, Stop)) {
		t.Errorf("closed %v, DTR %v, written at last % X", p.Closed, p.DTR, p.Wrote[len(p.Wrote)-2:])
	}
}

// width is how many degrees a packet of turn spans.
const width = 15

// distanceAt is the distance in mm that turn sends for an angle: another one for each.
func distanceAt(degrees float64) float64 { return 2000 + 10*degrees }

// turn sends a revolution in packets of an express scan. In place of the packet that begins at
// the angle spoiled it sends the result of spoil.
func turn(b *transporttest.Bench, spoiled int, spoil func(p []byte) []byte) {
	for start := 0; start < 360; start += width {
		p := packet(uint16(start*64), 0, 0, 0, 0, 0)
		for k := range 2 * cabins {
			mm := math.Round(distanceAt(float64(start) + float64(k)*width/(2*cabins)))
			binary.LittleEndian.PutUint16(p[4+k/2*5+k%2*2:], uint16(mm)<<2)
		}
		sum := byte(0)
		for _, b := range p[2:] {
			sum ^= b
		}
		p[0], p[1] = 0xA0|sum&0xF, 0x50|sum>>4
		if start == spoiled {
			p = spoil(p)
		}
		b.Port().Say(p)
		b.Pass(5 * time.Millisecond)
	}
}

// TestDamagedPacketMovesNothing: the angles of a packet follow from the next one. Behind a
// damaged one they are not known, and the samples before it do not fill its place, nor the place of
// a packet that an adapter has lost as a whole.
func TestDamagedPacketMovesNothing(t *testing.T) {
	tests := map[string]func(p []byte) []byte{
		"damaged": func(p []byte) []byte { p[50] ^= 4; return p },
		"lost":    func([]byte) []byte { return nil },
	}
	for name, spoil := range tests {
		t.Run(name, func(t *testing.T) {
			b := startA1(t)
			for range 3 {
				turn(b, 2*width, spoil)
			}
			seen := 0
			for i, mm := range transporttest.Data[codec.LaserData](t, b.Client) {
				degrees := math.Mod(90-float64(i)/2+360, 360) // clockwise
				if mm == 12000 {
					continue
				}
				seen++
				if off := math.Abs(float64(mm) - distanceAt(degrees)); off > 15 && degrees > 1 {
					t.Errorf("at %v degrees: %d mm, want %v", degrees, mm, distanceAt(degrees))
				}
			}
			if seen < 361-2*(2*width+4) {
				t.Errorf("%d readings", seen)
			}
		})
	}
}

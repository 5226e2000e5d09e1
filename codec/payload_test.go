package codec

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"player/e2e/must"
)

// payload is implemented by all data and commands.
type payload interface {
	Append(dst []byte) []byte
	Decode(b []byte) error
}

func unhex(s string) []byte {
	b, err := hex.DecodeString(strings.Join(strings.Fields(s), ""))
	if err != nil {
		panic(err)
	}
	return b
}

// One value of each fixed layout, with no two fields equal, and its bytes by
// tables 5 and 7 of the manual.
var fixedPayloads = []struct {
	name  string
	size  int
	value payload
	empty func() payload
	bytes string
}{
	{"position", 21, &PositionData{Time: 123456, X: 1111, Y: -2222, Heading: 45, Speed: 100, TurnRate: -20, Compass: 270, Stall: 1},
		func() payload { return new(PositionData) },
		"0001E240 00000457 FFFFF752 002D 0064 FFEC 010E 01"},
	{"sonar", 32, &SonarData{1000, 1100, 1200, 1300, 1400, 1500, 1600, 1700, 1800, 1900, 2000, 2100, 2200, 2300, 2400, 65535},
		func() payload { return new(SonarData) },
		"03E8 044C 04B0 0514 0578 05DC 0640 06A4 0708 076C 07D0 0834 0898 08FC 0960 FFFF"},
	{"laser", 722, &LaserData{0: 2000, 1: 2001, 180: 8191, 360: 1},
		func() payload { return new(LaserData) },
		"07D0 07D1" + strings.Repeat("0000", 178) + "1FFF" + strings.Repeat("0000", 179) + "0001"},
	{"misc", 3, &MiscData{FrontBumpers: 0b10001, RearBumpers: 0b00110, Battery: 124},
		func() payload { return new(MiscData) },
		"11 06 7C"},
	{"gripper", 2, &GripperData{State: PaddlesClosed | LiftUp, Beams: OuterBeam | RightPaddleOpen},
		func() payload { return new(GripperData) },
		"12 24"},
	{"ptz", 6, &PTZData{Pan: -30, Tilt: 10, Zoom: 512},
		func() payload { return new(PTZData) },
		"FFE2 000A 0200"},
	{"joystick", 20, &JoystickData{Buttons: 1<<31 | 5, Axes: [JoystickAxes]int16{-32767, 32767, 1, 2, 3, 4, 5, -6}},
		func() payload { return new(JoystickData) },
		"80000005 8001 7FFF 0001 0002 0003 0004 0005 FFFA"},
	{"position command", 4, &PositionCommand{Speed: -300, TurnRate: 20},
		func() payload { return new(PositionCommand) },
		"FED4 0014"},
	{"ptz command", 6, &PTZCommand{Pan: 100, Tilt: -25, Zoom: 1023},
		func() payload { return new(PTZCommand) },
		"0064 FFE7 03FF"},
	{"gripper command", 2, &GripperCommand{Code: LiftCarry, Arg: 20},
		func() payload { return new(GripperCommand) },
		"11 14"},
	// PROTOCOL 7.10, 7.11 and 5.1.
	{"imu", 36, &IMUData{Roll: -1000, Pitch: 2000, Yaw: 90000, RollRate: Unknown, PitchRate: 5, YawRate: -6, X: 7, Y: -8, Z: 9807},
		func() payload { return new(IMUData) },
		"FFFFFC18 000007D0 00015F90 80000000 00000005 FFFFFFFA 00000007 FFFFFFF8 0000264F"},
	{"gps", 38, &GPSData{Fix: RTKFix, Satellites: 12, Latitude: -338567890, Longitude: 1512345678, Height: 42000, Horizontal: 14, Vertical: UnknownAmount,
		Time: 1795804800123, Speed: 1500, Course: 359999},
		func() payload { return new(GPSData) },
		"04 0C EBD1DD2E 5A24904E 0000A410 0000000E FFFFFFFF 000001A21E4EA47B 000005DC 00057E3F"},
	{"io command", 5, &IOCommand{Channel: 7, Value: -2},
		func() payload { return new(IOCommand) },
		"07 FFFFFFFE"},
	{"servo command", 9, &ServoCommand{Joint: 3, Goal: -45000, Speed: 60000},
		func() payload { return new(ServoCommand) },
		"03 FFFF5038 0000EA60"},
	// PROTOCOL 7.14 and 5.1.
	{"goto", 18, &GotoData{State: GotoStopped, Reason: GotoByOther, Tag: 513, X: -1200, Y: 4500, Heading: 270, Distance: 4657},
		func() payload { return new(GotoData) },
		"04 02 0201 FFFFFB50 00001194 010E 00001231"},
	{"goto command", 20, &GotoCommand{X: 4500, Y: -1200, Heading: AnyHeading, Speed: 300, TurnRate: 34, Tolerance: 50, Radius: 250, Tag: 513},
		func() payload { return new(GotoCommand) },
		"00001194 FFFFFB50 FFFF 012C 0022 0032 00FA 0201"},
}

// The payloads whose size depends on the hardware (PROTOCOL 7.9, 7.12 and 7.13).
var openPayloads = []struct {
	name  string
	value payload
	empty func() payload
	bytes string
	wrong []string
}{
	{"ranger", &RangerData{Unit: 2, Ranges: []uint16{0, 1, MaxReading, NothingInRange, UnknownRange}},
		func() payload { return new(RangerData) },
		"0002 0000 0001 FFFD FFFE FFFF", []string{"", "01", "0000", "0000 0001", "0001 00", "0001" + strings.Repeat("0000", MaxReadings+1)}},
	{"io", &IOData{Values: []int32{0, 1, -5, Unknown}},
		func() payload { return new(IOData) },
		"00000000 00000001 FFFFFFFB 80000000", []string{"00", "000000", "0000000000", strings.Repeat("00000000", MaxChannels+1)}},
	{"servo", &ServoData{Joints: []Joint{{1, Unknown, JointKnown | JointMoving}, {-2, 3, 0}}},
		func() payload { return new(ServoData) },
		"00000001 80000000 81 FFFFFFFE 00000003 00", []string{"00", strings.Repeat("00", 8), strings.Repeat("00", 9*(MaxJoints+1))}},
}

func TestOpenPayloads(t *testing.T) {
	for _, tt := range openPayloads {
		want := unhex(tt.bytes)
		if got := tt.value.Append([]byte("ab")); string(got) != "ab"+string(want) {
			t.Errorf("%s encoded % X\nwant    % X", tt.name, got[2:], want)
		}
		got := tt.empty()
		must.Do(t, got.Decode(append(bytes.Clone(want), want...)))
		must.Do(t, got.Decode(want))
		if !reflect.DeepEqual(got, tt.value) {
			t.Errorf("%s decoded %+v, want %+v", tt.name, got, tt.value)
		}
		for _, wrong := range tt.wrong {
			if err := tt.empty().Decode(unhex(wrong)); err == nil {
				t.Errorf("%s of %d bytes was decoded", tt.name, len(wrong)/2)
			}
		}
	}
	long := RangerData{Unit: 1, Ranges: make([]uint16, MaxReadings+1)}
	if got := len(long.Append(nil)); got != MaxRangerSize {
		t.Errorf("a ranger of too many readings has %d bytes, want %d", got, MaxRangerSize)
	}
}

func TestReadingsInMM(t *testing.T) {
	d := RangerData{Unit: 10, Ranges: []uint16{0, MaxReading, NothingInRange, UnknownRange}}
	for i, want := range []struct {
		mm int
		ok bool
	}{{0, true}, {10 * MaxReading, true}, {0, false}, {0, false}} {
		if mm, ok := d.MM(i); ok != want.ok || ok && mm != want.mm {
			t.Errorf("reading %d: %d mm, %v", i, mm, ok)
		}
	}
}

// Nothing that is unknown looks like a measurement.
func TestUnknown(t *testing.T) {
	imu, gps := UnknownIMU(), UnknownGPS()
	for _, f := range imu.fields() {
		if *f != Unknown {
			t.Errorf("%+v", imu)
		}
	}
	if gps.HasPlace() {
		t.Errorf("%+v", gps)
	}
	if gps.Latitude, gps.Longitude = 0, 0; !gps.HasPlace() {
		t.Error("a place on the equator is none")
	}
	if gps.Fix = NoFix; gps.HasPlace() {
		t.Error("a place without a fix")
	}
}

// Every state and reason has a word of its own, and an unknown one its number.
func TestGotoWords(t *testing.T) {
	words := map[string]bool{}
	for s := GotoIdle; s <= GotoStopped; s++ {
		words[s.String()] = true
		if want := s == GotoDriving || s == GotoBlocked; s.Active() != want {
			t.Errorf("%v is active: %v", s, !want)
		}
	}
	for r := GotoNoReason; r <= GotoMotors; r++ {
		words[r.String()] = true
	}
	if len(words) != int(GotoStopped)+int(GotoMotors)+2 || GotoState(99).String() != "99" || GotoReason(99).String() != "99" {
		t.Errorf("%v", words)
	}
}

func TestFixedPayloads(t *testing.T) {
	for _, tt := range fixedPayloads {
		t.Run(tt.name, func(t *testing.T) {
			want := unhex(tt.bytes)
			if got := tt.value.Append([]byte("ab")); string(got) != "ab"+string(want) {
				t.Fatalf("encoded % X\nwant    % X", got[2:], want)
			}
			if len(want) != tt.size {
				t.Fatalf("%d bytes, the table says %d", len(want), tt.size)
			}
			got := tt.empty()
			must.Do(t, got.Decode(bytes.Repeat([]byte{0xFF}, tt.size))) // leaves no zero bytes
			must.Do(t, got.Decode(want))
			if !reflect.DeepEqual(got, tt.value) {
				t.Fatalf("decoded %+v, want %+v", got, tt.value)
			}
			for size := range tt.size + 3 {
				if size == tt.size {
					continue
				}
				err := got.Decode(make([]byte, size))
				if err == nil || !strings.HasSuffix(err.Error(), fmt.Sprintf(" payload has %d bytes, want %d", size, tt.size)) {
					t.Errorf("%d bytes: %v", size, err)
				}
				if !reflect.DeepEqual(got, tt.value) {
					t.Fatalf("%d bytes changed the value: %+v", size, got)
				}
			}
		})
	}
}

// The bits of table 7, lowest first.
func TestGripperBits(t *testing.T) {
	for i, bit := range []uint8{PaddlesOpen, PaddlesClosed, PaddlesMoving, PaddlesError, LiftUp, LiftDown, LiftMoving, LiftError} {
		if bit != 1<<i {
			t.Errorf("state bit %d is %#x", i, bit)
		}
	}
	for i, bit := range []uint8{GripLimit, LiftLimit, OuterBeam, InnerBeam, LeftPaddleOpen, RightPaddleOpen} {
		if bit != 1<<i {
			t.Errorf("beam bit %d is %#x", i, bit)
		}
	}
}

func TestSizeErrorText(t *testing.T) {
	err := new(PTZData).Decode(make([]byte, 5))
	if got, want := err.Error(), "ptz payload has 5 bytes, want 6"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// fuzzPayload checks that a decoded payload encodes to the same bytes. A
// layout of fixed size (size >= 0) decodes if and only if the size is right.
func fuzzPayload[P interface {
	*T
	payload
}, T any](f *testing.F, size int, seeds ...[]byte) {
	for _, b := range seeds {
		f.Add(b)
		f.Add(b[:len(b)-1])
		f.Add(append(b, 1))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		p := P(new(T))
		err := p.Decode(b)
		if size >= 0 && (err == nil) != (len(b) == size) {
			t.Fatalf("%d bytes, layout has %d: %v", len(b), size, err)
		}
		if err != nil {
			return
		}
		if got := p.Append(nil); !bytes.Equal(got, b) {
			t.Fatalf("encoded % X\nfrom    % X", got, b)
		}
	})
}

func FuzzPositionData(f *testing.F) { fuzzPayload[*PositionData](f, PositionSize, seed("position")) }
func FuzzSonarData(f *testing.F)    { fuzzPayload[*SonarData](f, SonarSize, seed("sonar")) }
func FuzzLaserData(f *testing.F)    { fuzzPayload[*LaserData](f, LaserSize, seed("laser")) }
func FuzzMiscData(f *testing.F)     { fuzzPayload[*MiscData](f, MiscSize, seed("misc")) }
func FuzzGripperData(f *testing.F)  { fuzzPayload[*GripperData](f, GripperSize, seed("gripper")) }
func FuzzPTZData(f *testing.F)      { fuzzPayload[*PTZData](f, PTZSize, seed("ptz")) }
func FuzzJoystickData(f *testing.F) {
	fuzzPayload[*JoystickData](f, JoystickSize, seed("joystick"))
}
func FuzzGripperCommand(f *testing.F) {
	fuzzPayload[*GripperCommand](f, GripperCommandSize, seed("gripper command"))
}
func FuzzPositionCommand(f *testing.F) {
	fuzzPayload[*PositionCommand](f, PositionCommandSize, seed("position command"))
}

func FuzzIMUData(f *testing.F)  { fuzzPayload[*IMUData](f, IMUSize, seed("imu")) }
func FuzzGPSData(f *testing.F)  { fuzzPayload[*GPSData](f, GPSSize, seed("gps")) }
func FuzzGotoData(f *testing.F) { fuzzPayload[*GotoData](f, GotoSize, seed("goto")) }
func FuzzGotoCommand(f *testing.F) {
	fuzzPayload[*GotoCommand](f, GotoCommandSize, seed("goto command"))
}
func FuzzRangerData(f *testing.F) { fuzzPayload[*RangerData](f, -1, unhex(openPayloads[0].bytes)) }
func FuzzIOData(f *testing.F)     { fuzzPayload[*IOData](f, -1, unhex(openPayloads[1].bytes)) }
func FuzzServoData(f *testing.F)  { fuzzPayload[*ServoData](f, -1, unhex(openPayloads[2].bytes)) }

func seed(name string) []byte {
	for _, p := range fixedPayloads {
		if p.name == name {
			return unhex(p.bytes)
		}
	}
	panic("no payload " + name)
}

func TestPayloadsAllocate(t *testing.T) {
	type check struct {
		name string
		size int
		p    payload
	}
	checks := []check{
		{"vision", MaxVisionSize, fullVision()},
		{"freshness", 36, &FreshnessData{Time: 1, Ages: make([]uint32, 7)}},
	}
	for _, tt := range fixedPayloads {
		checks = append(checks, check{tt.name, tt.size, tt.value})
	}
	for _, tt := range checks {
		dst := make([]byte, 0, tt.size)
		if n := testing.AllocsPerRun(100, func() { dst = tt.p.Append(dst[:0]) }); n != 0 {
			t.Errorf("%s: appending allocates %v times", tt.name, n)
		}
		if n := testing.AllocsPerRun(100, func() {
			if err := tt.p.Decode(dst); err != nil {
				t.Error(err)
			}
		}); n != 0 {
			t.Errorf("%s: decoding allocates %v times", tt.name, n)
		}
	}
}

// frameOfSeven is the frame of the original's scaling experiments: all seven
// devices, vision without data.
type frameOfSeven struct {
	laser    LaserData
	sonar    SonarData
	position PositionData
	misc     MiscData
	gripper  GripperData
	ptz      PTZData
}

func (f *frameOfSeven) append(dst []byte) []byte {
	dst = f.laser.Append(AppendBlockHeader(dst, Laser, LaserSize))
	dst = f.sonar.Append(AppendBlockHeader(dst, Sonar, SonarSize))
	dst = f.position.Append(AppendBlockHeader(dst, Position, PositionSize))
	dst = f.gripper.Append(AppendBlockHeader(dst, Gripper, GripperSize))
	dst = f.misc.Append(AppendBlockHeader(dst, Misc, MiscSize))
	dst = f.ptz.Append(AppendBlockHeader(dst, PTZ, PTZSize))
	return AppendBlockHeader(dst, Vision, 0)
}

func TestFrameOfSeven(t *testing.T) {
	var f frameOfSeven
	frame := f.append(nil)
	if len(frame) != 807 {
		t.Fatalf("%d bytes, want 807", len(frame))
	}
	for i, want := range []struct {
		letter byte
		size   int
	}{{'l', 722}, {'s', 32}, {'p', 21}, {'g', 2}, {'m', 3}, {'z', 6}, {'v', 0}} {
		letter, p, rest, ok := Block(frame)
		if !ok || letter != want.letter || len(p) != want.size {
			t.Fatalf("block %d is %q of %d bytes, want %q of %d", i, letter, len(p), want.letter, want.size)
		}
		frame = rest
	}
	dst := make([]byte, 0, 807)
	if n := testing.AllocsPerRun(100, func() { dst = f.append(dst[:0]) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkAppendFrame(b *testing.B) {
	var f frameOfSeven
	dst := make([]byte, 0, 807)
	b.SetBytes(807)
	b.ReportAllocs()
	for b.Loop() {
		dst = f.append(dst[:0])
	}
}

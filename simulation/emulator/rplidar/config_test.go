package rplidar

import (
	"encoding/binary"
	"encoding/hex"
	"math"
	"strings"
	"testing"

	"player/e2e/needs"
	"player/simulation/emulator/internal/rawhost"
	"player/simulation/emulator/line"
	"player/simulation/emulator/room"
)

func start(t *testing.T, opts Options) *rawhost.Host {
	t.Helper()
	needs.Programs(t)
	opts.Line = line.Options{Link: rawhost.Link(t), Baud: 115200}
	d, err := Start(opts)
	rawhost.Plugged(t, d, err)
	return rawhost.Open(t, d.Port(), 115200)
}

// ask is a request with its payload, as hosts seal it: the checksum is the exclusive or of all
// bytes.
func ask(request string) string {
	b, err := hex.DecodeString(strings.Join(strings.Fields(request), ""))
	if err != nil {
		panic(err)
	}
	return request + hex.EncodeToString([]byte{line.Xor(b)})
}

// The requests are those that rplidar_sdk sends, the answers as it reads them (sl_lidar_cmd.h).
// It fills requests for the configuration to 36 bytes.
func TestAnswers(t *testing.T) {
	const health, healthy = "A5 52", "A5 5A 03 00 00 00 06 00 00 00"
	long := strings.Repeat("00 ", 28)
	tests := map[string]struct {
		opts     Options
		ask, get string // nothing: the next request is answered
	}{
		"sample rates":            {Options{}, "A5 59", "A5 5A 04 00 00 00 15 F4 01 FA 00"},
		"sample rates, old":       {Options{NoExpress: true}, "A5 59", ""},
		"adapter of an A1":        {Options{}, ask("A5 FF 04 00 00 00 00"), "A5 5A 04 00 00 00 FF 00 00 00 00"},
		"adapter of an A2":        {Options{Model: A2}, ask("A5 FF 04 00 00 00 00"), "A5 5A 04 00 00 00 FF 01 00 00 00"},
		"modes":                   {Options{}, ask("A5 84 24 70 00 00 00" + long + "00 00 00 00"), "A5 5A 06 00 00 00 20 70 00 00 00 03 00"},
		"modes, short":            {Options{}, ask("A5 84 04 70 00 00 00"), "A5 5A 06 00 00 00 20 70 00 00 00 03 00"},
		"modes, old":              {Options{NoExpress: true}, ask("A5 84 04 70 00 00 00"), ""},
		"typical, A1":             {Options{}, ask("A5 84 04 7C 00 00 00"), "A5 5A 06 00 00 00 20 7C 00 00 00 02 00"},
		"typical, S2":             {Options{Model: S2, Mode: 1}, ask("A5 84 04 7C 00 00 00"), "A5 5A 06 00 00 00 20 7C 00 00 00 01 00"},
		"microseconds":            {Options{}, ask("A5 84 24 71 00 00 00 01 00" + long + "00 00"), "A5 5A 08 00 00 00 20 71 00 00 00 00 FA 00 00"},
		"distance":                {Options{Model: S2}, ask("A5 84 06 74 00 00 00 00 00"), "A5 5A 08 00 00 00 20 74 00 00 00 00 1E 00 00"},
		"data of mode 0":          {Options{}, ask("A5 84 06 75 00 00 00 00 00"), "A5 5A 05 00 00 00 20 75 00 00 00 81"},
		"data of mode 1":          {Options{}, ask("A5 84 06 75 00 00 00 01 00"), "A5 5A 05 00 00 00 20 75 00 00 00 82"},
		"data of mode 2":          {Options{}, ask("A5 84 06 75 00 00 00 02 00"), "A5 5A 05 00 00 00 20 75 00 00 00 84"},
		"data of mode 1, S2":      {Options{Model: S2}, ask("A5 84 06 75 00 00 00 01 00"), "A5 5A 05 00 00 00 20 75 00 00 00 85"},
		"data of no mode":         {Options{}, ask("A5 84 06 75 00 00 00 03 00"), ""},
		"data without a mode":     {Options{}, ask("A5 84 04 75 00 00 00"), ""},
		"name":                    {Options{}, ask("A5 84 06 7F 00 00 00 01 00"), "A5 5A 0C 00 00 00 20 7F 00 00 00 45 78 70 72 65 73 73 00"},
		"desired speed":           {Options{Model: A2}, ask("A5 84 04 01 00 00 00"), "A5 5A 08 00 00 00 20 01 00 00 00 58 02 94 02"},
		"slowest":                 {Options{Model: S2}, ask("A5 84 04 04 00 00 00"), "A5 5A 06 00 00 00 20 04 00 00 00 2C 01"},
		"fastest":                 {Options{Model: S2}, ask("A5 84 04 05 00 00 00"), "A5 5A 06 00 00 00 20 05 00 00 00 84 03"},
		"unknown entry":           {Options{}, ask("A5 84 04 7E 00 00 00"), ""},
		"unknown entry, far":      {Options{}, ask("A5 84 04 70 00 01 00"), ""},
		"bad checksum":            {Options{}, "A5 84 04 70 00 00 00 00", ""},
		"no payload":              {Options{}, ask("A5 84 00"), ""},
		"speed without payload":   {Options{Model: A2}, ask("A5 F0 00"), ""},
		"express without payload": {Options{}, ask("A5 82 00"), ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			h := start(t, test.opts)
			h.Ask(test.ask, test.get)
			h.Ask(health, healthy)
		})
	}
}

// Descriptors of scans, by the mode that is asked for. An empty one means that none comes.
func TestScanModes(t *testing.T) {
	tests := map[string]struct {
		opts     Options
		ask, get string
	}{
		"standard":    {Options{}, "A5 20", "A5 5A 05 00 00 40 81"},
		"force":       {Options{}, "A5 21", "A5 5A 05 00 00 40 81"},
		"express":     {Options{}, ask("A5 82 05 00 00 00 00 00"), "A5 5A 54 00 00 40 82"},
		"express, 1":  {Options{}, ask("A5 82 05 01 00 00 00 00"), "A5 5A 54 00 00 40 82"},
		"ultra":       {Options{}, ask("A5 82 05 02 00 00 00 00"), "A5 5A 84 00 00 40 84"},
		"dense":       {Options{Model: S2}, ask("A5 82 05 01 00 00 00 00"), "A5 5A 54 00 00 40 85"},
		"ultra of S3": {Options{Model: S3}, ask("A5 82 05 02 00 00 00 00"), "A5 5A 84 00 00 40 84"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) { start(t, test.opts).Ask(test.ask, test.get) })
	}
}

// A host's reading of packets of the kind ultra leads to the room: the walls of a square, where
// they are.
func TestUltraPackets(t *testing.T) {
	h := start(t, Options{Rate: 10})
	h.Ask(ask("A5 82 05 02 00 00 00 00"), "A5 5A 84 00 00 40 84")
	last := h.Read(132)
	if last[3]&0x80 == 0 {
		t.Error("the first packet is not marked")
	}
	for range 30 { // more than three revolutions
		next := h.Read(132)
		if sum := line.Xor(next[2:]); next[0] != 0xA0|sum&0xF || next[1] != 0x50|sum>>4 {
			t.Fatalf("checksum of % X", next)
		}
		begin, end := startAngle(last), startAngle(next)
		step := math.Mod(end-begin+360, 360) / 96
		for i := range 96 {
			mm := ultraRange(last, next, i)
			degrees := begin + float64(i)*step - lagOf(mm)
			if want := room.Or(nil)(degrees); math.Abs(mm-want) > 10 { // steps of 2 mm, and angles of 1/64 degree
				t.Fatalf("sample %d at %.2f degrees: %.0f mm, want %.1f", i, degrees, mm, want)
			}
		}
		last = next
	}
}

func startAngle(packet []byte) float64 {
	return float64(binary.LittleEndian.Uint16(packet[2:])&0x7FFF) / 64
}

// ultraRange is the distance in mm of a sample of a packet that another one follows.
func ultraRange(packet, next []byte, sample int) float64 {
	word := func(i int) uint32 {
		if i == 32 {
			packet, i = next, 0
		}
		return binary.LittleEndian.Uint32(packet[4+4*i:])
	}
	near, nearStep := ultraMajor(word(sample / 3))
	w := word(sample / 3)
	switch sample % 3 {
	case 1:
		return near + nearStep*float64(int32(w<<10)>>22)
	case 2:
		far, farStep := ultraMajor(word(sample/3 + 1))
		return far + farStep*float64(int32(w)>>22)
	}
	return near
}

// ultraMajor decodes the first distance of a word, and the unit of the differences to it.
func ultraMajor(word uint32) (mm, step float64) {
	code := float64(word & 0xFFF)
	switch {
	case code < 512:
		return code, 1
	case code < 1280:
		return 512 + (code-512)*2, 2
	case code < 1792:
		return 2048 + (code-1280)*4, 4
	case code < 3328:
		return 4096 + (code-1792)*8, 8
	}
	return 16384 + (code-3328)*16, 16
}

// lagOf is the angle in degrees that hosts subtract.
func lagOf(mm float64) float64 {
	k := math.Floor(98361 / math.Floor(mm*4))
	const radian = 65536
	return (8*math.Pi/180*radian - 64*k - math.Floor(k*k*k/98304)) / radian * 180 / math.Pi
}

func TestScaled(t *testing.T) {
	for mm := range 28000 {
		code, base, shift := scaled(mm)
		got, step := ultraMajor(uint32(code))
		if int(got) != base || step != float64(int(1)<<shift) || mm-base < 0 || mm-base >= 1<<shift || code > 4095 {
			t.Fatalf("%d mm: code %d is %v with steps of %v, base %d, shift %d", mm, code, got, step, base, shift)
		}
	}
	for _, test := range []struct {
		mm, base int
		shift    uint
		want     uint32
	}{{1000, 1000, 1, 0}, {998, 1000, 1, 0x3FF}, {0, 1000, 1, 0x200}, {9000, 1000, 1, 0x200}, {10, 9000, 3, 0x200}} {
		if got := difference(test.mm, test.base, test.shift); got != test.want {
			t.Errorf("difference(%d, %d, %d) = %#x, want %#x", test.mm, test.base, test.shift, got, test.want)
		}
	}
}

// TestReset: a sensor that was reset reports so when it has booted, and ignores input before.
func TestReset(t *testing.T) {
	h := start(t, Options{})
	h.Say("A5 40 A5 52")
	const want = "RP LIDAR System.\r\nFirmware Ver 1.29 - rtm, HW Ver 7\r\nModel: 18\r\n"
	if got := string(h.Read(len(want))); got != want {
		t.Errorf("%q", got)
	}
	h.Say("A5 52")
	if got := hex.EncodeToString(h.Read(10)); got != "a55a0300000006000000" {
		t.Errorf("health %s", got)
	}
}

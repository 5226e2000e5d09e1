package codec

import (
	"bytes"
	"strings"
	"testing"
)

// The configurations of table 8 and the freshness mode, byte for byte.
var configs = []struct {
	name   string
	decode func([]byte) (Config, error)
	bytes  string
	want   Config
}{
	{"frequency", DecodeServerConfig, "f\x01\x02", Config{Code: ConfigFrequency, Arg: 258}},
	{"frequency 0", DecodeServerConfig, "f\x00\x00", Config{Code: ConfigFrequency, Arg: 0}},
	{"frequency max", DecodeServerConfig, "f\xFF\xFF", Config{Code: ConfigFrequency, Arg: 65535}},
	{"request/reply", DecodeServerConfig, "r\x01", Config{Code: ConfigMode, Arg: 1}},
	{"request/reply, any non-zero", DecodeServerConfig, "r\xFF", Config{Code: ConfigMode, Arg: 255}},
	{"continuous", DecodeServerConfig, "r\x00", Config{Code: ConfigMode, Arg: 0}},
	{"data", DecodeServerConfig, "d", Config{Code: ConfigData, Arg: 0}},
	{"fresh", DecodeServerConfig, "n\x01", Config{Code: ConfigFresh, Arg: 1}},
	{"plain", DecodeServerConfig, "z\x00", Config{Code: ConfigCompact}},
	{"compact", DecodeServerConfig, "z\x01", Config{Code: ConfigCompact, Arg: FramesCompact}},
	{"auto", DecodeServerConfig, "z\x02", Config{Code: ConfigCompact, Arg: FramesAuto}},
	{"a sector", DecodeServerConfig, "z\x01\x02\x00\x5A\x01\x0E\x0A", Config{Code: ConfigCompact, Arg: 1, Scan: Scan{2, 90, 270, 10}}},
	{"to the end", DecodeServerConfig, "z\x02\x01\x00\x00\xFF\xFF\x01", Config{Code: ConfigCompact, Arg: 2, Scan: Scan{1, 0, 65535, 1}}},
	{"stop", DecodeServerConfig, "e\x01", Config{Code: ConfigStop, Arg: 1}},
	{"lifetime", DecodeServerConfig, "l\x01\xF4", Config{Code: ConfigLifetime, Arg: 500}},
	{"question", DecodeServerConfig, "qe", Config{Code: ConfigQuestion, Arg: uint16(QuestionRefusals)}},
	{"motors", DecodeRobotConfig, "m\x01", Config{Code: ConfigMotors, Arg: 1}},
	{"velocity", DecodeRobotConfig, "v\x01", Config{Code: ConfigVelocity, Arg: 1}},
	{"odometry", DecodeRobotConfig, "R", Config{Code: ConfigOdometry, Arg: 0}},
}

func TestConfigs(t *testing.T) {
	for _, tt := range configs {
		got, err := tt.decode([]byte(tt.bytes))
		if err != nil || got != tt.want {
			t.Errorf("%s: %+v, %v", tt.name, got, err)
		}
		if got := tt.want.Append([]byte("ab")); string(got) != "ab"+tt.bytes {
			t.Errorf("%s: encoded % X", tt.name, got[2:])
		}
		for size := range len(tt.bytes) + 2 {
			if size == len(tt.bytes) || tt.bytes[0] == ConfigCompact && size == 2 { // without its scan
				continue
			}
			if got, err := tt.decode([]byte(tt.bytes + "\x00\x00")[:size]); err == nil {
				t.Errorf("%s: %d bytes give %+v", tt.name, size, got)
			}
		}
	}
}

func TestName(t *testing.T) {
	for _, name := range []string{"", "joystick of Anna ~", strings.Repeat("x", MaxName)} {
		want := Config{Code: ConfigName, Text: name}
		if got, err := DecodeServerConfig(want.Append(nil)); err != nil || got != want {
			t.Errorf("%q: %+v, %v", name, got, err)
		}
	}
	for _, name := range []string{strings.Repeat("x", MaxName+1), "a\nb", "\x00", "\x7F", "Zoë"} {
		if got, err := DecodeServerConfig([]byte("w" + name)); err == nil {
			t.Errorf("%q: %+v", name, got)
		}
	}
}

func TestPath(t *testing.T) {
	for n := range 20 {
		want := Config{Code: ConfigPath, Text: strings.Repeat("\x00", n)}
		if got, err := DecodeServerConfig(want.Append(nil)); (err == nil) != (n%PathID == 0) || err == nil && got != want {
			t.Errorf("%d bytes: %+v, %v", n, got, err)
		}
	}
}

// Each code is valid for one device only.
func TestConfigCodesAreApart(t *testing.T) {
	for code := range 256 {
		b := []byte{byte(code), 0, 0}
		server, robot := false, false
		for size := 1; size <= 3; size++ {
			if _, err := DecodeServerConfig(b[:size]); err == nil {
				server = true
			}
			if _, err := DecodeRobotConfig(b[:size]); err == nil {
				robot = true
			}
		}
		if want := bytes.IndexByte([]byte("frdnzweplq"), byte(code)) >= 0; server != want {
			t.Errorf("server configuration %q: %v", b[0], server)
		}
		if want := bytes.IndexByte([]byte("mvR"), byte(code)) >= 0; robot != want {
			t.Errorf("robot configuration %q: %v", b[0], robot)
		}
	}
}

func TestConfigErrors(t *testing.T) {
	for _, tt := range []struct {
		in, want string
	}{
		{"", "configuration without a code"},
		{"k", "unknown configuration code 'k'"},
		{"f\x0A", "configuration 'f' has 1 argument bytes, want 2"},
		{"d\x00", "configuration 'd' has 1 argument bytes, want 0"},
		{"z\x03", errCompact.Error()},
		{"z\x01\x00\x00\x00\x00\x01\x01", errCompact.Error()}, // step 0
		{"z\x01\x01\x00\x02\x00\x01\x01", errCompact.Error()}, // last before first
		{"z\x01\x01\x00\x00\x00\x01\x00", errCompact.Error()}, // unit 0
	} {
		if _, err := DecodeServerConfig([]byte(tt.in)); err == nil || err.Error() != tt.want {
			t.Errorf("%q: %v, want %s", tt.in, err, tt.want)
		}
	}
}

func FuzzConfig(f *testing.F) {
	for _, tt := range configs {
		f.Add([]byte(tt.bytes))
		f.Add([]byte(tt.bytes + "\x00"))
	}
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, decode := range []func([]byte) (Config, error){DecodeServerConfig, DecodeRobotConfig} {
			c, err := decode(b)
			if err != nil {
				continue
			}
			if got := c.Append(nil); !bytes.Equal(got, b) {
				t.Fatalf("encoded % X\nfrom    % X", got, b)
			}
		}
	})
}

func TestConfigAllocates(t *testing.T) {
	dst := make([]byte, 0, 8)
	for _, tt := range configs {
		in := []byte(tt.bytes)
		if n := testing.AllocsPerRun(100, func() {
			c, err := tt.decode(in)
			if err != nil {
				t.Error(err)
			}
			dst = c.Append(dst[:0])
		}); n != 0 {
			t.Errorf("%s: %v allocations", tt.name, n)
		}
	}
}

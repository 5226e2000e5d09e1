package codec

import (
	"bytes"
	"testing"
)

// The configurations of table 8 and the freshness mode, byte for byte.
var configs = []struct {
	name   string
	decode func([]byte) (Config, error)
	bytes  string
	want   Config
}{
	{"frequency", DecodeServerConfig, "f\x01\x02", Config{ConfigFrequency, 258}},
	{"frequency 0", DecodeServerConfig, "f\x00\x00", Config{ConfigFrequency, 0}},
	{"frequency max", DecodeServerConfig, "f\xFF\xFF", Config{ConfigFrequency, 65535}},
	{"request/reply", DecodeServerConfig, "r\x01", Config{ConfigMode, 1}},
	{"request/reply, any non-zero", DecodeServerConfig, "r\xFF", Config{ConfigMode, 255}},
	{"continuous", DecodeServerConfig, "r\x00", Config{ConfigMode, 0}},
	{"data", DecodeServerConfig, "d", Config{ConfigData, 0}},
	{"fresh", DecodeServerConfig, "n\x01", Config{ConfigFresh, 1}},
	{"motors", DecodeRobotConfig, "m\x01", Config{ConfigMotors, 1}},
	{"velocity", DecodeRobotConfig, "v\x01", Config{ConfigVelocity, 1}},
	{"odometry", DecodeRobotConfig, "R", Config{ConfigOdometry, 0}},
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
			if size == len(tt.bytes) {
				continue
			}
			if got, err := tt.decode([]byte(tt.bytes + "\x00\x00")[:size]); err == nil {
				t.Errorf("%s: %d bytes give %+v", tt.name, size, got)
			}
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
		if want := bytes.IndexByte([]byte("frdn"), byte(code)) >= 0; server != want {
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
		{"q", "unknown configuration code 'q'"},
		{"f\x0A", "configuration 'f' has 1 argument bytes, want 2"},
		{"d\x00", "configuration 'd' has 1 argument bytes, want 0"},
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
	dst := make([]byte, 0, 3)
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

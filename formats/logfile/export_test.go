package logfile

import (
	"bufio"
	"bytes"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"player/codec"
	"player/devices"
	"player/e2e/must"
)

func discard() *bufio.Writer { return bufio.NewWriter(io.Discard) }

// store writes a log to a file.
func store(t testing.TB, log []byte) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "run.mcap")
	must.Do(t, os.WriteFile(path, log, 0o644))
	return path
}

func quiet(int64, int64) {}

func TestExportTo(t *testing.T) {
	log, _ := record(t, script())
	path := store(t, log)
	var out bytes.Buffer
	var done, total int64
	s, err := ExportTo(&out, path, func(d, n int64) { done, total = d, n })
	if err != nil || s.Damage != nil || s.Messages != 9 || s.Server != "player test" || !s.Start.Equal(started) {
		t.Fatalf("%+v, %v", s, err)
	}
	if done <= 0 || done > total || total != 6*int64(len(log)) {
		t.Errorf("progress %d of %d", done, total)
	}
	got := strings.Split(out.String(), "\n\n")
	if len(got) != 6 {
		t.Fatalf("%d tables: %s", len(got), out.String())
	}
	laser := strings.Split(got[0], "\n")
	if !strings.HasPrefix(laser[0], "device,time_s,unix_s,range0_mm,range1_mm,") || !strings.HasSuffix(laser[0], ",range360_mm") ||
		laser[1] != "laser,0.240000,1785233700.463456"+strings.Repeat(",", 361) ||
		laser[2] != "laser,0.245000,1785233700.468456,1000,1001"+strings.Repeat(",", 359) {
		t.Errorf("laser:\n%s", got[0])
	}
	for i, want := range []string{
		`device,time_s,unix_s,front_bumper0,front_bumper1,front_bumper2,front_bumper3,front_bumper4,rear_bumper0,rear_bumper1,rear_bumper2,rear_bumper3,rear_bumper4,battery_decivolt
misc-2,0.250000,1785233700.473456,1,1,1,1,1,1,0,0,0,0,126`,
		`device,time_s,unix_s,server_time_ms,x_mm,y_mm,heading_deg,speed_mm_per_s,turn_rate_deg_per_s,compass_deg,stall
position,0.000000,1785233700.223456,250,-5,7,359,-200,3,90,1
position,0.500000,1785233700.723456,250,-5,7,359,-200,3,90,1`,
		`device,time_s,unix_s,speed_mm_per_s,turn_rate_deg_per_s
position-command,0.001000,1785233700.224456,200,-10`,
		`device,time_s,unix_s,code,argument
position-configuration,0.002000,1785233700.225456,m,01
position-configuration,0.002000,1785233700.225456,R,`,
		`device,time_s,unix_s,channel,area_px,x_px,y_px,left_px,right_px,top_px,bottom_px
vision,0.510000,1785233700.733456,,,,,,,,
`,
	} {
		if got[i+1] != want {
			t.Errorf("got:\n%s\nwant:\n%s", got[i+1], want)
		}
	}
}

func TestExportFiles(t *testing.T) {
	log, ends := record(t, script())
	files := map[string]*bytes.Buffer{}
	create := func(name string) (io.Writer, error) {
		files[name] = &bytes.Buffer{}
		return files[name], nil
	}
	must.Get(ExportFiles(store(t, log), create, quiet))(t)
	names := slices.Sorted(maps.Keys(files))
	if got := strings.Join(names, " "); got != "laser.csv misc-2.csv position-command.csv position-configuration.csv position.csv vision.csv" {
		t.Error(got)
	}
	got := files["position-command.csv"].String()
	if want := "time_s,unix_s,speed_mm_per_s,turn_rate_deg_per_s\n0.001000,1785233700.224456,200,-10\n"; got != want {
		t.Error(got)
	}
	if _, err := ExportFiles(store(t, log), func(string) (io.Writer, error) { return nil, errBroken }, quiet); err != errBroken {
		t.Errorf("a file that cannot be created is reported as %v", err)
	}
	// The readable part of a truncated log is exported.
	s, err := ExportFiles(store(t, log[:ends[2]+1]), create, quiet)
	if err != nil || s.Damage != ErrCut {
		t.Errorf("%v, %+v", err, s)
	}
}

func TestExportErrors(t *testing.T) {
	log, ends := record(t, script())
	for path, want := range map[string]string{
		"nowhere.mcap":              "no such file",
		"export.go":                 "export.go: this is not a log",
		store(t, log[:ends[0]]):     "run.mcap: this log contains no device: " + ErrCut.Error(),
		store(t, log[:ends[0]/2]):   "run.mcap: this log contains no device: " + ErrCut.Error(),
		store(t, []byte("\x89MCA")): "run.mcap: this is not a log",
	} {
		if _, err := ExportTo(io.Discard, path, quiet); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", path, err)
		}
	}
	if _, err := ExportTo(failingWriter{}, store(t, log), quiet); err != errBroken {
		t.Errorf("a full disk is reported as %v", err)
	}
}

type failingWriter struct{}

func (failingWriter) Write([]byte) (int, error) { return 0, errBroken }

// row returns the one row of a payload.
func row(c Channel, payload []byte) string {
	l := parseLayout(c.schema())
	return strings.TrimSuffix(string(l.appendRows(nil, nil, payload, &codec.VisionData{})), "\n")
}

// Every interface and command has a schema of the size of its payload, with a
// name for every value.
func TestSchemas(t *testing.T) {
	check := func(c Channel, size int) {
		l := parseLayout(c.schema())
		if l.blobs {
			return
		}
		full := row(c, make([]byte, size))
		if strings.Contains(full+",", ",,") || row(c, make([]byte, size-1)) == full || row(c, make([]byte, size+1)) != full {
			t.Errorf("%s: the schema is not of %d bytes: %s", c.Topic(), size, full)
		}
		for _, payload := range [][]byte{make([]byte, size), make([]byte, size-1), nil} {
			if n, columns := strings.Count(row(c, payload), ","), l.header(len(payload)); n != len(columns) {
				t.Errorf("%s: %d values in %d columns", c.Topic(), n, len(columns))
			}
		}
	}
	for _, spec := range devices.Interfaces() {
		check(Channel{Interface: spec.Name}, spec.DataSize)
		if spec.CommandSize > 0 {
			check(Channel{Interface: spec.Name, Content: Command}, spec.CommandSize)
		}
	}
}

// A table has the columns of the largest payload, and smaller ones leave the last of them empty: the number of readings may
// change whenever a driver starts.
func TestPayloadsThatGrow(t *testing.T) {
	var out bytes.Buffer
	w := bufio.NewWriter(&out)
	table := newTable(ChannelSummary{Channel: Channel{Interface: "ranger", Schema: "u16 unit_mm\nrepeat\nu16 range#"}, Widest: 6}, w, "", "")
	for _, payload := range []string{"", "\x00\x01", "\x00\x01\x00\x05\x00\x06", "\x00\x01\x00\x07"} {
		must.Do(t, table.add(Message{Payload: []byte(payload)}, 0))
	}
	must.Do(t, w.Flush())
	const zero = "0.000000,0.000000,"
	if want := "time_s,unix_s,unit_mm,range0,range1\n" + zero + ",,\n" + zero + "1,,\n" + zero + "1,5,6\n" + zero + "1,7,\n"; out.String() != want {
		t.Errorf("%s\nwant %s", &out, want)
	}
}

// The columns of a payload whose fields repeat follow from its size.
func TestRepeatedColumns(t *testing.T) {
	l := parseLayout("u8 kind\nrepeat\ni16 x#_mm\nu8 state#")
	if got := strings.Join(l.header(8), " "); got != "kind x0_mm state0 x1_mm state1" {
		t.Errorf("columns %q", got)
	}
	if got := string(l.appendRows(nil, nil, []byte{7, 0, 1, 2, 0xFF, 0xFF, 3, 9}, &codec.VisionData{})); got != ",7,1,2,-1,3\n" {
		t.Errorf("row %q", got)
	}
	for _, schema := range []string{"repeat", "repeat\nrepeat", "repeat\nrest x", "repeat\nu8[3] x#", "repeat\nbits8 a b", "repeat\nu8 a b"} {
		if l := parseLayout(schema); len(l.columns) != 1 || l.columns[0] != "payload" {
			t.Errorf("%q has columns %q", schema, l.header(100))
		}
	}
}

func TestRows(t *testing.T) {
	gripper := codec.GripperData{State: codec.PaddlesClosed | codec.LiftError, Beams: codec.GripLimit | codec.RightPaddleOpen}
	ptz := codec.PTZData{Pan: -100, Tilt: 25, Zoom: 1023}
	joystick := codec.JoystickData{Buttons: 1<<31 | 1, Axes: [8]int16{-32767, 1}}
	sonar := codec.SonarData{0: 1, 15: 65535}
	vision := codec.VisionData{Blobs: []codec.Blob{{Area: 1e6, X: 1, Y: 2, Left: 3, Right: 4, Top: 5, Bottom: 6}, {Area: 1}}}
	vision.Count[3], vision.Count[31] = 1, 1
	for _, tt := range []struct {
		c       Channel
		payload []byte
		want    string
	}{
		{Channel{Interface: "gripper"}, gripper.Append(nil), ",0,1,0,0,0,0,0,1,1,0,0,0,0,1"},
		{Channel{Interface: "ptz"}, ptz.Append(nil), ",-100,25,1023"},
		{Channel{Interface: "ptz", Content: Command}, ptz.Append(nil), ",-100,25,1023"},
		{Channel{Interface: "gripper", Content: Command}, []byte{17, 5}, ",17,5"},
		{Channel{Interface: "joystick"}, joystick.Append(nil), ",2147483649,-32767,1,0,0,0,0,0,0"},
		{Channel{Interface: "sonar"}, sonar.Append(nil), ",1,0,0,0,0,0,0,0,0,0,0,0,0,0,0,65535"},
		{Channel{Interface: "vision"}, vision.Append(nil), ",3,1000000,1,2,3,4,5,6\n,31,1,0,0,0,0,0,0"},
		{Channel{Interface: "vision"}, []byte("no blobs"), ",,,,,,,,"},
		{Channel{Content: Configuration}, []byte(",\xFF"), ",44,ff"},
		{Channel{Content: Configuration}, nil, ",,"},
		{Channel{Interface: "camera"}, []byte{1, 2, 0xFF}, ",0102ff"}, // no schema
	} {
		if got := row(tt.c, tt.payload); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.c.Topic(), got, tt.want)
		}
	}
}

// A schema that cannot be parsed gives the raw bytes.
func TestBadSchemas(t *testing.T) {
	for _, schema := range []string{
		"", "\n", "u8", "u8 a b", "u7 a", "u8 a\n\nu8 b", "bits8", "bits8[2] a", "bits8 1 2 3 4 5 6 7 8 9", "u8[] a", "u8[99999] a", "u8[9999] a", "u8 a,b",
		strings.Repeat("u8[1000] a\n", 9), "message Foo {}", "u8  a",
	} {
		if l := parseLayout(schema); strings.Join(l.columns, ",") != "payload" {
			t.Errorf("%q: columns %q", schema, l.columns)
		}
	}
	if l := parseLayout("u8[0] a\nu8 b\r\n"); strings.Join(l.columns, ",") != "payload" {
		t.Errorf("columns %q", l.columns)
	}
}

func TestSeconds(t *testing.T) {
	for ns, want := range map[int64]string{0: "0.000000", 999: "0.000000", 1000: "0.000001", 1e9: "1.000000", -1500000: "-0.001500", 1785233700223456789: "1785233700.223456"} {
		if got := string(appendSeconds(nil, ns)); got != want {
			t.Errorf("%d ns: %s, want %s", ns, got, want)
		}
	}
}

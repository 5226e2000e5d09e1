package migrate

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"

	"player/codec"
	"player/config"
	"player/devices"
	"player/devices/acts"
	"player/devices/create"
	"player/devices/evid30"
	"player/devices/joystick"
	"player/devices/nmea"
	"player/devices/p2os"
	"player/devices/sicklms200"
	stagedriver "player/devices/stage"
	"player/devices/urg"
	"player/e2e/must"
	"player/e2e/needs"
	"player/formats/syntax"
)

var update = flag.Bool("update", false, "write the golden files again")

func TestGolden(t *testing.T) {
	paths, err := filepath.Glob("testdata/*.cfg")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no files in testdata: %v", err)
	}
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			file := must.Get(syntax.ParseFile(path, nil))(t)
			result := must.Get(Convert(file))(t)
			if !result.Foreign {
				t.Error("not recognised")
			}
			got := result.Text
			golden := strings.TrimSuffix(path, ".cfg") + ".golden"
			if *update {
				must.Do(t, os.WriteFile(golden, []byte(got), 0o666))
			}
			want := must.Get(os.ReadFile(golden))(t)
			if got != string(want) {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

// A robot behind TCP is behind the same TCP here, with the defaults of the original.
func TestRemotePorts(t *testing.T) {
	for fields, want := range map[string]string{
		`use_tcp 1 tcp_remote_host "10.0.0.5" tcp_remote_port 4001`: `port "10.0.0.5:4001"`,
		`tcp_remote_port "4001" use_tcp 1`:                          `port "localhost:4001"`,
		`use_tcp true tcp_remote_host "fe80::5"`:                    `port "[fe80::5]:8101"`,
		`use_tcp 1 port "/dev/ttyS0"`:                               `port "localhost:8101"`,
		`use_tcp 0 tcp_remote_host "10.0.0.5" port "/dev/ttyS0"`:    `port "/dev/ttyS0"`,
	} {
		file := must.Get(parse("old.cfg", `driver ( name "p2os" provides ["position2d:0"] `+fields+` )`))(t)
		result, err := Convert(file)
		if err != nil || strings.Count(result.Text, "\n  port ") != 1 || !strings.Contains(result.Text, "\n  "+want+"\n") {
			t.Errorf("%s: %v\n%s\nwant %s", fields, err, result.Text, want)
		}
	}
}

// Hardware that the converted file would not find is an error with its place.
func TestLostPorts(t *testing.T) {
	for old, want := range map[string]string{
		"driver ( name \"p2os\" provides [\"position2d:0\"]\n use_tcp 1 tcp_remote_port 70000 )":         "old.cfg:2:2: the driver p2os",
		"driver ( name \"sicklms200\" provides [\"laser:0\"]\n use_tcp 1 tcp_remote_host \"10.0.0.5\" )": "old.cfg:2:2: the driver sicklms200",
		`driver ( name "p2os" provides ["position2d:0"] use_tcp "yes" )`:                                 "use_tcp",
		`driver ( name "sonyevid30" provides ["ptz:0"] port 5 )`:                                         "old.cfg:1:47: the driver evid30",
		`driver ( name "hokuyoaist" provides ["ranger:0"] portopts "type=log" )`:                         "the driver urg",
		`vision:0 ( port 0 )`: "the driver acts",
		`driver ( name "p2os" provides ["position2d:0"] use_tcp 0 tcp_remote_host "10.0.0.5" )`: "",
		`driver ( name "p2os" provides ["position2d:0"] use_tcp false tcp_remote_port 8101 )`:   "",
		`driver ( name "vfh" provides ["position2d:1"] port 5 )`:                                "",
		`driver ( name "roomba" provides ["position2d:0"] )`:                                    "",
	} {
		file := must.Get(parse("old.cfg", old))(t)
		result, err := Convert(file)
		switch {
		case want == "" && err != nil, want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%s: %v, want %q", old, err, want)
		case strings.Contains(old, "roomba") && !strings.Contains(result.Text, `port "/dev/ttyS0"`):
			t.Errorf("%s\nbecomes\n%s without the port that was its default", old, result.Text)
		}
	}
}

// driversOptions has every option of the drivers with a counterpart, as the reference pages of
// Player 1.6.5, 2.0, 2.1 and 3 list them: its value in a file, then the result. "-" is a comment
// that names it, empty is no output, "error: " refuses the file.
var driversOptions = map[string][][3]string{
	"p2os": {
		{"port", `"/dev/ttyUSB0"`, `port "/dev/ttyUSB0"`},
		{"use_tcp", "0", "-"},
		{"tcp_remote_host", `"localhost"`, "-"},
		{"tcp_remote_port", "8101", "-"},
		{"max_xaccel", "0.4", "acceleration 400"},
		{"max_xdecel", "-0.6", "deceleration 600"},
		{"max_yawaccel", "60", "turn_acceleration 60"},
		{"max_yawdecel", "-80", "turn_deceleration 80"},
		{"max_xaccel", "0", ""},
		{"max_xaccel", "33", "-"}, // more than a command holds
		{"max_xaccel", `"fast"`, "-"},
		{"radio", "1", "-"},
		{"bumpstall", "1", "-"},
		{"pulse", "1.0", "-"},
		{"joystick", "1", "-"},
		{"direct_wheel_vel_control", "0", "-"},
		{"max_xspeed", "0.5", "-"},
		{"max_yawspeed", "100", "-"},
		{"use_vel_band", "1", "-"},
		{"rot_kp", "40", "-"}, {"rot_kv", "20", "-"}, {"rot_ki", "0", "-"},
		{"trans_kp", "40", "-"}, {"trans_kv", "20", "-"}, {"trans_ki", "0", "-"},
		{"aa_basepos", "[0.1 0 0.2]", "-"}, {"aa_baseorient", "[0 0 0]", "-"}, {"aa_offsets", "[0.1]", "-"},
		{"aa_orients", "[0]", "-"}, {"aa_axes", "[0]", "-"},
		{"limb_pos", "[0 0 0]", "-"}, {"limb_links", "[0.1]", "-"}, {"limb_offsets", "[0]", "-"},
		{"gripper_pose", "[0 0 0 0 0 0]", "-"}, {"gripper_outersize", "[0 0 0]", "-"}, {"gripper_innersize", "[0 0 0]", "-"},
		{"ignore_checksum", "1", "-"},
	},
	"sicklms200": {
		{"port", `"/dev/ttyUSB0"`, `port "/dev/ttyUSB0"`},
		{"invert", "1", "flip true"},
		{"invert", "0", ""},
		{"invert", `"yes"`, "error: invert"},
		{"pose", "[1 2 3]", "pose [1 2 3]"},
		{"pose", "[1 2 0 180 0 3]", "- (flip true is for a scanner that hangs upside down): roll 180 and pitch 0 of pose"},
		{"size", "[1 2]", "size [1 2]"},
		{"rate", "38400", "-"}, {"connect_rate", "[9600 38400]", "-"}, {"transfer_rate", "38400", "-"},
		{"serial_high_speed_mode", "1", "-"}, {"serial_high_speed_baudremap", "230400", "-"},
		{"retry", "3", "-"}, {"delay", "35", "-"}, {"resolution", "100", "-"}, {"range_res", "10", "-"},
	},
	"urglaser": {
		{"port", `"/dev/ttyUSB0"`, `port "/dev/ttyUSB0"`},
		{"pose", "[1 2 3]", "pose [1 2 3]"},
		{"min_angle", "-90", "-"}, {"max_angle", "90", "-"}, {"use_serial", "1", "-"}, {"baud", "115200", "-"},
	},
	"hokuyoaist": {
		{"portopts", `"type=serial,device=/dev/ttyACM1,timeout=1"`, `port "/dev/ttyACM1"`},
		{"invert", "1", "flip true"},
		{"invert", "false", ""},
		{"pose", "[1 2 0 0 0 3]", "pose [1 2 3]"},
		{"pose", "[1 2 0 3.14 0 3]", "- (flip true is for a scanner that hangs upside down): roll 3.14 and pitch 0 of pose"},
		{"size", "[1 2 3]", "size [1 2]"},
		{"min_angle", "-1", "-"}, {"max_angle", "1", "-"}, {"frequency", "10", "-"}, {"power", "0", "-"}, {"verbose", "1", "-"},
		{"get_intensities", "1", "-"}, {"ignore_unknowns", "1", "-"}, {"min_dist", "0.1", "-"}, {"hw_timestamps", "1", "-"},
		{"baudrate", "115200", "-"}, {"speed_level", "2", "-"}, {"high_sensitivity", "1", "-"},
	},
	"sonyevid30": {
		{"port", `"/dev/ttyUSB0"`, `port "/dev/ttyUSB0"`},
		{"fov", "[3 30]", "-"}, {"movement", "1", "-"},
	},
	"acts": {
		{"port", "5002", "port 5002"},
		{"configfile", `"x.acts"`, `configfile "x.acts"`},
		{"invert", "1", "error: invert"},
		{"invert", "0", "-"},
		{"path", `"/usr/bin/acts"`, "-"}, {"version", `"2.0"`, "-"}, {"width", "160", "-"}, {"height", "120", "-"}, {"pixels", "100", "-"},
		{"fps", "30", "-"}, {"drivertype", `"bttv"`, "-"}, {"devicepath", `"/dev/fg0"`, "-"}, {"channel", "1", "-"}, {"norm", `"pal"`, "-"},
		{"pxc200", "1", "-"}, {"brightness", "1", "-"}, {"contrast", "1", "-"},
	},
	"roomba": {
		{"port", `"/dev/ttyUSB3"`, `port "/dev/ttyUSB3"`},
		{"safe", "0", "full true"},
		{"safe", "1", ""},
		{"bumplock", "1", "-"},
	},
	"stage": {
		{"worldfile", `"a.world"`, `world "a.world"`},
		{"alwayson", "1", ""},
		{"plugin", `"stageplugin"`, ""},
		{"usegui", "1", "-"},
	},
	"garminnmea": {
		{"port", `"/dev/ttyUSB0"`, `port "/dev/ttyUSB0"`},
		{"baud", "4800", "-"}, {"dgps_enable", "1", "-"}, {"dgps_group", `"225.0.0.43"`, "-"}, {"dgps_port", "7778", "-"},
	},
	"linuxjoystick": {
		{"port", `"/dev/input/js1"`, `port "/dev/input/js1"`},
		{"axes", "[3 2]", "error: axes"},
		{"axes", "[0 1]", "-"},
		{"axes", "[1 2 0]", "-"},
		{"axis_maxima", "[32767 32767]", "-"}, {"axis_minima", "[5000 5000]", "-"},
		{"axes_maxima", "[32767 32767 32767]", "-"}, {"axes_minima", "[0 0 0]", "-"},
		{"max_speed", "[0.5 0 50]", "-"}, {"max_xspeed", "0.5", "-"}, {"max_yawspeed", "50", "-"}, {"deadman_button", "3", "-"},
		{"timeout", "5.0", "-"}, {"scale_pos", "[0.1 0.1 0.1]", "-"},
	},
}

// sameOptions are drivers with the options of another one.
var sameOptions = map[string]string{"hokuyo_aist": "hokuyoaist", "urg_nz": "hokuyoaist", "evid30": "sonyevid30", "create": "roomba"}

// Every option of a driver with a counterpart is converted, or the comments name it, or the
// file is refused.
func TestEveryOption(t *testing.T) {
	provides := map[string]string{"p2os": "position2d:0", "evid30": "ptz:0", "acts": "blobfinder:0", "create": "position2d:0",
		"joystick": "joystick:0", "sicklms200": "laser:0", "urg": "laser:0", "stage": "simulation:0", "nmea": "gps:0"}
	for line := range strings.Lines(drivers) {
		there, here := strings.Fields(line)[0], strings.Fields(line)[1]
		name := there
		if same := sameOptions[there]; same != "" {
			name = same
		}
		options := driversOptions[name]
		if strings.HasPrefix(there, "p2os_") { // of Player 1 (its manual, table 7.2)
			options = [][3]string{{"port", `"/dev/ttyUSB0"`, `port "/dev/ttyUSB0"`}, {"radio", "1", "-"}}
		}
		if options == nil {
			t.Errorf("no options of %s", there)
		}
		for _, o := range options {
			world := ""
			if here == "stage" && o[0] != "worldfile" {
				world = `worldfile "a.world"`
			}
			old := fmt.Sprintf("driver ( name %q provides [%q] %s %s %s )", there, provides[here], o[0], o[1], world)
			file := must.Get(parse("old.cfg", old))(t)
			result, err := Convert(file)
			got := result.Text
			refused, wanted := strings.CutPrefix(o[2], "error: ")
			switch comment, reason := strings.CutPrefix(o[2], "-"); {
			case wanted:
				if err == nil || !strings.Contains(err.Error(), refused) {
					t.Errorf("%s: %v, want an error about %s", old, err, refused)
				}
				continue
			case err != nil:
				t.Errorf("%s: %v", old, err)
			case o[2] == "" && result.Options > 0,
				reason && comment == "" && !strings.Contains(got, "# no counterpart: "+o[0]+" "+o[1]+"\n"),
				reason && comment != "" && !strings.Contains(got, "# no counterpart"+comment+"\n"),
				o[2] != "" && !reason && !strings.Contains(got, "\n  "+o[2]+"\n"):
				t.Errorf("%s\nbecomes\n%s\nwant %q", old, got, o[2])
			}
			if err := check(got); err != nil {
				t.Errorf("%s\nbecomes\n%s%v", old, got, err)
			}
		}
	}
}

// Accelerations are in the units of the file.
func TestUnitsOfAccelerations(t *testing.T) {
	file := must.Get(parse("old.cfg", `unit_length "cm" unit_angle "radians" driver ( name "p2os" provides ["position2d:0"] max_xaccel 40 max_yawaccel 1 )`))(t)
	result, err := Convert(file)
	if err != nil || !strings.Contains(result.Text, "\n  acceleration 400\n  turn_acceleration 57\n") {
		t.Errorf("%v\n%s", err, result.Text)
	}
}

// parse reads a file without includes.
func parse(name, text string) (*syntax.File, error) {
	return syntax.Parse(name, func(string) ([]byte, error) { return []byte(text), nil })
}

// still is a driver without hardware.
type still struct{}

func (still) Setup(now time.Duration, l *devices.Link) { l.Ready(now) }
func (still) Shutdown(time.Duration)                   {}

// kinds returns the drivers of this server that Convert knows. They open no files and no
// network.
func kinds() []devices.Kind {
	all := []devices.Kind{
		p2os.Kind(), sicklms200.Kind(), urg.Kind(), evid30.Kind(), acts.Kind(), create.Kind(), joystick.Kind(), nmea.Kind(),
		stagedriver.Kind(),
	}
	for i := range all {
		robot := 0
		if all[i].Name == "stage" { // the world decides; here it does not meet hardware
			robot = 64999
		}
		all[i].New = nil
		all[i].NewAll = func(devices.Args) ([]devices.Instance, error) {
			return []devices.Instance{{Driver: still{}, Port: robot}}, nil
		}
	}
	return all
}

// check returns the server's errors for a converted file.
func check(text string) error {
	file, err := parse("new.cfg", text)
	if err != nil {
		return err
	}
	_, err = config.Build(file, config.Options{Kinds: kinds(), Port: codec.UsualPort, Log: zap.NewNop()})
	return err
}

// The page quotes a comment as Convert writes it.
func TestPageQuotesAComment(t *testing.T) {
	page := strings.Join(strings.Fields(string(must.Get(os.ReadFile("../../docs/MIGRATING.md"))(t))), " ")
	match := regexp.MustCompile("`(no counterpart \\([^)]*\\): provides \"([^\"]*)\")`").FindStringSubmatch(page)
	if match == nil {
		t.Fatal("docs/MIGRATING.md quotes no comment")
	}
	file := must.Get(parse("old.cfg", `driver ( name "p2os" provides ["sonar:0" "`+match[2]+`"] )`))(t)
	if got := must.Get(Convert(file))(t).Text; !strings.Contains(got, "# "+match[1]+"\n") {
		t.Errorf("docs/MIGRATING.md quotes %s\nConvert writes\n%s", match[1], got)
	}
}

func TestSections(t *testing.T) {
	for _, test := range []struct{ old, want string }{
		{`driver ( name "sonyevid30" provides ["ptz:0"] )`, `name "evid30"`},
		{`ptz ( )`, `name "evid30"`},
		{`bumper:3 ( )`, `provides ["misc:0"]`},
		{`vision:0 ( port 5002 )`, `port 5002`},
		{`driver ( name "p2os" provides ["6665:position2d:0"] )`, `provides ["position:0"]`},
		{`driver ( name "p2os" provides ["localhost:6666:position2d:0"] )`, `provides ["6666:position:0"]`},
		{`driver ( name "p2os" provides ["position2d:100" "sonar:0"] )`, `# no counterpart (not a device here): provides "position2d:100"`},
		{`driver ( name "p2os" provides ["laser:0"] )`, `# no counterpart (none of its devices has a counterpart):`},
		{`driver ( name "p2os" provides ["power:0"] alwayson 0 )`, "provides [\"misc:0\"]\n)"},
		{`driver ( name "p2os" provides ["power:0"] alwayson "x" )`, `# no counterpart: alwayson "x"`},
		{`driver ( name "sicklms200" provides ["laser:0"] pose [1 2 3 4 5] )`, `# no counterpart: pose [1 2 3 4 5]`},
		{`driver ( name "hokuyoaist" provides ["ranger:0"] portopts "type=tcp,ip=10.0.0.9" )`, `port "10.0.0.9:10940"`},
		{`driver ( name "create" provides ["position2d:0"] safe 1 port "/dev/ttyUSB3" )`, "provides [\"position:0\"]\n  port \"/dev/ttyUSB3\"\n)"},
		{`driver ( name "stage" provides ["simulation:0"] worldfile "a.world" ) driver ( name "stage" provides ["simulation:1"] worldfile "b.world" )`,
			`# no counterpart (one world is simulated):`},
		{`driver ( name "writelog" provides ["log:0"] requires ["laser:0"] )`, `see docs/LOGS.md):`},
		{`driver ( name "readlog" provides ["laser:0"] )`, `cannot be replayed):`},
		{`driver ( name "sicklms200" provides ["laser:0"] ) driver ( name "sonyevid30" provides ["ptz:0"] port "/dev//ttyS1" )`,
			`# no counterpart (sicklms200 above has its serial port, /dev/ttyS1):`},
		{`driver ( name "sicklms200" provides ["laser:0"] port "/dev/ttyS5" ) laser:1 ( )`, `provides ["laser:1"]`},
		{`driver ( name "p2os" provides ["dio:0" "aio:0"] )`, "provides [\"io:0\"]\n  # aio:0 is in io\n"},
		{`driver ( name "p2os" provides ["sonar:0" "ranger:0" "gyro:::position2d:1"] )`, `provides ["sonar:0" "ranger:0" "imu:0"]`},
		{`driver ( name "p2os" provides ["sonar:0" "lift:::actarray:0"] )`, `# no counterpart (the driver lines has joints, and so may plugins: docs/PLUGINS.md): provides "lift:::actarray:0"`},
		{`driver ( name "roomba" provides ["position2d:0" "opaque:0"] )`, `# no counterpart (its bytes mean something to one driver and its programs only): provides "opaque:0"`},
		{`driver ( name "sicklms200" provides ["laser:0"] ) driver ( name "hokuyoaist" provides ["ranger:0"] )`, "provides [\"ranger:0\"]\n"},
		{`driver ( name "hokuyoaist" provides ["ranger:2"] )`, "provides [\"ranger:2\" \"laser:0\"]\n"},
		{`driver ( name "sicklms200" provides ["laser:0" "ranger:0"] )`, `provides ["laser:0" "ranger:0"]`},
		{`driver ( name "hokuyoaist" provides ["ranger:0"] portopts "type=serial,device=/dev/ttyS6" ) driver ( name "urglaser" provides ["ranger:1"] )`, `provides ["ranger:1" "laser:1"]`},
		{`driver ( name "garminnmea" provides ["gps:0"] )`, "name \"nmea\"\n  provides [\"gps:0\"]\n"},
		{`driver ( name "xsensmt" provides ["imu:0"] )`, `# no counterpart (the drivers p2os, kobuki and lines have units, and so may plugins: docs/PLUGINS.md):`},
		{`unit_angle "radians" ptz:0 ( )`, `unit_angle "radians"`},
	} {
		file := must.Get(parse("old.cfg", test.old))(t)
		result, err := Convert(file)
		if err != nil {
			t.Errorf("%s: %v", test.old, err)
		}
		got := result.Text
		if !strings.Contains(got, test.want) {
			t.Errorf("%s\nbecomes\n%s\nwant %s", test.old, got, test.want)
		}
		if result.Drivers > 0 {
			if err := check(got); err != nil {
				t.Errorf("%s\nbecomes\n%s%v", test.old, got, err)
			}
		}
	}
}

func TestForeign(t *testing.T) {
	for text, want := range map[string]bool{
		`driver ( name "p2os" provides ["position:0" "6666:sonar:0"] port "/dev/ttyS0" )`: false,
		`driver ( name "stage" world "room.world" ) access ( allow "read" )`:              false,
		`driver ( name "p2os" provides ["position2d:0"] )`:                                true,
		`driver ( name "readlog" file "run.mcap" )`:                                       false,
		`driver ( name "goto" requires ["position:0" "laser:1"] )`:                        false,
		`driver ( name "p2os" provides ["odometry:::position:0"] )`:                       true,
		`driver ( name "sonyevid30" )`:                                                    true,
		`driver ( name "stage" )`:                                                         false,
		`driver ( name "stage" provides ["position2d:0"] model "r0" )`:                    true,
		`driver ( name "p2so" )`:                                                          false,
		`driver ( name "vfh" )`:                                                           true,
		`driver ( name "stg_laser" )`:                                                     true,
		`driver ( name "stage" worldfile "x.world" )`:                                     true,
		`position:0 ( driver "p2os_position" )`:                                           true,
		`plugin "libfoo"`:                                                                 true,
		`interface ( name "x" code 1 )`:                                                   true,
	} {
		file := must.Get(parse("x.cfg", text+"\n"))(t)
		if got, err := Convert(file); err != nil || got.Foreign != want {
			t.Errorf("%s: foreign is %v, %v", text, got.Foreign, err)
		}
	}
}

// checkConverted converts a file and checks that the server accepts the result, except for
// files and other servers that do not exist.
func checkConverted(t *testing.T, file *syntax.File) {
	t.Helper()
	result, _ := Convert(file) // also with an error the text is readable
	got := result.Text
	if len(got) > 1<<20 { // the limit of a file
		return
	}
	if _, err := parse("new.cfg", got); err != nil {
		t.Fatalf("%v\nin\n%s", err, got)
	}
	if result.Drivers == 0 {
		return
	}
	if err := check(got); err != nil {
		t.Fatalf("%v\nin\n%s", err, got)
	}
}

// Files made of the words of such files, in any combination.
func TestRandomFiles(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	pick := func(from ...string) string { return from[random.IntN(len(from))] }
	name := func() string {
		return pick("p2os", "p2os_sonar", "p2os_position", "p2os_power", "sicklms200", "urglaser", "hokuyo_aist", "sonyevid30", "acts", "roomba",
			"linuxjoystick", "passthrough", "writelog", "stage", "stg_laser", "vfh", "readlog", "reflex", "")
	}
	kind := func() string {
		return pick("position", "position2d", "sonar", "laser", "ranger", "imu", "dio", "aio", "gps", "actarray", "power", "bumper", "ptz", "blobfinder", "joystick", "gripper", "log", "none")
	}
	number := func() string { return pick("0", "1", "2", "-1", "100", "6665", "6666", "70000", "0.5", "1.2.3") }
	address := func() string {
		return `"` + pick("", "", "6666:", "6665:", "70000:", "odometry:::", "compass::", "gyro:::", "10.0.0.7:6665:", "localhost:", "a:b:c:d:") + kind() + ":" + number() + `"`
	}
	list := func(item func() string) string {
		text := "["
		for range random.IntN(5) {
			text += item() + " "
		}
		return text + "]"
	}
	value := func() string {
		return pick(number(), `"/dev/ttyS0"`, `"/dev/ttyS1"`, `"/dev//ttyS1"`, `"x"`, `""`, "true", "no", list(number), list(address),
			`"type=serial,device=/dev/ttyS1"`, `"10.0.0.7"`, `"5001"`, `"127.0.0.1:4001"`, `"localhost:0"`, `"fe80::1"`)
	}
	for range needs.Rounds(500, 3000) {
		var text strings.Builder
		for range 1 + random.IntN(5) {
			if random.IntN(2) == 0 {
				fmt.Fprintf(&text, "driver ( name %q provides %s\n", name(), list(address))
			} else {
				fmt.Fprintf(&text, "%s%s ( driver %q\n", kind(), pick("", ":0", ":1"), name())
			}
			for range random.IntN(4) {
				field := pick("port", "alwayson", "pose", "size", "safe", "portopts", "configfile", "requires", "devices", "remote_host", "remote_port",
					"remote_index", "invert", "axes", "max_xaccel", "max_yawdecel", "host", "index", "worldfile", "model", "filename", "basename", "log_directory", "plugin", "max_xspeed", "requires")
				fmt.Fprintf(&text, "%s %s\n", field, value())
			}
			text.WriteString(")\n")
		}
		file, err := parse("old.cfg", text.String())
		if err != nil {
			t.Fatalf("%v in\n%s", err, &text)
		}
		checkConverted(t, file)
	}
}

func FuzzConvert(f *testing.F) {
	paths, _ := filepath.Glob("testdata/*.cfg") // the pattern is well formed
	for _, path := range paths {
		text := must.Get(os.ReadFile(path))(f)
		f.Add(string(text))
	}
	f.Add("laser ( port \"/dev//ttyS1\" pose [1 -] ) laser:1( port \"/dev/ttyS1/.\" )")
	f.Add("define m driver ( name \"p2os\" provides [\"a:b:1:sonar:0\" 3] ) m(x(y 1)) position( alwayson [] )")
	f.Fuzz(func(t *testing.T, text string) {
		if file, err := parse("old.cfg", text); err == nil {
			checkConverted(t, file)
		}
	})
}

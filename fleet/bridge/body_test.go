package bridge

import (
	"strings"
	"testing"

	"player/e2e/must"
	"player/fleet/schematest"
)

// schema returns the text of a schema.
func schema(t *testing.T, name string) []byte {
	t.Helper()
	return must.Get(Schema(name))(t)
}

// The meaning of a body of each kind, and the refused ones. The schemas accept and refuse the
// same.
func TestBodies(t *testing.T) {
	t.Parallel()
	command := func(iface string) func(Body) (string, error) {
		spec, _ := Named(iface)
		return func(b Body) (string, error) {
			payload, err := b.Command(spec)
			return string(payload), err
		}
	}
	position, ptz, gripper := command("position"), command("ptz"), command("gripper")
	io, servo := command("io:1"), command("servo")
	config := func(b Body) (string, error) {
		payload, err := b.Config()
		return string(payload), err
	}
	rate := func(b Body) (string, error) {
		hz, err := b.Rate()
		return strings.Repeat("i", hz), err
	}
	lease := func(b Body) (string, error) {
		holder, release, err := b.Lease()
		if release {
			holder += "!"
		}
		return holder + " " + b.Token, err
	}
	valid := map[string]func([]byte) error{}
	for _, name := range Schemas() {
		valid[name] = schematest.Compile(t, schema(t, name))
	}
	for _, c := range []struct {
		schema     string
		read       func(Body) (string, error)
		body, want string // without want it is refused
	}{
		{"command.position", position, `{"speed":200,"turn":-3}`, "\x00\xc8\xff\xfd"},
		{"command.position", position, `{"turn":0.4,"speed":200.0,"token":"4-A","answer":"phone"}`, "\x00\xc8\x00\x00"},
		{"command.position", position, "\x00\xc8\xff\xfd", "\x00\xc8\xff\xfd"},
		{"command.position", position, `{"speed":200}`, ""},
		{"command.position", position, `{"speed":null,"turn":0}`, ""},
		{"command.position", position, `{"speed":"200","turn":0}`, ""},
		{"command.position", position, `{"speed":32768,"turn":0}`, ""},
		{"command.position", position, `{"speed":1e400,"turn":0}`, ""},
		{"command.position", position, `{"Speed":1,"turn":0}`, ""},
		{"command.position", position, `{"speed":1,"turn":0,"spin":1}`, ""},
		{"command.position", position, `{"speed":1,"turn":0}}`, ""},
		{"command.position", position, `{"speed":1,"turn":0,"answer":"a.b"}`, ""},
		{"command.position", position, `{"speed":1,"turn":0,"answer":5}`, ""},
		{"command.position", position, `{"speed":1,"turn":0,"token":null}`, ""},
		{"command.position", position, `{"speed":1,"turn":0` + strings.Repeat(" ", maxJSON) + `}`, ""},
		{"command.position", position, "abc", ""},
		{"command.ptz", ptz, `{"pan":-10,"tilt":5,"zoom":1023}`, "\xff\xf6\x00\x05\x03\xff"},
		{"command.ptz", ptz, `{"pan":1,"tilt":5}`, ""},
		{"command.gripper", gripper, `{"command":"open"}`, "\x01\x00"},
		{"command.gripper", gripper, `{"command":"press","argument":50}`, "\x10\x32"},
		{"command.gripper", gripper, `{"command":"bite"}`, ""},
		{"command.gripper", gripper, `{"command":"press","argument":256}`, ""},
		{"command.gripper", gripper, `{}`, ""},
		{"command.io", io, `{"channel":3,"value":-2}`, "\x03\xff\xff\xff\xfe"},
		{"command.io", io, `{"channel":128,"value":1}`, ""},
		{"command.io", io, `{"channel":3,"value":-2147483648}`, ""},
		{"command.io", io, `{"value":1}`, ""},
		{"command.io", io, "\x03\x00\x00\x00\x01", "\x03\x00\x00\x00\x01"},
		{"command.servo", servo, `{"joint":1,"goal":256,"speed":4294967295}`, "\x01\x00\x00\x01\x00\xff\xff\xff\xff"},
		{"command.servo", servo, `{"goal":-1,"token":"4-A"}`, "\xff\xff\xff\xff\xff\x00\x00\x00\x00"},
		{"command.servo", servo, `{"stop":true}`, "\xff\x80\x00\x00\x00\x00\x00\x00\x00"},
		{"command.servo", servo, `{"stop":false}`, ""},
		{"command.servo", servo, `{"stop":true,"goal":1}`, ""},
		{"command.servo", servo, `{"joint":64,"goal":1}`, ""},
		{"command.servo", servo, `{"joint":1}`, ""},
		{"command.servo", servo, `{"goal":1,"speed":-1}`, ""},
		{"config", config, `{"reset":true}`, "R"},
		{"config", config, `{"motors":true}`, "m\x01"},
		{"config", config, `{"motors":false,"answer":"phone"}`, "m\x00"},
		{"config", config, `{"separate":true}`, "v\x01"},
		{"config", config, `{"reset_odometry":true}`, "R"},
		{"config", config, `{"step":true}`, "s"},
		{"config", config, "m\x01", "m\x01"},
		{"config", config, `{"reset_odometry":false}`, ""},
		{"config", config, `{"motors":1}`, ""},
		{"config", config, `{"motors":true,"separate":true}`, ""},
		{"config", config, `{"motors":true,"token":"4-A"}`, ""},
		{"config", config, `{}`, ""},
		{"rate", rate, `{"hz":3}`, "iii"},
		{"rate", rate, "3", "iii"},
		{"rate", rate, `{"hz":0}`, ""},
		{"rate", rate, `{"hz":1001}`, ""},
		{"rate", rate, "", ""},
		{"rate", rate, "null", ""},
		{"rate", rate, `{}`, ""},
		{"lease", lease, `{"holder":"alice","answer":"phone"}`, "alice "},
		{"lease", lease, `{"token":"4-A"}`, " 4-A"},
		{"lease", lease, `{"token":"4-A","release":true}`, "! 4-A"},
		{"lease", lease, "alice", "alice "},
		{"lease", lease, "release", "! "},
		{"lease", lease, `{}`, " "},
		{"lease", lease, `{"holder":7}`, ""},
		{"lease", lease, `{"name":"alice"}`, ""},
	} {
		if strings.HasPrefix(c.body, "{") && len(c.body) <= maxJSON && (valid[c.schema]([]byte(c.body)) == nil) != (c.want != "") {
			t.Errorf("%.60s: by the schema: %v", c.body, valid[c.schema]([]byte(c.body)))
		}
		b, err := ReadBody([]byte(c.body))
		got := ""
		if err == nil {
			got, err = c.read(b)
		}
		if c.want == "" && err == nil || c.want != "" && (err != nil || got != c.want) {
			t.Errorf("%.60s: %q, %v, want %q", c.body, got, err, c.want)
		}
	}
}

// A body that is refused is answered where it says.
func TestAnswerOfBadBody(t *testing.T) {
	t.Parallel()
	b, err := ReadBody([]byte(`{"answer":"phone","token":5}`))
	if err == nil || b.Answer != "phone" {
		t.Errorf("%+v, %v", b, err)
	}
}

package dashboard

import (
	"net/http/httptest"
	"strings"
	"testing"
)

func decode[command any](message []byte) (c command, err error) {
	err = decodeCommand(message, &c)
	return c, err
}

func TestDecodeOrders(t *testing.T) {
	if o, err := decode[driveCommand]([]byte(`{"drive":[-300,20]}`)); err != nil || o.Drive == nil || *o.Drive != [2]int{-300, 20} {
		t.Errorf("drive: %+v, %v", o, err)
	}
	if o, err := decode[driveCommand]([]byte(`{"motors":false}`)); err != nil || o.Motors == nil || *o.Motors {
		t.Errorf("motors: %+v, %v", o, err)
	}
	if o, err := decode[worldCommand]([]byte(`{"move":{"mover":2,"x":1.5,"y":-2,"heading":0.5}}`)); err != nil || o.Move == nil || o.Move.Mover != 2 || o.Move.X != 1.5 || o.Move.Y != -2 || o.Move.Heading != 0.5 {
		t.Errorf("move: %+v, %v", o, err)
	}
	if o, err := decode[streamRequest]([]byte(` {"request":"lrsr","rate":20} `)); err != nil || o.Request != "lrsr" || o.Rate != 20 {
		t.Errorf("stream: %+v, %v", o, err)
	}
	for _, bad := range []string{
		``, `{`, `[]`, `"drive"`, `{"drive":[1,"2"]}`, `{"drive":1}`, `{"drive":[1.5,0]}`, `{"fly":true}`,
		`{"reset":true}{"reset":true}`, `{"reset":true} x`, `{"grip":[256,0]}`, `{"look":[1e99,0,0]}`, strings.Repeat("[", 4000),
	} {
		if o, err := decode[driveCommand]([]byte(bad)); err == nil {
			t.Errorf("%s is taken as %+v", bad, o)
		}
	}
}

func FuzzDecodeOrder(f *testing.F) {
	for _, seed := range []string{`{"drive":[-300,20]}`, `{"look":[1,2,3]}`, `{"grip":[1,0]}`, `{"motors":true}`, `{"reset":true}`, `{"drive":null}`, `{}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, message []byte) {
		_, _ = decode[driveCommand](message)
		_, _ = decode[worldCommand](message)
		if o, err := decode[streamRequest](message); err == nil {
			_ = checkPairs(o.Request)
		}
	})
}

func TestCheckPairs(t *testing.T) {
	for pairs, good := range map[string]bool{
		"": true, "lr": true, "lrscvr": true, "Xr": true,
		"l": false, "lrs": false, "lw": false, "la": false, "yr": false, "yc": false, "lrpw": false, "r\xff": false,
	} {
		if err := checkPairs(pairs); (err == nil) != good {
			t.Errorf("%q: %v", pairs, err)
		}
	}
}

// Browsers of other computers reach the listed robots only, and learn nothing
// about others.
func TestAdmit(t *testing.T) {
	s := &server{config: Config{Robots: []Robot{{Name: "r0", Address: "localhost:6665"}}}}
	why := map[string]bool{}
	for _, tt := range []struct {
		from, robot string
		admitted    bool
	}{
		{"127.0.0.1:40000", "localhost:6665", true},
		{"127.0.0.1:40000", "10.0.0.7:6665", true},
		{"[::1]:40000", "10.0.0.7:6665", true},
		{"[::ffff:127.0.0.1]:40000", "10.0.0.7:6665", true},
		{"127.0.0.1:40000", strings.Repeat("x", addressLimit) + ":1", false},
		{"10.0.0.9:40000", "localhost:6665", true},
		{"10.0.0.9:40000", "", true}, // the world, which is of no robot
		{"10.0.0.9:40000", "127.0.0.1:6665", false},
		{"10.0.0.9:40000", "10.0.0.7:6665", false},
		{"10.0.0.9:40000", "10.0.0.7:1", false},
		{"10.0.0.9:40000", "no address", false},
		{"10.0.0.9:40000", strings.Repeat("x", 5000), false},
	} {
		r := httptest.NewRequest("GET", "/stream", nil)
		r.RemoteAddr = tt.from
		err := s.admit(r, tt.robot)
		if (err == nil) != tt.admitted {
			t.Errorf("%s to %.40q: %v", tt.from, tt.robot, err)
		}
		if err != nil && strings.HasPrefix(tt.from, "10.") {
			why[err.Error()] = true
		}
	}
	if len(why) != 1 {
		t.Errorf("a refusal depends on the robot: %v", why)
	}
}

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"player/e2e/must"
	"player/e2e/programs"
	"player/e2e/waiting"
	"player/fleet/bridge"
)

// serveDevices starts the robot's server with devices of the test pattern.
func (r robot) serveDevices(t *testing.T, names string) *programs.Program {
	t.Helper()
	file := filepath.Join(t.TempDir(), "robot.cfg")
	var blocks strings.Builder
	for name := range strings.FieldsSeq(names) {
		fmt.Fprintf(&blocks, "driver ( name \"testpattern\" provides [%q] )\n", name)
	}
	must.Do(t, os.WriteFile(file, []byte(blocks.String()), 0o644))
	_, port, _ := strings.Cut(r.address, ":")
	return start(t, player, "-bind", "127.0.0.1", "-gp", port, "-http", r.page, file)
}

// Devices without letters are read and commanded as others, also after the robot's server has handed out other bytes.
func TestFurtherDevices(t *testing.T) {
	t.Parallel()
	a := newRobot(t, "a")
	first := a.serveDevices(t, "position:0 laser:0 laser:1 imu:0 io:0 servo:0")
	_, conn := startFleet(t, []robot{a}, "-record", "a.all")
	type message struct {
		Schema string
		Data   struct {
			Yaw    *int `json:"yaw_mdeg"`
			Ranges []int
			Values []int
			Joints []struct{ Goal *int }
		}
	}
	valid := strict(t, "data")
	read := func(device string, has func(message) bool) {
		t.Helper()
		sub := subscribe(t, conn, bridge.Subject("lab", "a", device, bridge.JSON))
		defer func() { must.Do(t, sub.Unsubscribe()) }()
		waiting.Until(t, "data of "+device, func() bool {
			m := must.Get(sub.NextMsg(patience))(t)
			var j message
			must.Do(t, valid(m.Data))
			must.Do(t, json.Unmarshal(m.Data, &j))
			iface, _, _ := strings.Cut(device, ":")
			return j.Schema == "player."+iface && has(j)
		})
	}
	imu := func(j message) bool { return j.Data.Yaw != nil }
	read("laser:1", func(j message) bool { return len(j.Data.Ranges) == 361 })
	read("imu", imu)

	keeps := func(device string) (token string, stop func()) {
		lease := bridge.Subject("lab", "a", device, bridge.Lease)
		r := request(t, conn, lease, "", []byte("alice"))
		if r.Token == "" {
			t.Fatalf("lease of %s: %+v", device, r)
		}
		return r.Token, keep(t, conn, lease, r.Token)
	}
	obeys := func(device, token, body string) {
		t.Helper()
		if r := request(t, conn, bridge.Subject("lab", "a", device, bridge.Command), token, []byte(body)); !r.OK {
			t.Errorf("%s: %s: %+v", device, body, r)
		}
	}
	token, stop := keeps("io")
	obeys("io", token, `{"channel":2,"value":1}`)
	read("io", func(j message) bool { return len(j.Data.Values) > 2 && j.Data.Values[2] == 1 })
	stop()
	token, stop = keeps("servo")
	obeys("servo", token, `{"joint":0,"goal":1200}`)
	read("servo", func(j message) bool {
		return len(j.Data.Joints) > 0 && j.Data.Joints[0].Goal != nil && *j.Data.Joints[0].Goal == 1200
	})
	stop()
	if r := request(t, conn, bridge.Subject("lab", "a", "servo", bridge.Config), "", []byte(`{"reset":true}`)); !r.OK {
		t.Errorf("a configuration of the joints: %+v", r)
	}
	if r := request(t, conn, bridge.Subject("lab", "a", "imu:7", bridge.Rate), "", []byte("5")); !strings.Contains(r.Error, "imu:7") {
		t.Errorf("the rate of a device that the robot does not have: %+v", r)
	}

	status := subscribe(t, conn, "player.lab.a.status")
	lists := func(want ...string) func() bool {
		return func() bool {
			s := must.Get(bridge.ReadStatus("player.lab.a.status", must.Get(status.NextMsg(patience))(t).Data))(t)
			return slices.Equal(s.Devices, want)
		}
	}
	waiting.Until(t, "the list of devices", lists("position", "laser", "laser:1", "imu", "io", "servo"))
	first.End(t, syscall.SIGKILL)
	a.serveDevices(t, "position:0 imu:0 gps:0") // imu:0 has the byte that laser:1 had
	waiting.Until(t, "another list of devices", lists("position", "imu", "gps"))
	read("imu", imu)
	read("gps", func(message) bool { return true })
	if r := request(t, conn, bridge.Subject("lab", "a", "servo", bridge.Lease), "", []byte("bob")); !strings.Contains(r.Error, "servo") || r.Token != "" {
		t.Errorf("the lease of a device that is gone: %+v", r)
	}
}

package status

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// ContentType is that of AppendMetrics: the text format of Prometheus, version 0.0.4
// (https://prometheus.io/docs/instrumenting/exposition_formats/).
const ContentType = "text/plain; version=0.0.4; charset=utf-8"

const (
	counter = "counter"
	gauge   = "gauge"
)

// AppendMetrics appends the status as Prometheus text.
func (s Status) AppendMetrics(dst []byte) []byte {
	t := text{dst}
	single := func(name, kind, help string, value float64, labels ...string) {
		t.family(name, kind, help)
		t.sample(name, value, labels...)
	}
	single("player_info", gauge, "Always 1; the label is the server's version.", 1, "version", s.Version)
	single("player_uptime_seconds", gauge, "Time since the server started.", time.Duration(s.Uptime).Seconds())
	single("player_loop_wakes_total", counter, "Events that the server's loop has served.", float64(s.Loop.Wakes))
	single("player_frames_late_total", counter, "Frames that became due 5 ms late, or later.", float64(s.Loop.LateFrames))
	single("player_guard_missing", gauge, "1 while motors run on if the server is killed.", one(s.Guard == GuardMissing))
	single("player_clients_max", gauge, "Clients that are served at a time, at most.", float64(s.Loop.MaxClients))
	for _, f := range robotFamilies {
		t.family(f.name, f.kind, f.help)
		for _, r := range s.Robots {
			t.sample(f.name, f.value(r), "robot", strconv.Itoa(r.Port))
		}
	}
	t.family("player_robot_info", gauge, "Always 1; name is the robot's name.")
	for _, r := range s.Robots {
		t.sample("player_robot_info", 1, "robot", strconv.Itoa(r.Port), "name", r.Name)
	}
	for _, f := range deviceFamilies {
		t.family(f.name, f.kind, f.help)
		for _, r := range s.Robots {
			for _, name := range slices.Sorted(maps.Keys(r.Devices)) {
				if v, ok := f.value(r.Devices[name]); ok {
					t.sample(f.name, v, "robot", strconv.Itoa(r.Port), "device", name)
				}
			}
		}
	}
	for _, f := range recorderFamilies {
		t.family(f.name, f.kind, f.help)
		for _, r := range s.Robots {
			for _, file := range slices.Sorted(maps.Keys(r.Recorders)) {
				t.sample(f.name, f.value(r.Recorders[file]), "robot", strconv.Itoa(r.Port), "file", file)
			}
		}
	}
	return t.b
}

// robotFamilies have a sample for each robot.
var robotFamilies = [...]struct {
	name, kind, help string
	value            func(Robot) float64
}{
	{"player_clients", gauge, "Clients that are connected.", func(r Robot) float64 { return float64(len(r.Clients)) }},
	{"player_robot_stopped", gauge, "1 while an emergency stop holds.", func(r Robot) float64 { return one(r.Stopped) }},
	{"player_frames_sent_total", counter, "Frames sent to clients.", func(r Robot) float64 { return float64(r.Totals.Frames) }},
	{"player_frames_sent_bytes_total", counter, "Bytes of these frames.", func(r Robot) float64 { return float64(r.Totals.Bytes) }},
	{"player_frames_skipped_total", counter, "Frames not sent because the link was full.", func(r Robot) float64 { return float64(r.Totals.Skipped) }},
	{"player_commands_total", counter, "Commands of clients carried out.", func(r Robot) float64 { return float64(r.Totals.Commands) }},
	{"player_commands_refused_total", counter, "Commands of clients dropped: no access, wrong size, stopped, under the control of another client.",
		func(r Robot) float64 { return float64(r.Totals.Refused) }},
}

// deviceFamilies have a sample for each device that value returns true for.
var deviceFamilies = [...]struct {
	name, kind, help string
	value            func(Device) (float64, bool)
}{
	{"player_device_open", gauge, "1 while a client or another driver has the device open.", func(d Device) (float64, bool) { return one(d.Open), true }},
	{"player_device_well", gauge, "0 while the device is lost, its setup has failed, or its data is old.", func(d Device) (float64, bool) { return one(d.State.Well()), true }},
	{"player_device_age_seconds", gauge, "Age of the newest data of a device that is open.", func(d Device) (float64, bool) {
		if d.Age == nil {
			return 0, false
		}
		return time.Duration(*d.Age).Seconds(), true
	}},
	{"player_device_rate_hertz", gauge, "Rate of the device's data.", func(d Device) (float64, bool) { return d.Rate, true }},
	{"player_device_setups_total", counter, "Setups of the device's driver.", func(d Device) (float64, bool) { return float64(d.Setups), true }},
	{"player_device_errors_total", counter, "Setups of the device's driver that failed, and losses of its hardware.", func(d Device) (float64, bool) { return float64(d.Errors), true }},
	{"player_device_retries_total", counter, "Setups and reconnections that no client asked for.", func(d Device) (float64, bool) { return float64(d.Retries), true }},
	{"player_device_dropped_total", counter, "Input of the device's driver thrown away: bytes outside of packets, and broken packets.",
		func(d Device) (float64, bool) { return float64(d.Noise), true }},
}

// recorderFamilies have a sample for each recorder.
var recorderFamilies = [...]struct {
	name, kind, help string
	value            func(Recorder) float64
}{
	{"player_recorder_well", gauge, "0 when the recorder has failed and records nothing any more.", func(r Recorder) float64 { return one(r.State.Well()) }},
	{"player_recorder_lost_total", counter, "Messages of the recording that the disk was too slow for.", func(r Recorder) float64 { return float64(r.Lost) }},
}

func one(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// text is Prometheus text.
type text struct{ b []byte }

func (t *text) family(name, kind, help string) {
	t.b = fmt.Appendf(t.b, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind)
}

// sample adds a sample with labels, which are pairs of name and value.
func (t *text) sample(family string, value float64, labels ...string) {
	t.b = append(t.b, family...)
	for i := 0; i < len(labels); i += 2 {
		separator := byte(',')
		if i == 0 {
			separator = '{'
		}
		t.b = append(t.b, separator)
		t.b = append(t.b, labels[i]...)
		t.b = append(t.b, `="`...)
		t.b = append(t.b, escape.Replace(strings.ToValidUTF8(labels[i+1], "\uFFFD"))...)
		t.b = append(t.b, '"')
	}
	if len(labels) > 0 {
		t.b = append(t.b, '}')
	}
	t.b = append(t.b, ' ')
	t.b = strconv.AppendFloat(t.b, value, 'g', -1, 64)
	t.b = append(t.b, '\n')
}

// escape escapes the value of a label.
var escape = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)

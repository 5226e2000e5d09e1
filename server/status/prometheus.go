package status

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"player/codec/peertext"
)

// ContentType is the type of AppendMetrics: the text format of Prometheus, version 0.0.4
// (https://prometheus.io/docs/instrumenting/exposition_formats/).
const ContentType = "text/plain; version=0.0.4; charset=utf-8"

// Kinds of metrics.
const (
	Counter = "counter" // only grows, and begins again with the process
	Gauge   = "gauge"
)

// AppendMetrics appends the status as Prometheus text.
func (s Status) AppendMetrics(dst []byte) []byte {
	t := Text{dst}
	t.Single("player_info", Gauge, "Always 1; the label is the server's version.", 1, "version", s.Version)
	t.Single("player_uptime_seconds", Gauge, "Time since the server started.", time.Duration(s.Uptime).Seconds())
	t.Single("player_loop_wakes_total", Counter, "Events that the server's loop has served.", float64(s.Loop.Wakes))
	t.Single("player_frames_late_total", Counter, "Frames that became due 5 ms late, or later.", float64(s.Loop.LateFrames))
	t.Single("player_guard_missing", Gauge, "1 while motors run on if the server is killed.", One(s.Guard == GuardMissing))
	t.Single("player_clients_max", Gauge, "Clients that are served at a time, at most.", float64(s.Loop.MaxClients))
	for _, f := range robotFamilies {
		t.Family(f.name, f.kind, f.help)
		for _, r := range s.Robots {
			t.Sample(f.name, f.value(r), "robot", strconv.Itoa(r.Port))
		}
	}
	t.Family("player_robot_info", Gauge, "Always 1; name is the robot's name.")
	for _, r := range s.Robots {
		t.Sample("player_robot_info", 1, "robot", strconv.Itoa(r.Port), "name", r.Name)
	}
	for _, f := range deviceFamilies {
		t.Family(f.name, f.kind, f.help)
		for _, r := range s.Robots {
			for _, name := range slices.Sorted(maps.Keys(r.Devices)) {
				if v, ok := f.value(r.Devices[name]); ok {
					t.Sample(f.name, v, "robot", strconv.Itoa(r.Port), "device", name)
				}
			}
		}
	}
	for _, f := range recorderFamilies {
		t.Family(f.name, f.kind, f.help)
		for _, r := range s.Robots {
			for _, file := range slices.Sorted(maps.Keys(r.Recorders)) {
				t.Sample(f.name, f.value(r.Recorders[file]), "robot", strconv.Itoa(r.Port), "file", file)
			}
		}
	}
	return t.Bytes
}

// robotFamilies have a sample for each robot.
var robotFamilies = [...]struct {
	name, kind, help string
	value            func(Robot) float64
}{
	{"player_clients", Gauge, "Clients that are connected.", func(r Robot) float64 { return float64(len(r.Clients)) }},
	{"player_robot_stopped", Gauge, "1 while an emergency stop holds.", func(r Robot) float64 { return One(r.Stopped) }},
	{"player_frames_sent_total", Counter, "Frames sent to clients.", func(r Robot) float64 { return float64(r.Totals.Frames) }},
	{"player_frames_sent_bytes_total", Counter, "Bytes of these frames.", func(r Robot) float64 { return float64(r.Totals.Bytes) }},
	{"player_frames_skipped_total", Counter, "Frames not sent because the network was full.", func(r Robot) float64 { return float64(r.Totals.Skipped) }},
	{"player_commands_total", Counter, "Commands of clients carried out.", func(r Robot) float64 { return float64(r.Totals.Commands) }},
	{"player_commands_refused_total", Counter, "Commands of clients dropped: no access, wrong size, stopped, under the control of another client.",
		func(r Robot) float64 { return float64(r.Totals.Refused) }},
}

// deviceFamilies have a sample for each device that value returns true for.
var deviceFamilies = [...]struct {
	name, kind, help string
	value            func(Device) (float64, bool)
}{
	{"player_device_open", Gauge, "1 while a client or another driver has the device open.", func(d Device) (float64, bool) { return One(d.Open), true }},
	{"player_device_well", Gauge, "0 while the device is lost, its setup has failed, or its data is old.", func(d Device) (float64, bool) { return One(d.State.Well()), true }},
	{"player_device_age_seconds", Gauge, "Age of the newest data of a device that is open.", func(d Device) (float64, bool) {
		if d.Age == nil {
			return 0, false
		}
		return time.Duration(*d.Age).Seconds(), true
	}},
	{"player_device_rate_hertz", Gauge, "Rate of the device's data.", func(d Device) (float64, bool) { return d.Rate, true }},
	{"player_device_setups_total", Counter, "Setups of the device's driver.", func(d Device) (float64, bool) { return float64(d.Setups), true }},
	{"player_device_errors_total", Counter, "Setups of the device's driver that failed, and losses of its hardware.", func(d Device) (float64, bool) { return float64(d.Errors), true }},
	{"player_device_retries_total", Counter, "Setups and reconnections that no client asked for.", func(d Device) (float64, bool) { return float64(d.Retries), true }},
	{"player_device_dropped_total", Counter, "Input of the device's driver thrown away: bytes outside of packets, and broken packets.",
		func(d Device) (float64, bool) { return float64(d.Noise), true }},
}

// recorderFamilies have a sample for each recorder.
var recorderFamilies = [...]struct {
	name, kind, help string
	value            func(Recorder) float64
}{
	{"player_recorder_well", Gauge, "0 when the recorder has failed and records nothing any more.", func(r Recorder) float64 { return One(r.State.Well()) }},
	{"player_recorder_lost_total", Counter, "Messages of the recording that the disk was too slow for.", func(r Recorder) float64 { return float64(r.Lost) }},
}

// One returns 1 for true, and 0 for false.
func One(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// Text is Prometheus text.
type Text struct{ Bytes []byte }

// Family begins the metric of a name. help is one line.
func (t *Text) Family(name, kind, help string) {
	t.Bytes = fmt.Appendf(t.Bytes, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind)
}

// Single appends a metric with one sample.
func (t *Text) Single(name, kind, help string, value float64, labels ...string) {
	t.Family(name, kind, help)
	t.Sample(name, value, labels...)
}

// Sample appends a sample of the metric that Family has begun last. labels are pairs of a name and a
// value.
func (t *Text) Sample(family string, value float64, labels ...string) {
	t.Bytes = append(t.Bytes, family...)
	for i := 0; i < len(labels); i += 2 {
		separator := byte(',')
		if i == 0 {
			separator = '{'
		}
		t.Bytes = append(t.Bytes, separator)
		t.Bytes = append(t.Bytes, labels[i]...)
		t.Bytes = append(t.Bytes, `="`...)
		t.Bytes = append(t.Bytes, escape.Replace(peertext.Line(labels[i+1]))...)
		t.Bytes = append(t.Bytes, '"')
	}
	if len(labels) > 0 {
		t.Bytes = append(t.Bytes, '}')
	}
	t.Bytes = append(t.Bytes, ' ')
	t.Bytes = strconv.AppendFloat(t.Bytes, value, 'g', -1, 64)
	t.Bytes = append(t.Bytes, '\n')
}

// escape escapes the value of a label, which is one line.
var escape = strings.NewReplacer(`\`, `\\`, `"`, `\"`)

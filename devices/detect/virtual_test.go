package detect

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"player/devices"
	"player/devices/create"
	"player/devices/evid30"
	"player/devices/kobuki"
	"player/devices/ldlidar"
	"player/devices/nmea"
	"player/devices/p2os"
	"player/devices/rplidar"
	"player/devices/sicklms200"
	"player/devices/urg"
	"player/devices/ydlidar"
	"player/e2e/must"
	emulatedcreate "player/simulation/emulator/create"
	"player/simulation/emulator/gps"
	emulatedkobuki "player/simulation/emulator/kobuki"
	emulatedldlidar "player/simulation/emulator/ldlidar"
	virtual "player/simulation/emulator/line"
	emulatedrobot "player/simulation/emulator/p2os"
	emulatedrplidar "player/simulation/emulator/rplidar"
	emulatedlaser "player/simulation/emulator/sick"
	"player/simulation/emulator/sony"
	emulatedurg "player/simulation/emulator/urg"
	emulatedydlidar "player/simulation/emulator/ydlidar"
)

// wire is a port on the cable of emulated hardware, in the time of a synctest bubble.
type wire struct {
	clock    *virtual.Virtual
	start    time.Time // of the clock
	pipe     *virtual.Pipe
	heard    []byte
	deadline time.Time
}

const link = "/dev/emulated"

func (w *wire) Receive(b []byte) { w.heard = append(w.heard, b...) }
func (w *wire) HangUp()          {}

// pass lets time pass on the cable as in the bubble.
func (w *wire) pass(d time.Duration) {
	time.Sleep(d)
	w.clock.Advance(time.Second + time.Since(w.start))
}

func (w *wire) Read(b []byte) (int, error) {
	for len(w.heard) == 0 {
		left := time.Until(w.deadline)
		if left <= 0 {
			return 0, os.ErrDeadlineExceeded
		}
		w.pass(min(left, 5*time.Millisecond))
	}
	n := copy(b, w.heard)
	w.heard = w.heard[n:]
	return n, nil
}

func (w *wire) Write(b []byte) (int, error) { w.pipe.Write(b); return len(b), nil }
func (w *wire) Close() error                { w.pipe.Close(); return nil }

func (w *wire) SetReadDeadline(t time.Time) error { w.deadline = t; return nil }

func (w *wire) setSpeed(baud int) error {
	w.pass(0)
	w.pipe.SetSpeed(baud)
	w.heard = nil
	return nil
}

func (w *wire) drain() error { w.pass(0); return nil }

// hardware is emulated. changed says how it is not as it was before; empty: it is.
type hardware struct {
	end     func()
	changed func() string
}

// says returns the text of unexpected values by fmt.
func says(ok bool, values ...any) string {
	if ok {
		return ""
	}
	return fmt.Sprintf("%+v", values)
}

// Hardware is found whatever it was doing, at each of its speeds, and stays as it was, but for a robot that was open.
func TestIdentify(t *testing.T) {
	kinds := []devices.Kind{p2os.Kind(), sicklms200.Kind(), evid30.Kind(), create.Kind(), kobuki.Kind(), rplidar.Kind(),
		urg.Kind(), ldlidar.Kind(), ydlidar.Kind(), nmea.Kind()}
	startRobot := func(o emulatedrobot.Options) hardware {
		r := must.Get(emulatedrobot.Start(o))(t)
		return hardware{r.Close, func() string {
			s := r.State()
			for name := range s.Counts {
				if !strings.HasPrefix(name, "SYNC") && name != "CLOSE" && name != "PULSE" {
					return name
				}
			}
			return says(!s.Open && !s.Connected && !s.Motors && s.World == emulatedrobot.Pose{}, s)
		}}
	}
	startLaser := func(o emulatedlaser.Options) hardware {
		l := must.Get(emulatedlaser.Start(o))(t)
		return hardware{l.Close, func() string {
			s := l.State()
			return says(s.Streaming == o.Streaming && !s.Configuring && s.Boots == 0 && l.Baud() == o.Line.Baud, s)
		}}
	}
	startCreate := func(o emulatedcreate.Options) hardware {
		r := must.Get(emulatedcreate.Start(o))(t)
		return hardware{r.Close, func() string {
			s := r.State()
			return says(s.Left == 0 && !s.Streaming && s.Mode <= int(create.Passive), s)
		}}
	}
	startRPLIDAR := func(o emulatedrplidar.Options) hardware {
		l := must.Get(emulatedrplidar.Start(o))(t)
		return hardware{l.Close, func() string { return says(l.Scanning() == o.Scanning) }}
	}
	startURG := func(o emulatedurg.Options) hardware {
		u := must.Get(emulatedurg.Start(o))(t)
		return hardware{u.Close, func() string { return says(u.Laser() == o.Scanning) }}
	}
	startYDLIDAR := func(o emulatedydlidar.Options) hardware {
		l := must.Get(emulatedydlidar.Start(o))(t)
		return hardware{l.Close, func() string { return says(l.Scanning() == o.Scanning) }}
	}
	const pioneer, sensor = `Pioneer p2dx "Emu01"`, "RPLIDAR A1, firmware 1.29"
	for _, test := range []struct {
		name, kind, model string
		speeds            []int
		start             func(o virtual.Options) hardware
	}{
		{"new", "p2os", pioneer, []int{9600, 19200, 38400, 57600, 115200}, func(o virtual.Options) hardware {
			return startRobot(emulatedrobot.Options{Line: o, MotorsOn: true})
		}},
		{"left open", "p2os", pioneer, []int{9600, 19200, 38400, 57600, 115200}, func(o virtual.Options) hardware {
			return startRobot(emulatedrobot.Options{Line: o, MotorsOn: true, LeftOpen: true})
		}},
		{"new", "sicklms200", `"LMS200;30106;V02.10"`, []int{9600, 19200, 38400, 500000}, func(o virtual.Options) hardware {
			return startLaser(emulatedlaser.Options{Line: o})
		}},
		{"streaming", "sicklms200", "", []int{9600, 19200, 38400, 500000}, func(o virtual.Options) hardware {
			return startLaser(emulatedlaser.Options{Line: o, Streaming: true})
		}},
		{"new", "evid30", "Sony EVI-D30, model 0402 of vendor 0020, ROM 0001", []int{9600}, func(o virtual.Options) hardware {
			c := must.Get(sony.Start(sony.Options{Line: o}))(t)
			return hardware{c.Close, func() string {
				s := c.State()
				return says(!s.Moving && s.Pan == 0 && s.Tilt == 0 && s.Zoom == 0, s)
			}}
		}},
		{"new", "create", "", []int{115200, 19200}, func(o virtual.Options) hardware {
			return startCreate(emulatedcreate.Options{Line: o})
		}},
		{"new", "kobuki", "", []int{115200}, func(o virtual.Options) hardware {
			r := must.Get(emulatedkobuki.Start(emulatedkobuki.Options{Line: o}))(t)
			return hardware{r.Close, func() string { return says(r.Commands() == 0) }}
		}},
		{"new", "rplidar", sensor, []int{115200, 256000}, func(o virtual.Options) hardware {
			return startRPLIDAR(emulatedrplidar.Options{Line: o})
		}},
		{"scanning", "rplidar", "", []int{115200, 256000}, func(o virtual.Options) hardware {
			return startRPLIDAR(emulatedrplidar.Options{Line: o, Scanning: true})
		}},
		{"new", "urg", "URG-04LX(Hokuyo Automatic Co.,Ltd.)", []int{19200, 115200}, func(o virtual.Options) hardware {
			return startURG(emulatedurg.Options{Line: o})
		}},
		{"scanning", "urg", "", []int{19200, 115200}, func(o virtual.Options) hardware {
			return startURG(emulatedurg.Options{Line: o, Scanning: true})
		}},
		{"new", "ldlidar", "", []int{230400}, func(o virtual.Options) hardware {
			l := must.Get(emulatedldlidar.Start(emulatedldlidar.Options{Line: o}))(t)
			return hardware{l.Close, func() string { return "" }}
		}},
		{"new", "nmea", "", []int{9600, 4800, 38400, 115200, 57600}, func(o virtual.Options) hardware {
			r := must.Get(gps.Start(gps.Options{Line: o}))(t)
			return hardware{r.Close, func() string { return "" }}
		}},
		{"new", "ydlidar", "YDLIDAR X4", []int{128000}, func(o virtual.Options) hardware {
			return startYDLIDAR(emulatedydlidar.Options{Line: o, Model: emulatedydlidar.X4})
		}},
		{"scanning", "ydlidar", "", []int{128000}, func(o virtual.Options) hardware {
			return startYDLIDAR(emulatedydlidar.Options{Line: o, Model: emulatedydlidar.X4, Scanning: true})
		}},
	} {
		for _, baud := range test.speeds {
			t.Run(fmt.Sprint(test.kind, " ", test.name, " ", baud), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					w := &wire{clock: virtual.NewVirtual(time.Second), start: time.Now()}
					h := test.start(virtual.Options{Link: link, Baud: baud, Paced: true, Garble: true, Clock: w.clock})
					defer h.end()
					speeds := speedsOf(kinds)
					w.pipe = must.Get(w.clock.Open(link, speeds[0], w))(t)
					f, err := identify(t.Context(), w, slices.Clone(kinds), speeds)
					want := devices.Finding{Kind: test.kind, Model: test.model, Baud: baud}
					if f != want || err != nil {
						t.Errorf("found %+v, %v; want %+v", f, err, want)
					}
					w.Close()
					w.pass(time.Second)
					if changed := h.changed(); changed != "" {
						t.Errorf("it is not as it was: %s", changed)
					}
				})
			})
		}
	}
}

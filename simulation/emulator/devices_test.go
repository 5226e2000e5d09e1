package main

import (
	"io"
	"os"
	"strings"
	"testing"

	"player/e2e/must"
	"player/e2e/needs"
)

// Every device starts, with its faults, and is named in the server's configuration.
func TestEveryDevice(t *testing.T) {
	needs.Programs(t)
	for _, flags := range []string{
		"-only create", "-only create -create-asleep", "-only arduino", "-only rplidar -rplidar-model A2 -rplidar-faults old,error-once",
		"-only urg -urg-faults old,laser", "-only urg -urg-tcp -urg-model UTM-30LX", "-only p2os,rplidar", "-only rplidar -rplidar-model S2 -rplidar-mode standard", "-only ldlidar", "-only gps", "-only kobuki", "-only ydlidar -ydlidar-model G4",
		"-only sickcola -sickcola-model LMS111 -sickcola-faults binary,standby",
	} {
		c := must.Get(parse(append(strings.Fields(flags), "-dir", t.TempDir()), io.Discard))(t)
		var r robot
		command, err := r.start(c, io.Discard)
		if err != nil {
			t.Fatalf("%s: %v", flags, err)
		}
		_, file, _ := strings.Cut(command, " ")
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatalf("%s: %s: %v", flags, command, err)
		}
		for _, m := range r {
			if where := m.block[strings.LastIndex(m.block, " ")+1:]; !strings.Contains(string(text), where) {
				t.Errorf("%s: %s is not in\n%s", flags, where, text)
			}
			for verb, do := range m.verbs {
				if r.named("", verb) != m {
					t.Errorf("%s: %s is done to another device", flags, verb)
				}
				do()
				do()
			}
			m.state()
		}
		r.close()
	}
}

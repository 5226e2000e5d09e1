package app

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"player/config"
	"player/e2e/must"
)

// A program reads the content of a configuration, the missing files and ports, and each mistake with its
// place.
func TestCheckForPrograms(t *testing.T) {
	path := filepath.Join(t.TempDir(), "robot.cfg")
	for _, tt := range []struct {
		text string
		want config.Report
	}{
		{
			`driver ( name "p2os" provides ["position:0" "misc:0"] port "/dev/nowhere" )`,
			config.Report{Good: true, Robots: []config.ReportRobot{{Port: 7000, Drivers: []config.ReportDriver{{Name: "p2os", Place: path + ":1", Devices: []string{"position:0", "misc:0"}}}}},
				Warnings: []string{"p2os: serial port /dev/nowhere: no such file or directory: is the adapter plugged in? ls /dev/serial/by-id shows the ones that are"}},
		},
		{
			"driver ( name \"testpattern\" rat 5 provides [\"sonar:0\"] )\ndriver ( name \"nothing\" )",
			config.Report{Errors: []config.ReportMistake{
				{File: path, Line: 1, Column: 29, Message: `field "rat" is not used in driver; did you mean "rate"?`},
				{File: path, Line: 2, Column: 15, Message: ""},
			}},
		},
		{"", config.Report{Errors: []config.ReportMistake{{Message: path + ": there is no driver in this file"}}}},
	} {
		must.Do(t, os.WriteFile(path, []byte(tt.text), 0o600))
		stdout, _, err := runs(t, "check", "-json", "-gp", "7000", path)
		var got config.Report
		if broken := json.Unmarshal([]byte(stdout), &got); broken != nil || strings.Count(stdout, "\n") != 1 {
			t.Fatalf("%s: %v", stdout, broken)
		}
		if (err == nil) != tt.want.Good {
			t.Errorf("%s: %v", tt.text, err)
		}
		for _, robot := range got.Robots {
			for i := range robot.Drivers {
				if port := robot.Drivers[i].Options["port"]; port != "/dev/nowhere" {
					t.Errorf("the option port is %v", port)
				}
				robot.Drivers[i].Options = nil
			}
		}
		for i := range got.Errors {
			if i < len(tt.want.Errors) && tt.want.Errors[i].Message == "" && strings.Contains(got.Errors[i].Message, "nothing") {
				got.Errors[i].Message = "" // the list of all drivers
			}
		}
		if !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s\n%+v, want %+v", tt.text, got, tt.want)
		}
	}
}

// A program reads all drivers. The type of an option is the type of its default.
func TestListForPrograms(t *testing.T) {
	stdout, _, err := runs(t, "list", "-json")
	if err != nil {
		t.Fatal(err)
	}
	var kinds []config.ReportKind
	must.Do(t, json.Unmarshal([]byte(stdout), &kinds))
	if len(kinds) != len(catalogue()) {
		t.Errorf("%d drivers, want %d", len(kinds), len(catalogue()))
	}
	for i, k := range catalogue() {
		if got := kinds[i]; got.Name != k.Name || got.Doc != k.Doc || len(got.Options) != len(k.Options) || len(got.Provides) != len(k.Provides) {
			t.Errorf("%+v, want %s: %s", got, k.Name, k.Doc)
		}
	}
}

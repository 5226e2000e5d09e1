package config

import (
	"player/devices"
	"player/formats/syntax"
)

// Report describes a configuration to programs.
type Report struct {
	Good     bool            `json:"good"`
	Robots   []ReportRobot   `json:"robots,omitempty"`
	Errors   []ReportMistake `json:"errors,omitempty"`   // it is not good
	Warnings []string        `json:"warnings,omitempty"` // about things missing here and now: ports, certificates
}

// ReportRobot is one robot of it.
type ReportRobot struct {
	Port    int            `json:"port"`
	TLS     string         `json:"tls,omitempty"` // HOST:PORT
	Drivers []ReportDriver `json:"drivers"`
}

// ReportDriver is one driver of a robot.
type ReportDriver struct {
	Name    string         `json:"name"`
	Place   string         `json:"place"`             // FILE:LINE
	Devices []string       `json:"devices,omitempty"` // as "position:0"; clients reach those with 0
	Options map[string]any `json:"options"`           // by the names in the file
}

// ReportMistake is a mistake. Without a place it has neither file nor line.
type ReportMistake struct {
	File    string `json:"file,omitempty"`
	Line    int    `json:"line,omitempty"`   // from 1
	Column  int    `json:"column,omitempty"` // from 1, in bytes
	Message string `json:"message"`
}

// Report describes a server to programs.
func (s *Server) Report() Report {
	r := Report{Good: true}
	for _, robot := range s.Robots {
		reported := ReportRobot{Port: robot.Port, TLS: robot.TLS}
		for _, d := range robot.Drivers {
			reported.Drivers = append(reported.Drivers, ReportDriver{d.Link.Name(), d.Pos.Place(), namesOf(d.shown()), d.Values})
		}
		r.Robots = append(r.Robots, reported)
	}
	return r
}

// Mistakes describes the error of a configuration to programs.
func Mistakes(err error) (all []ReportMistake) {
	for _, mistake := range syntax.Mistakes(err) {
		if e, ok := mistake.(*syntax.Error); ok {
			all = append(all, ReportMistake{e.File, e.Line, e.Column, e.Err.Error()})
			continue
		}
		all = append(all, ReportMistake{Message: mistake.Error()})
	}
	return all
}

// ReportKind describes a kind of driver to programs.
type ReportKind struct {
	Name     string         `json:"name"`
	Doc      string         `json:"doc"`
	Provides []string       `json:"provides,omitempty"` // none: the interfaces in its block
	Requires []string       `json:"requires,omitempty"`
	Options  []ReportOption `json:"options,omitempty"`
}

// ReportOption is an option of a kind.
type ReportOption struct {
	Name     string `json:"name"`
	Default  any    `json:"default"` // its type is the option's type
	Required bool   `json:"required,omitempty"`
	Unit     string `json:"unit,omitempty"`
	Doc      string `json:"doc"`
}

// ReportKinds describes kinds to programs.
func ReportKinds(kinds []devices.Kind) (all []ReportKind) {
	for _, k := range kinds {
		r := ReportKind{Name: k.Name, Doc: k.Doc, Provides: interfaceNames(k.Provides), Requires: namesOf(k.Requires)}
		for _, o := range k.Options {
			r.Options = append(r.Options, ReportOption{o.Name, o.Default, o.Required, o.Unit, o.Doc})
		}
		all = append(all, r)
	}
	return all
}

// shown returns the devices of a driver that people and programs are shown.
func (d Driver) shown() (specs []devices.Spec) {
	for _, device := range d.Link.Devices() {
		if spec := device.Spec(); spec.Index != devices.Hidden {
			specs = append(specs, spec)
		}
	}
	return specs
}

func namesOf(specs []devices.Spec) []string {
	names := make([]string, len(specs))
	for i, s := range specs {
		names[i] = s.Address()
	}
	return names
}

package config

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"player/devices"
	"player/formats/syntax"
)

// WriteTable writes the table of player check: for each robot its devices with their bytes on the wire
// and drivers, then the drivers with their options; last the access rules.
func (s *Server) WriteTable(w io.Writer) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, r := range s.Robots {
		fmt.Fprintf(tw, "robot on port %d", r.Port)
		if r.TLS != "" {
			fmt.Fprintf(tw, ", by TLS on %s", r.TLS)
		}
		fmt.Fprintln(tw)
		for _, d := range r.Drivers {
			for _, device := range d.Link.Devices() {
				code := "-" // clients cannot ask for it
				switch c := device.Code(); {
				case device.Spec().Index == devices.Hidden:
					continue
				case c == device.Letter():
					code = string(rune(c))
				case c != 0:
					code = fmt.Sprint(c)
				}
				fmt.Fprintf(tw, "  %s\t%s\t%s\t%s\n", code, device.Spec().Address(), d.Link.Name(), d.Pos.Place())
			}
		}
		for _, d := range r.Drivers {
			fmt.Fprintf(tw, "driver %s\n", d.Link.Name())
			if g := d.Link.Geometry(); g != (devices.Geometry{}) {
				fmt.Fprintf(tw, "  pose\t[%.4g %.4g] mm, %.4g deg\n  size\t[%.4g %.4g] mm\n", g.X, g.Y, g.Heading, g.Length, g.Width)
			}
			for _, o := range d.Kind.Options {
				fmt.Fprintf(tw, "  %s\t%s%s\n", o.Name, literal(d.Values[o.Name]), unit(o))
			}
		}
	}
	for _, rule := range s.Access {
		fmt.Fprint(tw, rule.Allow)
		if rule.From != nil {
			fmt.Fprintf(tw, " from %v", rule.From)
		}
		if rule.Names != nil {
			fmt.Fprintf(tw, " named %q", rule.Names)
		}
		fmt.Fprintln(tw)
	}
	if s.Dashboard != nil {
		fmt.Fprintf(tw, "dashboard %v\n", s.Dashboard)
	}
	return tw.Flush()
}

// WriteList writes the list of player list: the kinds with their options and defaults.
func WriteList(w io.Writer, kinds []devices.Kind) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for i, k := range kinds {
		if i > 0 {
			fmt.Fprintln(tw)
		}
		fmt.Fprintf(tw, "%s: %s\n", k.Name, k.Doc)
		for _, line := range relations(k) {
			fmt.Fprintf(tw, "  %s\n", line)
		}
		for _, o := range k.Options {
			fmt.Fprintf(tw, "  %s\t%s%s\t%s\n", o.Name, defaultOf(o), unit(o), o.Doc)
		}
	}
	return tw.Flush()
}

// relations returns lines about the interfaces that a kind provides and requires.
func relations(k devices.Kind) []string {
	var lines, named []string
	for _, spec := range k.Provides {
		if spec.Index == devices.Hidden && !slices.Contains(named, spec.Name) {
			named = append(named, spec.Name)
		}
	}
	usual := slices.DeleteFunc(slices.Clone(k.Provides), func(s devices.Spec) bool { return s.Index == devices.Hidden })
	if k.Provides == nil {
		lines = append(lines, "provides any interface")
	}
	if len(usual) > 0 {
		lines = append(lines, "provides "+strings.Join(interfaceNames(usual), ", "))
	}
	if len(named) > 0 {
		lines = append(lines, "provides also, if its block names them, "+strings.Join(named, ", "))
	}
	if len(k.Requires) > 0 {
		lines = append(lines, "requires "+strings.Join(namesOf(k.Requires), ", "))
	}
	if len(k.Accepts) > 0 {
		lines = append(lines, "can require "+strings.Join(interfaceNames(k.Accepts), ", "))
	}
	if k.AlwaysOn {
		lines = append(lines, "is always on")
	}
	return lines
}

func defaultOf(o devices.Option) string {
	if o.Required {
		return "(required)"
	}
	return literal(o.Default)
}

// literal writes a value as in a configuration file.
func literal(v any) string {
	switch v := v.(type) {
	case string:
		return syntax.Quote(v)
	case devices.Path:
		return syntax.Quote(string(v))
	case devices.SerialPort:
		return syntax.Quote(string(v))
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case []string:
		quoted := make([]string, len(v))
		for i, s := range v {
			quoted[i] = literal(s)
		}
		return "[" + strings.Join(quoted, " ") + "]"
	}
	return fmt.Sprint(v)
}

// WriteMarkdown writes the kinds as the section of docs/CONFIG.md.
func WriteMarkdown(w io.Writer, kinds []devices.Kind) error {
	var b strings.Builder
	for _, k := range kinds {
		fmt.Fprintf(&b, "\n### %s\n\n%s.\n", k.Name, strings.ToUpper(k.Doc[:1])+k.Doc[1:])
		for _, line := range relations(k) {
			fmt.Fprintf(&b, "%s.\n", strings.ToUpper(line[:1])+line[1:])
		}
		if len(k.Options) == 0 {
			continue
		}
		fmt.Fprint(&b, "\n| field | default | meaning |\n|---|---|---|\n")
		for _, o := range k.Options {
			doc := o.Doc
			if o.Min != 0 || o.Max != 0 {
				doc += fmt.Sprintf("; %v to %v", o.Min, o.Max)
			}
			fmt.Fprintf(&b, "| `%s` | `%s`%s | %s |\n", o.Name, defaultOf(o), unit(o), strings.ReplaceAll(doc, "|", `\|`))
		}
	}
	fmt.Fprintln(&b)
	_, err := io.WriteString(w, b.String())
	return err
}

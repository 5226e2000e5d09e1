package syntax

import "strings"

// String returns the tree as a configuration file without comments and
// includes, each section with everything that its defines contributed. The
// text parses back to an equal tree: empty defines are written to keep the
// names. A text above the size limit of a file is still returned, but refused
// when parsed.
func (f *File) String() string {
	var b strings.Builder
	for _, p := range f.Plugins {
		b.WriteString("plugin ")
		p.format(&b)
		b.WriteString("\n")
	}
	f.Global.formatFields(&b, "")
	defined := map[string]bool{}
	for _, s := range f.Global.Children {
		s.formatDefines(&b, defined)
		s.format(&b, "")
	}
	return b.String()
}

// formatDefines writes empty defines for the macros in s that have none yet,
// the last of a chain first, because the others build on it.
func (s *Section) formatDefines(b *strings.Builder, defined map[string]bool) {
	base := s.Type
	for i := len(s.Macros) - 1; i >= 0; i-- {
		name := s.Macros[i]
		if !defined[name] {
			defined[name] = true
			b.WriteString("define " + name + " " + base + " ()\n")
		}
		base = name
	}
	for _, child := range s.Children {
		child.formatDefines(b, defined)
	}
}

func (s *Section) format(b *strings.Builder, indent string) {
	b.WriteString(indent + s.Name + " (\n")
	s.formatFields(b, indent+"  ")
	for _, child := range s.Children {
		child.format(b, indent+"  ")
	}
	b.WriteString(indent + ")\n")
}

func (s *Section) formatFields(b *strings.Builder, indent string) {
	for _, field := range s.Fields {
		b.WriteString(indent + field.Name + " ")
		if field.Tuple {
			b.WriteString("[")
		}
		for i, v := range field.Values {
			if i > 0 {
				b.WriteString(" ")
			}
			v.format(b)
		}
		if field.Tuple {
			b.WriteString("]")
		}
		b.WriteString("\n")
	}
}

func (v Value) format(b *strings.Builder) {
	if v.kind == kindString {
		b.WriteString(`"` + v.Text + `"`)
		return
	}
	b.WriteString(v.Text)
}

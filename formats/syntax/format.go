package syntax

import "strings"

// Text returns the section as in a file, without comments and with everything
// that its defines contributed.
func (s *Section) Text() string {
	var b strings.Builder
	s.format(&b, "")
	return b.String()
}

// Text returns the field as in a file, on one line.
func (f *Field) Text() string {
	values := make([]string, len(f.Values))
	for i, v := range f.Values {
		values[i] = v.quoted()
	}
	text := strings.Join(values, " ")
	if f.Tuple {
		text = "[" + text + "]"
	}
	return f.Name + " " + text
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
		b.WriteString(indent + field.Text() + "\n")
	}
}

// quoted returns the value as in a file.
func (v Value) quoted() string {
	if v.kind == kindString {
		return Quote(v.Text)
	}
	return v.Text
}

// Quote returns a string as in a file.
func Quote(text string) string {
	if strings.Contains(text, `"`) {
		return "'" + text + "'"
	}
	return `"` + text + `"`
}

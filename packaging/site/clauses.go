package site

import (
	"os"
	"path/filepath"
	"regexp"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"
)

// protocol is the page whose clauses have numbers: paragraphs that begin with one in bold type.
const protocol = "docs/PROTOCOL.md"

var (
	clause   = regexp.MustCompile(`(?m)^\*\*([0-9]+(?:\.[0-9]+)+)\*\*`)
	citation = regexp.MustCompile(`\bPROTOCOL ([0-9]+(?:\.[0-9]+)+)`)
)

// clauses returns the numbers of all clauses.
func (s *site) clauses() (map[string]bool, error) {
	source, err := os.ReadFile(filepath.Join(s.root, protocol))
	if err != nil {
		return nil, err
	}
	numbers := map[string]bool{}
	for _, match := range clause.FindAllSubmatch(source, -1) {
		numbers[string(match[1])] = true
	}
	return numbers, nil
}

// anchor gives a paragraph that is a clause its number as an anchor.
func anchor(p *ast.Paragraph, source []byte) {
	bold, ok := p.FirstChild().(*ast.Emphasis)
	if number := ""; ok && bold.Level == 2 {
		if number = plain(bold, source); clause.MatchString("**" + number + "**") {
			p.SetAttributeString("id", []byte(number))
		}
	}
}

// cite makes links of the citations in a text, for example "PROTOCOL 5.4", if that clause exists.
func (s *site) cite(n *ast.Text, source []byte, to string) {
	for parent := n.Parent(); parent != nil; parent = parent.Parent() {
		if kind := parent.Kind(); kind == ast.KindLink || kind == ast.KindCodeSpan || kind == ast.KindHeading {
			return
		}
	}
	parent, segment := n.Parent(), n.Segment
	from := segment.Start
	for _, m := range citation.FindAllSubmatchIndex(segment.Value(source), -1) {
		number := string(source[segment.Start+m[2] : segment.Start+m[3]])
		if !s.numbers[number] {
			continue
		}
		link := ast.NewLink()
		link.Destination = []byte(to + "#" + number)
		link.AppendChild(link, ast.NewTextSegment(text.NewSegment(segment.Start+m[0], segment.Start+m[1])))
		parent.InsertBefore(parent, n, ast.NewTextSegment(text.NewSegment(from, segment.Start+m[0])))
		parent.InsertBefore(parent, n, link)
		from = segment.Start + m[1]
	}
	n.Segment = text.NewSegment(from, segment.Stop)
}

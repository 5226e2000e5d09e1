package app

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"player/e2e/acceptance"
	"player/e2e/must"
)

var (
	// clause is the begin of a clause of docs/PROTOCOL.md, which has its number in bold type: a paragraph with the
	// anchor on a line of its own, or a row of a table.
	clause = regexp.MustCompile(`(?m)^(?:<a id="[^"]*"></a>\n)?(\*\*([0-9]+(?:\.[0-9]+)+)\b)`)
	row    = regexp.MustCompile(`(?m)^\| (?:<a id="[^"]*"></a>)?(\*\*([0-9]+(?:\.[0-9]+)+)\*\*)`)
	// citation cites a clause, as a link or not yet; code is no citation.
	citation = regexp.MustCompile(`[\x60\[]?\bPROTOCOL(\s+)([0-9]+(?:\.[0-9]+)+)\]?(\([^)\s]*\))?`)
	// definition is a line at the end of a page: where a citation leads.
	definition = regexp.MustCompile(`(?m)^\[PROTOCOL [0-9.]+\]: \S+#[0-9.]+\n`)
)

// Each clause of the protocol has an anchor, and each citation on a page is a link to it: [PROTOCOL 5.4], with
// a definition at the end of the page, or with the address behind it. -update adds missing ones.
func TestDocsCiteClauses(t *testing.T) {
	acceptance.Alone(t)
	const protocol = "docs/PROTOCOL.md"
	for _, p := range pages(t) {
		if p.path == "CHANGELOG.md" || strings.HasPrefix(p.path, "docs/BENCHMARKS") { // notes of releases, and generated
			continue
		}
		text := p.text
		if p.path == protocol {
			text = clause.ReplaceAllString(text, "<a id=\"$2\"></a>\n$1")
			text = row.ReplaceAllString(text, `| <a id="$2"></a>$1`)
		} else {
			to := filepath.ToSlash(must.Get(filepath.Rel(filepath.Dir(p.path), protocol))(t))
			text = cite(text, to)
		}
		switch {
		case text == p.text:
		case *update:
			must.Do(t, os.WriteFile(p.path, []byte(text), 0o644))
		default:
			t.Errorf("%s has a clause without an anchor, or a citation that is no link: go test ./app -run TestDocs -update", p.path)
		}
	}
}

// cite makes a link of each citation in a page, to the file of the protocol.
func cite(text, to string) string {
	had := definition.MatchString(text)
	text = definition.ReplaceAllString(text, "")
	var cited []string
	text = citation.ReplaceAllStringFunc(text, func(found string) string {
		m := citation.FindStringSubmatch(found)
		if found[0] == '`' || m[3] == "("+to+"#"+m[2]+")" {
			return found
		}
		if !slices.Contains(cited, m[2]) {
			cited = append(cited, m[2])
		}
		return "[PROTOCOL" + m[1] + m[2] + "]"
	})
	if len(cited) == 0 && !had {
		return text
	}
	text = strings.TrimRight(text, "\n") + "\n"
	if lines := strings.Split(text, "\n"); len(cited) > 0 && !strings.HasPrefix(lines[len(lines)-2], "[") {
		text += "\n"
	}
	slices.Sort(cited)
	for _, number := range cited {
		text += fmt.Sprintf("[PROTOCOL %s]: %s#%[1]s\n", number, to)
	}
	return text
}

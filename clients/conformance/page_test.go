package conformance

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"player/e2e/must"
)

const page = "../../docs/CLIENTS.md"

// The tables of docs/CLIENTS.md equal the suite's.
func TestPage(t *testing.T) {
	text := must.Get(os.ReadFile(page))(t)
	want := string(text)
	for name, table := range map[string]string{"languages": languageTable(), "cases": caseTable(t)} {
		part := regexp.MustCompile("(?s)(<!-- " + name + " -->\n).*?(<!-- end -->)")
		if !part.MatchString(want) {
			t.Fatalf("%s has no part %q", page, name)
		}
		want = part.ReplaceAllString(want, "${1}"+table+"${2}")
	}
	switch {
	case want == string(text):
	case *update:
		must.Do(t, os.WriteFile(page, []byte(want), 0o644))
	default:
		t.Errorf("%s is out of date: go test ./clients/conformance -run TestPage -update", page)
	}
}

func languageTable() string {
	var b strings.Builder
	b.WriteString("| language | folder | build and test | packages |\n|---|---|---|---|\n")
	for _, l := range languages {
		folder, readme := "clients/"+l.name, "../clients/"+l.name+"/README.md"
		if l.name == "go" {
			folder, readme = "client", "../client"
		}
		fmt.Fprintf(&b, "| %s | [%s](%s) | `%s` | %s |\n", l.title, folder, readme, strings.Join(l.test, " "), l.packages)
	}
	return b.String()
}

// caseTable has the cases of each clause of the protocol.
func caseTable(t *testing.T) string {
	t.Helper()
	protocol := must.Get(os.ReadFile("../../docs/PROTOCOL.md"))(t)
	var b strings.Builder
	b.WriteString("| file | cases | number | clauses |\n|---|---|---|---|\n")
	total := 0
	for _, g := range groups {
		cases := g.generate()
		total += len(cases)
		var clauses []string
		for _, c := range cases {
			clauses = append(clauses, strings.Fields(c.Clauses)...)
		}
		slices.Sort(clauses)
		clauses = slices.Compact(clauses)
		for _, clause := range clauses {
			if !strings.Contains(string(protocol), "**"+clause+"**") && !strings.Contains(string(protocol), "**"+clause+" ") && !strings.Contains(string(protocol), "\n## "+clause+" ") {
				t.Errorf("group %s cites clause %s, which %s does not have", g.name, clause, "PROTOCOL.md")
			}
		}
		fmt.Fprintf(&b, "| `%s` | %s | %d | %s |\n", g.name, g.title, len(cases), strings.Join(clauses, ", "))
	}
	fmt.Fprintf(&b, "| all | | %d | |\n", total)
	return b.String()
}

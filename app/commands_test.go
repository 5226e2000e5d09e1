package app

import (
	"strings"
	"testing"

	"player/e2e/must"
)

// The list of subcommands in -h has two columns in 80 characters.
func TestCommandsFitTheHelp(t *testing.T) {
	page := must.Get(help(nil))(t)
	for _, c := range commands() {
		if len(c.Name) > 8 || len(c.Summary) > 28 {
			t.Errorf("%s: %q does not fit its column", c.Name, c.Summary)
		}
		if !strings.Contains(page, "  "+c.Name+" ") || !strings.Contains(page, c.Summary) {
			t.Errorf("-h does not list %s", c.Name)
		}
		usage := must.Get(help([]string{c.Name}))(t)
		for line := range strings.Lines(usage) {
			if len([]rune(line)) > 81 {
				t.Errorf("help %s: %q is longer than 80 characters", c.Name, line)
			}
		}
		if !strings.Contains(usage, "Exit code") {
			t.Errorf("help %s does not list the exit codes", c.Name)
		}
	}
}

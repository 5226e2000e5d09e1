package main

import (
	"fmt"
	"regexp"
	"strings"
)

// manual returns the manual page, player(1).
func (h handbook) manual(s source) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, ".TH PLAYER 1 %s %q \"User Commands\"\n", s.time.Format("2006-01-02"), "player "+s.version)
	b.WriteString(".SH NAME\nplayer \\- robot device server\n")
	b.WriteString(".SH DESCRIPTION\n" + roff(h.page))
	for _, name := range commandsOf(h.page) {
		fmt.Fprintf(&b, ".SH %s\n%s", roffLine("PLAYER "+strings.ToUpper(name)), roff(h.commands[name]))
	}
	b.WriteString(".SH FILES\n.TP\n/etc/player/player.cfg\nwhat the service serves\n" +
		".TP\n/usr/share/player/worlds\nsimulated worlds, which are also in the program\n" +
		".TP\n/usr/share/doc/player\nall other documentation\n.TP\n/var/lib/player\nrecordings of the service\n")
	return []byte(b.String())
}

// pair matches a line of the list of subcommands, which has two columns.
var pair = regexp.MustCompile(`(?m)^  (\S+)  +(\S.*?)  +(\S+)  +(\S.*)$`)

// oneColumn returns the page of -h with one subcommand a line.
func oneColumn(page string) string {
	before, rest, _ := strings.Cut(page, "\nCommands")
	list, after, _ := strings.Cut(rest, "\n\n")
	return before + "\nCommands" + pair.ReplaceAllString(list, "  $1    $2\n  $3    $4") + "\n\n" + after
}

// commandsOf returns the names of the subcommands that a page of one column lists.
func commandsOf(page string) (names []string) {
	_, list, _ := strings.Cut(page, "\nCommands")
	list, _, _ = strings.Cut(list, "\n\n")
	for _, line := range strings.Split(list, "\n")[1:] {
		names = append(names, strings.Fields(line)[0])
	}
	return names
}

// item matches a line of a list: a term, two spaces and its description.
var item = regexp.MustCompile(`^  (\S+(?: \S+)*)  +(\S.*)$`)

// roff marks up a page of help. Its headings are lines above indented ones.
func roff(page string) string {
	var b strings.Builder
	lines := strings.Split(page, "\n")
	literal, list := false, false
	end := func() {
		if literal {
			b.WriteString(".EE\n")
		}
		literal = false
	}
	for i, line := range lines {
		indented := strings.HasPrefix(line, " ")
		match := item.FindStringSubmatch(line)
		switch {
		case line == "":
			end()
			list = false
			b.WriteString(".PP\n")
		case match != nil && (strings.HasPrefix(match[1], "-") || list || strings.Contains(line, "    ")):
			end()
			list = true
			fmt.Fprintf(&b, ".TP\n.B %s\n%s\n", roffLine(match[1]), roffLine(match[2]))
		case indented && list:
			fmt.Fprintf(&b, "%s\n", roffLine(strings.TrimSpace(line)))
		case indented || strings.HasPrefix(line, "usage:"):
			if !literal {
				b.WriteString(".EX\n")
			}
			literal = true
			fmt.Fprintf(&b, "%s\n", roffLine(line))
		case (i == 0 || lines[i-1] == "") && i+1 < len(lines) && strings.HasPrefix(lines[i+1], "  ") && !strings.HasSuffix(line, "."):
			end()
			fmt.Fprintf(&b, ".SS %s\n", roffLine(strings.TrimSuffix(line, ":")))
		default:
			end()
			fmt.Fprintf(&b, "%s\n", roffLine(line))
		}
	}
	end()
	return b.String()
}

// roffLine escapes a line of text.
func roffLine(line string) string {
	line = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(line)
	if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
		line = `\&` + line
	}
	return line
}

package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"player/simulation/worlds"
)

// handbook has the help of the program: the page of -h with one subcommand a line, and
// the pages of the subcommands by their names.
type handbook struct {
	page     string
	commands map[string]string
}

// handbookOf asks the program at path.
func handbookOf(path string) (handbook, error) {
	page, err := output(path, "-h")
	if err != nil {
		return handbook{}, err
	}
	h := handbook{oneColumn(page), map[string]string{}}
	for _, name := range commandsOf(h.page) {
		if h.commands[name], err = output(path, "help", name); err != nil {
			return h, err
		}
	}
	return h, nil
}

// flagLine matches the line of a flag on a page: its name, the name of its value if it has one, and
// its purpose.
var flagLine = regexp.MustCompile(`(?m)^  -([a-z][\w-]*)(?: ([A-Z][\w-]*))? +(\S.*?)(?:  +\(.*)?$`)

// option is a flag of a subcommand, or of the server.
type option struct {
	name  string
	value string // the name of its value; empty: it has none
	about string
}

// options returns the flags that a page lists.
func options(page string) (all []option) {
	for _, m := range flagLine.FindAllStringSubmatch(page, -1) {
		all = append(all, option{m[1], m[2], m[3]})
	}
	return all
}

// words returns the words that may be the value of a flag, apart from files.
func (o option) words() []string {
	switch o.value {
	case "WORLD":
		return append(worlds.Names(), "list")
	case "FORMAT":
		return []string{"text", "json"}
	}
	return nil
}

// scene is a place of the command line: behind a subcommand, or, with an empty name, the
// server.
type scene struct {
	name, about string
	options     []option
}

// scenes returns all places, the server first. Subcommands that start or check a
// server also have its flags.
func (h handbook) scenes() []scene {
	all := []scene{{options: options(h.page)}}
	for _, name := range commandsOf(h.page) {
		s := scene{name: name, about: summaryOf(h.page, name), options: options(h.commands[name])}
		if name == "check" || name == "replay" {
			s.options = append(s.options, slices.DeleteFunc(options(h.page), func(o option) bool {
				return slices.ContainsFunc(s.options, func(own option) bool { return own.name == o.name })
			})...)
		}
		all = append(all, s)
	}
	return all
}

// summaryOf returns the summary of a subcommand in the list of a page.
func summaryOf(page, name string) string {
	_, list, _ := strings.Cut(page, "\nCommands")
	for line := range strings.Lines(list) {
		if fields := strings.Fields(line); len(fields) > 1 && fields[0] == name {
			return strings.Join(fields[1:], " ")
		}
	}
	return ""
}

// bash returns the completion for bash.
func (h handbook) bash() []byte {
	var b strings.Builder
	b.WriteString("# Completion of player for bash.\n_player() {\n  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} command= words=\n" +
		"  if [ \"$COMP_CWORD\" -gt 1 ]; then command=${COMP_WORDS[1]}; fi\n  case $command in\n")
	scenes := h.scenes()
	for _, s := range append(scenes[1:], scenes[0]) {
		pattern := s.name
		if pattern == "" {
			pattern = "*"
		}
		fmt.Fprintf(&b, "  %s)\n    case $before in\n", pattern)
		var values, names []string
		for _, o := range s.options {
			names = append(names, "-"+o.name)
			if words := o.words(); words != nil {
				fmt.Fprintf(&b, "    -%s) words=%q ;;\n", o.name, strings.Join(words, " "))
			} else if o.value != "" {
				values = append(values, "-"+o.name)
			}
		}
		if values != nil {
			fmt.Fprintf(&b, "    %s) COMPREPLY=(); return ;;\n", strings.Join(values, "|"))
		}
		fmt.Fprintf(&b, "    *) case $word in -*) words=%q ;; esac ;;\n    esac ;;\n", strings.Join(names, " "))
	}
	fmt.Fprintf(&b, "  esac\n  if [ \"$COMP_CWORD\" = 1 ] && [ -z \"$words\" ]; then words=%q; fi\n", strings.Join(append(commandsOf(h.page), "help"), " "))
	fmt.Fprintf(&b, "  if [ \"$COMP_CWORD\" = 2 ] && [ \"$command\" = help ]; then words=%q; fi\n", strings.Join(commandsOf(h.page), " "))
	b.WriteString("  mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$word\")\n}\ncomplete -o default -F _player player\n")
	return []byte(b.String())
}

// zsh returns the completion for zsh.
func (h handbook) zsh() []byte {
	text := strings.NewReplacer("'", `'\''`, "[", `\[`, "]", `\]`, ":", `\:`)
	var b strings.Builder
	b.WriteString("#compdef player\n# Completion of player for zsh.\n_player() {\n  local -a commands\n  commands=(\n")
	scenes := h.scenes()
	for _, s := range scenes[1:] {
		fmt.Fprintf(&b, "    '%s:%s'\n", s.name, text.Replace(s.about))
	}
	b.WriteString("    'help:help for a command'\n  )\n  if (( CURRENT == 2 )) && [[ $PREFIX != -* ]]; then _describe command commands; _files; return; fi\n  case $words[2] in\n" +
		"  help) (( CURRENT == 3 )) && _describe command commands ;;\n")
	for _, s := range append(scenes[1:], scenes[0]) {
		pattern := s.name
		if pattern == "" {
			pattern = "*"
		}
		fmt.Fprintf(&b, "  %s) _arguments \\\n", pattern)
		for _, o := range s.options {
			fmt.Fprintf(&b, "    '-%s[%s]", o.name, text.Replace(o.about))
			if words := o.words(); words != nil {
				fmt.Fprintf(&b, ":%s:(%s)", o.value, strings.Join(words, " "))
			} else if o.value != "" {
				fmt.Fprintf(&b, ":%s:_files", o.value)
			}
			b.WriteString("' \\\n")
		}
		b.WriteString("    '*:file:_files' ;;\n")
	}
	b.WriteString("  esac\n}\n_player \"$@\"\n")
	return []byte(b.String())
}

// fish returns the completion for fish.
func (h handbook) fish() []byte {
	quote := strings.NewReplacer(`\`, `\\`, "'", `\'`)
	var b strings.Builder
	b.WriteString("# Completion of player for fish.\n")
	names := strings.Join(append(commandsOf(h.page), "help"), " ")
	for _, s := range h.scenes() {
		where := fmt.Sprintf("not __fish_seen_subcommand_from %s", names)
		if s.name != "" {
			fmt.Fprintf(&b, "complete -c player -n '%s' -a %s -d '%s'\n", where, s.name, quote.Replace(s.about))
			where = "__fish_seen_subcommand_from " + s.name
		}
		for _, o := range s.options {
			fmt.Fprintf(&b, "complete -c player -n '%s' -o %s -d '%s'", where, o.name, quote.Replace(o.about))
			if o.value != "" {
				b.WriteString(" -r")
			}
			if words := o.words(); words != nil {
				fmt.Fprintf(&b, " -a '%s'", strings.Join(words, " "))
			}
			b.WriteString("\n")
		}
	}
	fmt.Fprintf(&b, "complete -c player -n '__fish_seen_subcommand_from help' -x -a '%s'\n", strings.Join(commandsOf(h.page), " "))
	return []byte(b.String())
}

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"player/e2e/built"
	"player/e2e/must"
	"player/e2e/needs"
)

// helpPages are the help pages of the program.
func helpPages(t *testing.T) handbook {
	t.Helper()
	needs.Programs(t)
	dir := must.Get(built.Programs("..", "."))(t)
	return must.Get(handbookOf(filepath.Join(dir, "player")))(t)
}

// The three shells complete commands, flags and worlds as the program has them.
func TestCompletion(t *testing.T) {
	h := helpPages(t)
	dir := t.TempDir()
	for name, text := range map[string][]byte{"player.bash": h.bash(), "_player": h.zsh(), "player.fish": h.fish()} {
		must.Do(t, os.WriteFile(filepath.Join(dir, name), text, 0o666))
	}
	// bash and fish print their offers for a line; only zsh's editor shows its offers, so
	// its file is loaded and each line of a list is looked for in it.
	bash := func(line string) string {
		words := strings.Split(line, " ")
		script := `source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _player; printf '%s\n' "${COMPREPLY[@]}"`
		out, err := exec.Command("bash", append([]string{"-c", script, "bash", filepath.Join(dir, "player.bash")}, words...)...).Output()
		if err != nil {
			t.Fatalf("bash: %v", err)
		}
		return string(out)
	}
	fish := func(line string) string {
		out, err := exec.Command("fish", "--no-config", "-c", `source $argv[1]; complete -C $argv[2]`, filepath.Join(dir, "player.fish"), line).Output()
		if err != nil {
			t.Fatalf("fish: %v", err)
		}
		return string(out)
	}
	shells := map[string]func(line string) string{"bash": bash, "fish": fish}
	for shell, offers := range shells {
		t.Run(shell, func(t *testing.T) {
			needs.Program(t, shell)
			for line, want := range map[string]string{
				"player la":              "latency",
				"player help rec":        "record",
				"player -tru":            "-truth",
				"player -stage ro":       "room",
				"player -log j":          "json",
				"player -reflex -stage ": "arena",
				"player latency -r":      "-rate",
				"player record -comp":    "-compress",
				"player check -sta":      "-stage",
				"player replay -loo":     "-loop",
			} {
				if !strings.Contains("\n"+offers(line), "\n"+want) {
					t.Errorf("%q offers %q, want %s", line, offers(line), want)
				}
			}
			if got := offers("player latency -tru"); strings.Contains(got, "-truth") {
				t.Errorf("latency is offered flags of the server: %q", got)
			}
		})
	}
	t.Run("zsh", func(t *testing.T) {
		needs.Program(t, "zsh")
		script := `fpath=("$1" $fpath); autoload -Uz compinit && compinit -D -u && [[ $_comps[player] = _player ]] && zsh -n "$1/_player"`
		if out, err := exec.Command("zsh", "-f", "-c", script, "zsh", dir).CombinedOutput(); err != nil || len(out) > 0 {
			t.Errorf("%v\n%s", err, out)
		}
		for _, s := range h.scenes() {
			for _, o := range s.options {
				if !strings.Contains(string(h.zsh()), "'-"+o.name+"[") {
					t.Errorf("%s -%s is missing", s.name, o.name)
				}
			}
		}
	})
}

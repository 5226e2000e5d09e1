package e2e

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"player/e2e/acceptance"
	"player/e2e/must"
	"player/e2e/needs"
)

// Blocks of commands on the pages have directives before them, which browsers do not show:
//
//	<!-- not run: WHY -->       the block is not run
//	<!-- run by: NAME -->       the test or the script of this name runs it
//	<!-- beside: COMMAND -->    runs beside it: a server, which is waited for
//	<!-- before: COMMAND -->    runs before the block
//	<!-- until: COMMAND -->     each line of the block has a terminal of its own; they end when
//	                            this command succeeds
//
// A block without the first two runs in a copy of the repository, in namespaces of its own:
// programs have the ports, addresses and names of computers that the page has. Blocks of one
// page share the copy.
var pageDirective = regexp.MustCompile(`^ *<!-- (not run|run by|before|beside|until): (.*) -->$`)

// pageBlock is a block of commands.
type pageBlock struct {
	place      string // PAGE:LINE
	lines      []string
	directives map[string][]string
}

// commandWord matches the begin of a line of commands: programs that pages use, assignments, loops.
var commandWord = regexp.MustCompile(`^(\$ |\(printf |[A-Za-z_]+=|for \w+ in |(\./|packaging/|examples/)[\w./-]+( |$)|` +
	`(go|player|player-fleet|sudo|apt|cc|c\+\+|gcc|g\+\+|npm|node|python3|pip|tclsh|wish|java|javac|kill|curl|nats|export|systemctl|journalctl|` +
	`scp|ssh|docker|promtool|rsync|ros2|rviz2|cd|openssl|v4l2-ctl|tar|make|git|cmake|gst-launch-1.0|ffmpeg)( |$))`)

// pageBlocks returns the blocks of commands of a page: the blocks of sh, and indented text that
// begins with a command.
func pageBlocks(t *testing.T, path string) (blocks []pageBlock) {
	t.Helper()
	text := must.Get(os.ReadFile(path))(t)
	lines := strings.Split(string(text), "\n")
	directives := map[string][]string{}
	fence, last := "", "" // last is the line before
	for i := 0; i < len(lines); i++ {
		line := lines[i]
		indent := line[:len(line)-len(strings.TrimLeft(line, " "))]
		word, fenced := strings.CutPrefix(strings.TrimSpace(line), "```")
		directive := pageDirective.FindStringSubmatch(line)
		switch {
		case directive != nil:
			directives[directive[1]] = append(directives[directive[1]], directive[2])
		case fenced && fence != "":
			fence = ""
		case fenced:
			if fence = "```" + word; word == "sh" {
				begin := i + 1
				for i++; strings.TrimSpace(lines[i]) != "```"; i++ {
				}
				fence = ""
				blocks = append(blocks, pageBlock{fmt.Sprintf("%s:%d", path, begin+1), lines[begin:i], directives})
				directives = map[string][]string{}
			}
		case fence == "" && len(indent) >= 4 && (strings.TrimSpace(last) == "" || pageDirective.MatchString(last)) && (commandWord.MatchString(strings.TrimSpace(line)) || len(directives) > 0):
			b := pageBlock{place: fmt.Sprintf("%s:%d", path, i+1), directives: directives}
			for end := i; end < len(lines) && (strings.HasPrefix(lines[end], indent) || lines[end] == ""); end++ {
				if lines[end] != "" {
					i = end
				}
				b.lines = append(b.lines, strings.TrimPrefix(lines[end], indent))
			}
			blocks = append(blocks, b)
			directives = map[string][]string{}
		case strings.TrimSpace(line) != "" && len(directives) > 0:
			t.Errorf("%s:%d: a directive is before no block of commands", path, i+1)
			directives = map[string][]string{}
		}
		last = lines[i]
	}
	return blocks
}

// commands returns the lines to run: of a dialogue those behind the prompt.
func (b pageBlock) commands() (commands []string) {
	dialogue := slices.ContainsFunc(b.lines, func(l string) bool { return strings.HasPrefix(l, "$ ") })
	joined := false
	for _, line := range b.lines {
		line, prompt := strings.CutPrefix(line, "$ ")
		switch {
		case joined:
			commands[len(commands)-1] += "\n" + line
		case dialogue && !prompt, strings.TrimSpace(line) == "", strings.HasPrefix(line, "#"):
			continue
		default:
			commands = append(commands, line)
		}
		joined = strings.HasSuffix(line, `\`) || joined && !dialogue && strings.HasPrefix(line, " ") || strings.HasPrefix(line, "for ") && !strings.HasSuffix(line, "done")
		if strings.HasPrefix(line, "done") {
			joined = false
		}
	}
	return commands
}

// copied is in the environment of the go command: packages that it compiles in one copy serve all.
const copied = "GOFLAGS=-trimpath"

// blockLimit is how long a block may take: the slowest ones compile programs, or fetch nothing.
const blockLimit = 3 * time.Minute

// Every block of commands of every page is run as it stands, or names the test that runs it, or why none does.
func TestPages(t *testing.T) {
	root := must.Get(filepath.Abs(".."))(t)
	tracked, err := exec.Command("git", "-C", root, "ls-files", "-z", "--", "*.md", "*/*.md").Output()
	if err != nil {
		needs.Missing(t, "the pages are those of a clone: ", err)
	}
	pages := strings.Split(strings.TrimSuffix(string(tracked), "\x00"), "\x00")
	slices.Sort(pages)
	known := testNames(t, root)
	if acceptance.Wanted() { // what the blocks compile is there before their limits begin
		build := exec.Command("go", "build", "./...", "./fleet/...")
		build.Dir, build.Env = root, append(os.Environ(), "GOWORK=", copied)
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	seen := 0
	for _, page := range slices.Compact(pages) {
		blocks := pageBlocks(t, filepath.Join(root, page))
		seen += len(blocks)
		var run []pageBlock
		for _, b := range blocks {
			by := b.directives["run by"]
			for _, name := range by {
				if _, err := os.Stat(filepath.Join(root, name)); err != nil && !known[name] {
					t.Errorf("%s: there is no test and no script %s", b.place, name)
				}
			}
			if len(by) == 0 && len(b.directives["not run"]) == 0 {
				run = append(run, b)
			}
		}
		if len(run) == 0 {
			continue
		}
		t.Run(strings.ReplaceAll(page, "/", "_"), func(t *testing.T) {
			acceptance.Only(t)
			t.Parallel()
			needs.Root(t)
			for _, program := range []string{"unshare", "ip", "curl", "openssl", "cc", "c++", "node", "python3"} {
				needs.Program(t, program)
			}
			sandbox := newSandbox(t, root)
			for _, b := range run {
				sandbox.run(t, b)
			}
		})
	}
	if seen < 90 {
		t.Errorf("only %d blocks of commands are found", seen)
	}
}

// testNames returns the names of all tests of the repository.
func testNames(t *testing.T, root string) map[string]bool {
	t.Helper()
	out := must.Get(exec.Command("git", "-C", root, "grep", "-hoE", `^func Test\w+`, "--", "*_test.go").Output())(t)
	names := map[string]bool{}
	for line := range strings.Lines(string(out)) {
		names[strings.TrimPrefix(strings.TrimSpace(line), "func ")] = true
	}
	return names
}

// sandbox is a copy of the repository, and the programs as if they were installed.
type sandbox struct{ root, clone, bin, home string }

func newSandbox(t *testing.T, root string) sandbox {
	t.Helper()
	dir := t.TempDir()
	s := sandbox{root, filepath.Join(dir, "clone"), filepath.Join(dir, "bin"), filepath.Join(dir, "home")}
	for _, folder := range []string{s.clone, s.bin, s.home} {
		must.Do(t, os.Mkdir(folder, 0o755))
	}
	copying := exec.Command("sh", "-c", `git ls-files -z --cached --others --exclude-standard | xargs -0 cp --parents -t "$0" && cp -r .git "$0" 2>/dev/null || true`, s.clone)
	copying.Dir = root
	if out, err := copying.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	must.Do(t, os.Symlink(binary, filepath.Join(s.bin, "player")))
	must.Do(t, os.Symlink(filepath.Join(root, "e2e", "testdata", "nats.py"), filepath.Join(s.bin, "nats")))
	// In the sandbox we are root.
	write(t, s.bin, "sudo", "#!/bin/sh\nexec \"$@\"\n")
	must.Do(t, os.Chmod(filepath.Join(s.bin, "sudo"), 0o755))
	write(t, dir, "hosts", "127.0.0.1 localhost robot.local raspberrypi.local robot pi\n")
	return s
}

// sandboxSetup makes the sandbox's namespaces: $1 is the repository, $2 its copy, $3 the file
// of the names of computers.
const sandboxSetup = `
ip link set lo up
for address in 10.0.0.5 10.0.0.7 10.0.0.8 10.0.0.9 192.168.1.20; do ip address add $address/32 dev lo; done
mount --bind "$3" /etc/hosts
mount --bind "$2" "$1"
cd "$1"
listens() { (exec 3<>/dev/tcp/localhost/$1) 2>/dev/null; }
recorded() {
  mkdir -p $(dirname $1)
  player -stage room -gp 6666 -http off 2>/mnt/beside.recorded &
  await 'listens 6666'
  player record localhost:6666 prsrlr -for 1s -o $1
  kill $!
}
# desk starts the robots of FLEET, and fleet FLAGS the program that joins them.
desk() {
  player -stage room 2>/mnt/beside.a &
  player -stage room -gp 6666 -http off 2>/mnt/beside.b &
  await 'listens 6665 && listens 6666 && listens 8080'
  printf 'a localhost:6665 page=http://localhost:8080/\nb localhost:6666\n' >robots.txt
}
fleet() {
  desk
  go run ./fleet -robots robots.txt "$@" 2>/mnt/beside.fleet &
  beside+=" $!"
  await 'grep -q \"bridge\" /mnt/beside.fleet'
  export NATS_URL=nats://$(cat ~/.local/state/player/nats.token)@localhost:4222
}
# await CONDITION waits until a command succeeds, and that what runs beside it does not fail.
await() {
  until eval "$1"; do
    for p in $beside; do kill -0 $p 2>/dev/null || wait $p || fail "what runs beside it ends: $p"; done
    [ $SECONDS -lt 150 ] || fail "waited in vain: $1"
    sleep 0.1
  done
}
fail() { echo "$*"; cat /mnt/beside.* 2>/dev/null; exit 1; }
`

// run runs a block.
func (s sandbox) run(t *testing.T, b pageBlock) {
	t.Helper()
	var script strings.Builder
	script.WriteString("set -e\n" + sandboxSetup)
	for i, command := range b.directives["beside"] {
		fmt.Fprintf(&script, "(%s) </dev/null >/mnt/beside.%d 2>&1 &\nbeside+=\" $!\"\nawait 'listens 6665'\n", command, i)
	}
	for _, command := range b.directives["before"] {
		fmt.Fprintf(&script, "%s\n", command)
	}
	commands := b.commands()
	if until := b.directives["until"]; len(until) > 0 {
		for i, command := range commands {
			fmt.Fprintf(&script, "(%s\n) </dev/null >/mnt/beside.line%d 2>&1 &\nbeside+=\" $!\"\n", command, i)
			if i < len(commands)-1 { // what it serves is what the others use
				script.WriteString("await 'listens 6665'\n")
			}
		}
		fmt.Fprintf(&script, "await '%s'\n", strings.ReplaceAll(until[0], "'", `'\''`))
	} else {
		script.WriteString(strings.Join(commands, "\n") + "\n")
	}
	ctx, cancel := context.WithTimeout(t.Context(), blockLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, "unshare", "--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc",
		"bash", "-c", "mount -t tmpfs tmpfs /mnt; "+script.String(), "bash", s.root, s.clone, filepath.Join(filepath.Dir(s.clone), "hosts"))
	cmd.Env = append(os.Environ(), "HOME="+s.home, "PATH="+s.bin+":"+os.Getenv("PATH"), "GOWORK=", "GOPROXY=off", "ACCEPTANCE=",
		copied)
	for _, name := range []string{"GOCACHE", "GOMODCACHE", "GOPATH"} {
		value := must.Get(exec.Command("go", "env", name).Output())(t)
		cmd.Env = append(cmd.Env, name+"="+strings.TrimSpace(string(value)))
	}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.WaitDelay = 5 * time.Second
	begin := time.Now()
	if err := cmd.Run(); err != nil {
		t.Errorf("%s: %v\n%s\n%s", b.place, err, strings.Join(b.lines, "\n"), tailOf(out.String()))
	}
	t.Logf("%s: %v", filepath.Base(b.place), time.Since(begin).Round(time.Millisecond))
}

// tailOf returns the end of a block's output.
func tailOf(text string) string { return text[max(0, len(text)-2000):] }

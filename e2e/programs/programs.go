// Package programs runs programs for tests, each until its test ends.
package programs

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"player/e2e/needs"
	"player/e2e/waiting"
)

// Program is a program that a test has started.
type Program struct {
	Cmd    *exec.Cmd
	Output *waiting.Output // the text of both of its outputs
	Ended  chan struct{}   // closed at its end. Then Cmd.ProcessState has the result.
}

// Start starts a program. When the test ends, the program is asked to end by SIGTERM, and must. Outputs that the
// command has already stay as they are.
func Start(t testing.TB, cmd *exec.Cmd) *Program {
	t.Helper()
	needs.Programs(t)
	p := &Program{Cmd: cmd, Output: &waiting.Output{}, Ended: make(chan struct{})}
	if cmd.Stdout == nil {
		cmd.Stdout = p.Output
	}
	if cmd.Stderr == nil {
		cmd.Stderr = p.Output
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = cmd.Wait() // ProcessState has the result
		close(p.Ended)
	}()
	t.Cleanup(func() {
		p.End(t, syscall.SIGTERM)
		if text := p.Output.String(); t.Failed() {
			t.Logf("%s:\n%s", filepath.Base(cmd.Path), text[max(0, len(text)-4000):])
		}
	})
	return p
}

// Alive reports whether the program runs.
func (p *Program) Alive() bool {
	select {
	case <-p.Ended:
		return false
	default:
		return true
	}
}

// Signal sends a signal to the program, which must run.
func (p *Program) Signal(t testing.TB, s os.Signal) {
	t.Helper()
	if err := p.Cmd.Process.Signal(s); err != nil {
		t.Fatal(err)
	}
}

// Pause stops all threads of the program until resume is called.
func (p *Program) Pause(t testing.TB) (resume func()) {
	t.Helper()
	p.Signal(t, syscall.SIGSTOP)
	waiting.Until(t, "a program that is stopped", func() bool {
		files, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", p.Cmd.Process.Pid))
		return err == nil && !slices.ContainsFunc(files, func(file string) bool {
			stat, err := os.ReadFile(file)
			return err == nil && !bytes.Contains(stat, []byte(") T "))
		})
	})
	return func() { _ = p.Cmd.Process.Signal(syscall.SIGCONT) } // fails if it has ended
}

// Code waits for the end of the program and returns its exit code.
func (p *Program) Code(t testing.TB) int {
	t.Helper()
	waiting.Until(t, "the end of "+strings.Join(p.Cmd.Args, " "), func() bool { return !p.Alive() })
	return p.Cmd.ProcessState.ExitCode()
}

// End sends a signal, waits for the end of the program and returns its exit code. It is no error if the program has
// ended already. A program that does not end is killed, and the test has failed.
func (p *Program) End(t testing.TB, s os.Signal) int {
	t.Helper()
	_ = p.Cmd.Process.Signal(s)
	defer p.Cmd.Process.Kill()
	return p.Code(t)
}

// Until waits for a condition while the program runs.
func (p *Program) Until(t testing.TB, what string, ok func() bool) {
	t.Helper()
	waiting.Until(t, what, func() bool {
		alive := p.Alive() // before the condition: its last output may be what the test waits for
		if !ok() {
			if !alive {
				t.Fatalf("%s has ended: %v\n%s", strings.Join(p.Cmd.Args, " "), p.Cmd.ProcessState, p.Output)
			}
			return false
		}
		return true
	})
}

// Printed reports whether the program has printed a text.
func (p *Program) Printed(text string) bool { return strings.Contains(p.Output.String(), text) }

// Logged reports whether the program has printed a line with all of the texts, for example a message and a field.
func (p *Program) Logged(texts ...string) bool {
	for line := range strings.Lines(p.Output.String()) {
		if !slices.ContainsFunc(texts, func(text string) bool { return !strings.Contains(line, text) }) {
			return true
		}
	}
	return false
}

// Await waits until the program has printed a text.
func (p *Program) Await(t testing.TB, text string) {
	t.Helper()
	waiting.Until(t, "a line with "+text, func() bool { return p.Printed(text) })
}

package e2e

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// The example programs drive a simulated robot until they are interrupted, and
// then it stands. The program first is missing: its server has a fixed port.
func TestExamples(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	build := exec.Command("go", "build", "-o", dir, "../examples/hello", "../examples/avoid", "../examples/fleet", "../examples/jbot", "../examples/sr04")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	type command func(port string) []string
	withAddress := func(program string, flags ...string) command {
		return func(port string) []string {
			return append([]string{filepath.Join(dir, program), "-addr", net.JoinHostPort("127.0.0.1", port)}, flags...)
		}
	}
	for name, command := range map[string]command{
		"hello": withAddress("hello"),
		"avoid": withAddress("avoid"),
		"jbot":  withAddress("jbot"),
		"sr04":  withAddress("sr04", "-targets", "2,0"),
		"fleet": func(port string) []string {
			return []string{filepath.Join(dir, "fleet"), "-host", "127.0.0.1", "-port", port, "-n", "1"}
		},
		"python": func(port string) []string {
			return []string{"python3", "../examples/python/hello.py", "127.0.0.1:" + port}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := start(t, "-stage", room)
			p := s.dial(t)
			p.request("pr")
			begin := p.position()
			_, port, err := net.SplitHostPort(s.address)
			if err != nil {
				t.Fatal(err)
			}

			args, output := command(port), &lockedBuffer{}
			program := exec.CommandContext(t.Context(), args[0], args[1:]...)
			program.Stdout, program.Stderr = output, output
			if err := program.Start(); err != nil {
				t.Fatal(err)
			}
			ended := make(chan error, 1)
			go func() { ended <- program.Wait() }()
			await(t, "the robot moves", func() bool {
				select {
				case err := <-ended:
					t.Fatalf("the program ended: %v\n%s", err, output)
				default:
				}
				at := p.position()
				return at.X != begin.X || at.Heading != begin.Heading
			})
			if err := program.Process.Signal(os.Interrupt); err != nil {
				t.Fatal(err)
			}
			select {
			case err := <-ended:
				if err != nil && name != "python" { // whose interpreter dies of the signal
					t.Errorf("%v\n%s", err, output)
				}
			case <-time.After(patience):
				t.Fatal("the program does not end")
			}
			await(t, "the robot stands", func() bool { at := p.position(); return at.Speed == 0 && at.TurnRate == 0 })
		})
	}
}

package conformance

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"player/e2e/acceptance"
	"player/e2e/built"
	"player/e2e/must"
	"player/e2e/needs"
	"player/e2e/waiting"
)

const (
	// limit bounds waits for events that must happen. It is longer than the
	// patience of a request, so that the adapter reports its own timeout.
	limit = 5 * time.Minute // Python steers for five simulated minutes in one answer
	// buildLimit bounds the first answer of an adapter, which may have to be built
	// first, on a machine that builds other things.
	buildLimit = 5 * time.Minute
)

// language is a folder next to this one. programs are needed for building and
// running, packages are the Debian packages that have them, and test is the
// command that builds a client and runs the tests of its folder, in that folder.
// A client that is quick is tested always, the others where tests may take long.
// face is a second client of the language: the argument for its adapter. objects is the argument for a client
// on top of the first, whose devices are objects: it runs the cases that it has calls for. newer is a program that runs
// the same client by a newer version of the language, and the argument for the adapter.
type language struct {
	name, title string
	programs    []string
	packages    string
	test        []string
	quick       bool
	face        string
	objects     string
	newer       string
}

var languages = []language{
	{"go", "Go", []string{"go"}, "", []string{"go", "test", "player/client"}, true, "", "", ""},
	{"c", "C99", []string{"cc"}, "gcc libc6-dev", []string{"./test.sh"}, true, "", "", ""},
	{"cpp", "C++17", []string{"c++"}, "g++", []string{"./test.sh"}, false, "", "Client", ""},
	{"java", "Java 17", []string{"javac", "java"}, "default-jdk-headless", []string{"./test.sh"}, false, "", "Robot", ""},
	{"tcl", "Tcl 8.6", []string{"tclsh"}, "tcl", []string{"./test.sh"}, false, "", "", "tclsh9.0"},
	{"python", "Python 3.9", []string{"python3"}, "python3", []string{"python3", "-m", "unittest"}, false, "asyncio", "", ""},
	{"javascript", "JavaScript", []string{"node"}, "nodejs", []string{"node", "--test", "test/"}, false, "", "", ""},
}

// forEachClient runs f as forEachLanguage does, also for the second clients of languages.
func forEachClient(t *testing.T, f func(t *testing.T, l language, start func(t *testing.T) *adapter)) {
	forEachLanguage(t, func(t *testing.T, l language) {
		f(t, l, l.adapters(t))
		if l.face != "" {
			t.Run(l.face, func(t *testing.T) { f(t, l, l.adapters(t, l.face)) })
		}
	})
}

// forEachLanguage runs f as a parallel subtest for each language. A language
// without its toolchain is skipped, but fails if the environment has CI set.
func forEachLanguage(t *testing.T, f func(t *testing.T, l language)) {
	needs.Programs(t)
	readSources(t)
	for _, l := range languages {
		t.Run(l.name, func(t *testing.T) {
			t.Parallel()
			if !l.quick {
				acceptance.Only(t)
			}
			for _, program := range l.programs {
				needs.Program(t, program)
			}
			f(t, l)
		})
	}
}

// readSources reads the directories of this repository. The go command repeats
// a test, rather than report its last result, if files that the test read have changed;
// it does not notice the files that compilers read.
func readSources(t *testing.T) {
	t.Helper()
	must.Do(t, filepath.WalkDir("../..", func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() && entry.Name() == ".git" {
			return fs.SkipDir
		}
		return err
	}))
}

func (l language) folder() string { return filepath.Join("..", l.name) }

// adapters returns a function that starts the language's adapter, until the end of
// the test that it is given. The adapter is built when it is first started, for all tests.
func (l language) adapters(t *testing.T, arguments ...string) (start func(t *testing.T) *adapter) {
	t.Helper()
	script, err := filepath.Abs(filepath.Join(l.folder(), "adapter.sh"))
	if err != nil {
		t.Fatal(err)
	}
	build := filepath.Join(scratch, l.name)
	if l.name != "go" { // go build keeps what it compiles itself
		// C++ has the client in C in it.
		build, err = built.Folder("adapter-"+l.name, []string{l.folder(), "../c"}, l.programs, func(folder string) error {
			cmd := exec.Command(script) // without input it ends when it is built
			cmd.Env = append(os.Environ(), "BUILD="+folder)
			if out, err := cmd.CombinedOutput(); err != nil {
				return fmt.Errorf("%s: %w\n%s", script, err, out)
			}
			return nil
		})
	} else {
		err = os.MkdirAll(build, 0o700)
	}
	if err != nil {
		t.Fatal(err)
	}
	return func(t *testing.T) *adapter {
		t.Helper()
		building, _ := starting.LoadOrStore(l.name, new(sync.Mutex))
		building.(*sync.Mutex).Lock()
		defer building.(*sync.Mutex).Unlock()
		return startAdapter(t, build, script, arguments...)
	}
}

// starting has a lock by language: an adapter that starts may build a program that another one uses.
var starting sync.Map

// adapter is a running adapter.
type adapter struct {
	in      io.WriteCloser
	answers chan answer
	errors  *waiting.Output            // standard error
	end     func(within time.Duration) // at most once: ends the input, and waits for the end of the process
}

// answer is one line from an adapter, or why there is none.
type answer struct {
	object Object
	err    error
}

// startAdapter runs an adapter that is ended with the test, and waits until it
// answers.
func startAdapter(t *testing.T, build, script string, arguments ...string) *adapter {
	t.Helper()
	needs.Programs(t)
	cmd := exec.Command(script, arguments...)
	cmd.Env = append(os.Environ(), "BUILD="+build)
	a := &adapter{answers: make(chan answer), errors: new(waiting.Output)}
	cmd.Stderr = a.errors
	in := must.Get(cmd.StdinPipe())(t)
	a.in = in
	out := must.Get(cmd.StdoutPipe())(t)
	must.Do(t, cmd.Start())
	ended := make(chan error, 1)
	enough := make(chan struct{}) // answers are no longer read
	go func() {
		d := json.NewDecoder(bufio.NewReaderSize(out, 1<<16))
		for {
			var line answer
			line.err = d.Decode(&line.object)
			select {
			case a.answers <- line:
			case <-enough:
			}
			if line.err != nil {
				_, _ = io.Copy(io.Discard, out) // Wait must not close the pipe before its end
				ended <- cmd.Wait()
				return
			}
		}
	}()
	var once sync.Once
	a.end = func(within time.Duration) {
		once.Do(func() {
			close(enough)
			_ = in.Close()
			select {
			case err := <-ended:
				if err != nil {
					t.Errorf("the adapter ended: %v", err)
				}
			case <-time.After(within):
				_ = cmd.Process.Kill()
				t.Errorf("the adapter does not end within %v of the end of its input", within)
			}
		})
	}
	t.Cleanup(func() {
		a.end(limit)
		if t.Failed() {
			t.Logf("standard error of the adapter:\n%s", a.errors)
		}
	})
	first := Object{"op": "close"}
	a.send(t, first)
	a.answerWithin(t, first, buildLimit)
	return a
}

// send starts a request.
func (a *adapter) send(t *testing.T, request Object) {
	t.Helper()
	line := must.Get(json.Marshal(request))(t)
	if _, err := a.in.Write(append(line, '\n')); err != nil {
		t.Fatalf("%s: %v\n%s", line, err, a.errors)
	}
}

// answer waits for the answer to a request.
func (a *adapter) answer(t *testing.T, request Object) Object {
	t.Helper()
	return a.answerWithin(t, request, limit)
}

func (a *adapter) answerWithin(t *testing.T, request Object, limit time.Duration) Object {
	t.Helper()
	select {
	case got := <-a.answers:
		if got.err != nil {
			t.Fatalf("%s: no answer: %v\n%s", text(request), got.err, a.errors)
		}
		return got.object
	case <-time.After(limit):
		t.Fatalf("%s: no answer within %v", text(request), limit)
	}
	return nil
}

// call carries out a request.
func (a *adapter) call(t *testing.T, request Object) Object {
	t.Helper()
	a.send(t, request)
	return a.answer(t, request)
}

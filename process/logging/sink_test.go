package logging

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"golang.org/x/sys/unix"

	"player/e2e/must"
	"player/e2e/terminals"
)

// reader is the reader of a log: a file that can be full, and that can block its
// writer.
type reader struct {
	mu      sync.Mutex
	text    bytes.Buffer
	blocked chan struct{} // until it is closed; nil: not blocked
	room    int           // bytes; negative: no limit
}

func (r *reader) Write(line []byte) (int, error) {
	if r.blocked != nil {
		<-r.blocked
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.room >= 0 && len(line) > r.room {
		n, _ := r.text.Write(line[:r.room])
		r.room = 0
		return n, errors.New("no space left on device")
	}
	return r.text.Write(line)
}

func newRead() (*zap.Logger, *reader) {
	r := &reader{room: -1}
	encoder := zapcore.NewJSONEncoder(zap.NewProductionEncoderConfig())
	return zap.New(newCore(encoder, encoder, zapcore.InfoLevel, r)), r
}

func (r *reader) setRoom(bytes int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.room = bytes
}

// take returns the messages written since the last call, with how many lines had
// each, and the fields of the report of dropped lines.
func (r *reader) take(t *testing.T) (counts map[string]int, report map[string]any) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	counts = map[string]int{}
	for line := range bytes.Lines(r.text.Bytes()) {
		var fields map[string]any
		if err := json.Unmarshal(line, &fields); err != nil {
			t.Errorf("%v: %q", err, line)
			continue
		}
		message := fields["msg"].(string)
		if counts[message]++; message == "log lines were dropped" {
			report = fields
		}
	}
	r.text.Reset()
	return counts, report
}

// all returns everything that was written.
func (r *reader) all() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.String()
}

// A flood of one message does not fill the log and hides no other message. The dropped
// messages are reported once, when the budget has room again, and then nothing wakes the
// program.
func TestBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log, r := newRead()
		for i := range 1000 {
			log.With(zap.Int("client", i)).Warn("malformed")
			time.Sleep(time.Millisecond)
		}
		log.Error("unplugged")
		log.Debug("small talk") // not dropped: its level is not logged
		synctest.Wait()
		if counts, _ := r.take(t); counts["malformed"] != 100 || counts["unplugged"] != 1 || len(counts) != 2 {
			t.Errorf("lines: %v", counts)
		}
		time.Sleep(9 * time.Second)
		synctest.Wait()
		counts, report := r.take(t)
		if len(counts) != 1 || report["too many"] != 900.0 || report["most of them"] != "malformed" || report["not read"] != nil || report["level"] != "warn" {
			t.Errorf("lines: %v, report %v", counts, report)
		}
		log.Warn("malformed") // the next period
		time.Sleep(time.Hour)
		synctest.Wait()
		if counts, _ := r.take(t); counts["malformed"] != 1 || len(counts) != 1 {
			t.Errorf("lines of the next hour: %v", counts)
		}
	})
}

// Floods of many messages use one budget together, but each message has a line.
func TestBudgetOfAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log, r := newRead()
		flood := func(kinds int) {
			for i := range kinds * 100 {
				log.Info(fmt.Sprint("kind ", i%kinds))
				synctest.Wait()
			}
		}
		flood(20)
		log.Error("unplugged")
		synctest.Wait()
		if counts, _ := r.take(t); len(counts) != 21 || counts["unplugged"] != 1 || counts["kind 7"] != 25 {
			t.Errorf("lines: %v", counts)
		}
		time.Sleep(period)
		synctest.Wait()
		if _, report := r.take(t); report["too many"] != 1500.0 {
			t.Errorf("report %v", report)
		}
		flood(1000) // messages may have parts that strangers choose
		synctest.Wait()
		total := 0
		counts, _ := r.take(t)
		for _, n := range counts {
			total += n
		}
		if total > maxLines+maxMessages {
			t.Errorf("%d lines in a period", total)
		}
	})
}

// A reader that stops does not block a goroutine that logs. When it goes on, it gets the oldest
// lines and a report of those that were dropped.
func TestReaderStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log, r := newRead()
		r.blocked = make(chan struct{})
		for i := range 40 { // seconds
			for range 50 {
				log.Info(fmt.Sprint("kind ", i/10))
				log.Info(fmt.Sprint("other ", i/10))
			}
			time.Sleep(time.Second)
		}
		begin := time.Now()
		if err := log.Sync(); err == nil || time.Since(begin) != syncLimit {
			t.Errorf("Sync: %v after %v", err, time.Since(begin))
		}
		time.Sleep(time.Hour)
		close(r.blocked)
		synctest.Wait()
		counts, report := r.take(t)
		read := 0
		for message, n := range counts {
			if message != "log lines were dropped" {
				read += n
			}
		}
		if read != maxQueue+1 || counts["log lines were dropped"] != 1 || report["not read"] != 800.0-maxQueue-1 || report["too many"] != 3200.0 {
			t.Errorf("%d lines: %v, report %v", read, counts, report)
		}
		log.Info("news")
		if err := log.Sync(); err != nil {
			t.Error(err)
		}
		if counts, _ := r.take(t); len(counts) != 1 || counts["news"] != 1 {
			t.Errorf("lines: %v", counts)
		}
	})
}

// On a full disk lines are lost, and reported when there is room.
func TestFullDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log, r := newRead()
		say := func(message string) {
			log.Info(message)
			synctest.Wait()
		}
		say("first")
		r.setRoom(10)
		for range 5 {
			say("lost")
		}
		time.Sleep(time.Hour)
		r.setRoom(-1)
		say("there is room")
		text := r.all()
		if lines := strings.Split(text, "\n"); len(lines) != 5 || len(lines[1]) != 10 || !strings.Contains(lines[2], "there is room") ||
			!strings.Contains(lines[3], `"msg":"log lines were dropped","not read":5}`) {
			t.Errorf("log %q", text)
		}
	})
}

// A blocking file does not block a goroutine that logs: for example a full pipe, a socket, or a
// paused terminal.
func TestFilesThatBlock(t *testing.T) {
	for name, open := range map[string]func(t *testing.T) (file, reader *os.File, release func()){
		"pipe": func(t *testing.T) (*os.File, *os.File, func()) {
			r, w, err := os.Pipe()
			must.Do(t, err)
			must.Get(unix.FcntlInt(w.Fd(), unix.F_SETPIPE_SZ, 4096))(t)
			return w, r, func() {}
		},
		"socket": func(t *testing.T) (*os.File, *os.File, func()) {
			pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
			must.Do(t, err)
			return os.NewFile(uintptr(pair[0]), "log"), os.NewFile(uintptr(pair[1]), "reader"), func() {}
		},
		"terminal": func(t *testing.T) (*os.File, *os.File, func()) {
			terminal, program := terminals.OpenBoth(t)
			return program, terminal, func() {}
		},
		"terminal after Ctrl-S": func(t *testing.T) (*os.File, *os.File, func()) {
			terminal, program := terminals.OpenBoth(t)
			flow := func(to int) {
				must.Do(t, unix.IoctlSetInt(int(program.Fd()), unix.TCXONC, to))
			}
			flow(unix.TCOOFF)
			return program, terminal, func() { flow(unix.TCOON) }
		},
	} {
		t.Run(name, func(t *testing.T) {
			file, reader, release := open(t)
			defer file.Close()
			defer reader.Close()
			log := New(file, Auto, false)
			logged := make(chan struct{})
			go func() {
				defer close(logged)
				for i := range 20_400 { // more than a socket's buffer
					if i == 20_000 {
						log.Core().(*core).sink.same = nil // the next period
					}
					log.Info(fmt.Sprint("kind ", i%250), zap.String("text", strings.Repeat("x", 200)))
				}
			}()
			select {
			case <-logged:
			case <-time.After(time.Minute):
				t.Fatal("a goroutine that logs is blocked")
			}
			release()
			seen := make(chan string, 1)
			go func() {
				var text strings.Builder
				lines := bufio.NewScanner(reader)
				for !strings.Contains(lines.Text(), "the last line") && lines.Scan() {
					text.WriteString(lines.Text())
				}
				seen <- text.String()
			}()
			for log.Sync() != nil {
			}
			log.Error("the last line")
			select {
			case text := <-seen:
				if !strings.Contains(text, "log lines were dropped") {
					t.Errorf("no report in %d bytes", len(text))
				}
			case <-time.After(time.Minute):
				t.Fatal("the last line does not come")
			}
		})
	}
}

// Several goroutines log.
func TestConcurrent(t *testing.T) {
	log, text := newLog(t, newFile(t), false)
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for range 50 {
				log.Info(fmt.Sprint("from ", i), zap.Stringer("address", &net.TCPAddr{Port: i}))
			}
		})
	}
	all.Wait()
	lines := 0
	for line := range strings.Lines(text()) {
		checkLine(t, []byte(line))
		lines++
	}
	if lines < maxQueue {
		t.Errorf("%d lines", lines)
	}
}

// A state is the last line until the next one: of the log, or the next state.
func TestShow(t *testing.T) {
	r := &reader{room: -1}
	encoder := zapcore.NewJSONEncoder(zapcore.EncoderConfig{MessageKey: "m", LineEnding: "\n"})
	core := newCore(encoder, encoder, zapcore.InfoLevel, r)
	log := zap.New(core)
	if Show(log, "not read") {
		t.Error("shown to a program")
	}
	core.greets = true
	Show(log, "at 1")
	Show(log, "at 2")
	log.Info("line")
	log.Info("line")
	Show(log, "at 3")
	Show(log, "")
	must.Do(t, log.Sync())
	if want := "at 1" + clearLine + "at 2" + clearLine + `{"m":"line"}` + "\n" + `{"m":"line"}` + "\nat 3" + clearLine; r.text.String() != want {
		t.Errorf("%q, want %q", r.text.String(), want)
	}
}

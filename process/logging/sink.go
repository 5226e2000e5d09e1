package logging

import (
	"bytes"
	"errors"
	"io"
	"sync"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/buffer"
	"go.uber.org/zap/zapcore"
)

const (
	// period is the time for which a budget of lines lasts.
	period = 10 * time.Second
	// maxSame is how many lines with the same message are written in a period. A
	// traceback fits. A flood costs 10 lines a second, a gigabyte in a week.
	maxSame = 100
	// maxLines is how many lines of all messages are written in a period. Beyond it
	// each message has its first line only, so a flood never hides that hardware is
	// lost.
	maxLines = 500
	// maxMessages bounds how many messages have a count of their own in a period. All
	// others have one count together.
	maxMessages = 256
	// maxQueue is how many lines wait for a slow reader: half a megabyte at most.
	// Beyond it lines are dropped.
	maxQueue = 256
	// syncLimit is how long sync waits for a reader of the log that has stopped. With the shutdown
	// of the devices the server takes two seconds to end.
	syncLimit = 300 * time.Millisecond
)

var errSync = errors.New("the log is not read")

// sink passes lines to a file. A goroutine writes them, because the loop logs and a write may block:
// a terminal is paused, a pipe is full, a disk is busy. The goroutine runs only while lines wait.
type sink struct {
	file   io.Writer
	torn   bool // the last line in the file is incomplete: the disk is full
	shown  bool // the last line is a state, without a newline
	encode func(zapcore.Entry, []zapcore.Field) (*buffer.Buffer, error)

	mu    sync.Mutex
	queue [][]byte
	idle  chan struct{} // closed when the goroutine ends; nil: it does not run

	since   time.Time      // begin of the period
	lines   int            // written in this period
	same    map[string]int // lines in this period, by message, also those that were dropped
	dropped dropped
	timer   *time.Timer // at the end of a period with dropped lines; nil: not set
}

// dropped counts lines since the last report.
type dropped struct {
	excess  int    // over the budget
	unread  int    // while the queue was full, or the file took none
	message string // the most frequent one over the budget
	most    int    // lines with it
}

// allow reports whether a line is within the budget. Otherwise it counts the line as dropped.
func (s *sink) allow(e zapcore.Entry) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.same == nil || e.Time.Sub(s.since) >= period {
		s.since, s.lines = e.Time, 0
		s.same = map[string]int{}
	}
	message := e.Message
	if s.same[message] == 0 && len(s.same) >= maxMessages {
		message = ""
	}
	s.same[message]++
	n := s.same[message]
	if n == 1 || n <= maxSame && s.lines < maxLines {
		s.lines++
		return true
	}
	s.dropped.excess++
	if n > s.dropped.most {
		s.dropped.message, s.dropped.most = e.Message, n
	}
	if s.timer == nil {
		// An idle server must not wake, so the timer runs only when there is something to report.
		s.timer = time.AfterFunc(s.since.Add(period).Sub(e.Time), s.report)
	}
	return false
}

// put queues a line for the file, or drops it. It does not block.
func (s *sink) put(line []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.queue) >= maxQueue {
		s.dropped.unread++
		return
	}
	s.queue = append(s.queue, bytes.Clone(line))
	s.start()
}

// start starts the goroutine. The caller has locked mu.
func (s *sink) start() {
	if s.idle == nil {
		s.idle = make(chan struct{})
		go s.write()
	}
}

// write writes lines until none waits.
func (s *sink) write() {
	var err error
	for {
		line := s.next(err == nil)
		if line == nil {
			return
		}
		switch {
		case s.torn:
			line = append([]byte{'\n'}, line...)
		case s.shown:
			line = append([]byte(clearLine), line...)
		}
		s.shown = len(line) > 0 && line[len(line)-1] != '\n'
		var n int
		n, err = s.file.Write(line)
		s.torn = n > 0 && n < len(line) || s.torn && n == 0
		if err != nil {
			s.mu.Lock()
			s.dropped.unread++
			s.mu.Unlock()
		}
	}
}

// next returns the next line to write, or nil when the goroutine has to end. When the queue
// is empty and the file accepts lines, the next line is the report of dropped ones.
func (s *sink) next(takes bool) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.queue) > 0 {
		line := s.queue[0]
		s.queue = s.queue[1:]
		return line
	}
	if d := s.dropped; takes && (d.unread > 0 || d.excess > 0 && s.timer == nil) {
		s.dropped = dropped{}
		if line, err := s.encode(d.report()); err == nil {
			return line.Bytes()
		}
	}
	s.queue = nil
	close(s.idle)
	s.idle = nil
	return nil
}

func (d dropped) report() (zapcore.Entry, []zapcore.Field) {
	var fields []zapcore.Field
	if d.excess > 0 {
		fields = append(fields, zap.Int("too many", d.excess), zap.String("most of them", clip(d.message, maxField)))
	}
	if d.unread > 0 {
		fields = append(fields, zap.Int("not read", d.unread))
	}
	return zapcore.Entry{Level: zapcore.WarnLevel, Time: time.Now(), Message: "log lines were dropped"}, fields
}

// report starts the goroutine, which reports dropped lines.
func (s *sink) report() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.timer != nil {
		s.timer.Stop()
		s.timer = nil
	}
	s.start()
}

// sync reports dropped lines and waits until all lines are written, for at most
// syncLimit.
func (s *sink) sync() error {
	s.report()
	s.mu.Lock()
	idle := s.idle
	s.mu.Unlock()
	if idle == nil {
		return nil
	}
	limit := time.NewTimer(syncLimit)
	defer limit.Stop()
	select {
	case <-idle:
		return nil
	case <-limit.C:
		return errSync
	}
}

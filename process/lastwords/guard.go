package lastwords

import (
	"encoding/binary"
	"maps"
	"os"
	"os/signal"
	"slices"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// GuardName is the name of a guard's process and its only argument.
const GuardName = "player-guard"

// groupPause is the time from the death of the server until its process groups are killed. In
// this time a plugin reads the end of its input and stops its motors.
const groupPause = 2 * time.Second

// socketPause is how long a connection stays open after its words. A connection that is closed with
// unread input is reset, and then a server of serial lines (ser2net) drops bytes that it has not
// written yet. A new server of robots has to wait as long for the line.
const socketPause = 500 * time.Millisecond

// A message to the guard is the number of the words (4 bytes, little-endian) and a command. For
// words, their bytes and their descriptor follow, for a process group its number (4 bytes).
const (
	keepWords byte = 'w'
	keepGroup byte = 'g'
	drop      byte = 'd'

	headerSize = 5
	// largest is the most bytes of words in a message. Drivers' words have a few dozen.
	largest = 4096
)

// Socketpair returns the ends of a connection between a book and a guard.
func Socketpair() (book, guard int, err error) {
	// A packet is one complete message.
	ends, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	return ends[0], ends[1], os.NewSyscallError("socketpair", err)
}

// socket is a book's end of the connection; nil: there is no guard.
type socket struct {
	fd   int
	dead func() // called when the guard does not receive
}

func (s *socket) keep(w *Words) {
	if w.group != 0 {
		s.send(w.number, keepGroup, binary.LittleEndian.AppendUint32(nil, uint32(w.group)), nil)
	} else {
		s.send(w.number, keepWords, w.text, unix.UnixRights(w.fd))
	}
}

func (s *socket) drop(w *Words) { s.send(w.number, drop, nil, nil) }

func (s *socket) send(number uint32, command byte, text, rights []byte) {
	if s == nil {
		return
	}
	message := append(binary.LittleEndian.AppendUint32(nil, number), command)
	if err := unix.Sendmsg(s.fd, append(message, text...), rights, nil, unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL); err != nil {
		s.dead()
	}
}

// Guard is the main function of the guard. It keeps a copy of the book at the other end of the
// socket until the other process has ended, for any reason. Then it writes the words, calls report
// with their number unless there were none, closes the descriptors, kills the groups, and returns.
//
// It ignores the signals by which people and terminals end programs, because it has to outlive the
// other process.
func Guard(socket int, report func(words, groups int)) {
	signal.Ignore(syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGPIPE, syscall.SIGTTOU)
	_ = os.WriteFile("/proc/self/comm", []byte(GuardName), 0) // without it ps shows a number as its name
	kept := map[uint32]*Words{}
	for receive(socket, kept) {
	}
	act(kept, report)
}

// act writes the words and kills the groups of a dead server.
func act(kept map[uint32]*Words, report func(words, groups int)) {
	groups := map[int]bool{}
	for _, w := range kept {
		if w.group != 0 {
			groups[w.group] = true
		}
	}
	say(slices.Collect(maps.Values(kept)))
	var sockets []*Words
	var closing sync.WaitGroup
	defer closing.Wait()
	for _, w := range kept {
		if w.isSocket() {
			sockets = append(sockets, w)
			continue
		}
		closing.Go(w.close) // waits until the words have left the line, so each line has a goroutine
	}
	if len(kept) > 0 {
		report(len(kept)-len(groups), len(groups))
	}
	if len(sockets) > 0 {
		time.Sleep(socketPause)
	}
	for _, w := range sockets {
		w.close()
	}
	if len(groups) > 0 {
		time.Sleep(groupPause)
		for group := range groups {
			_ = unix.Kill(-group, unix.SIGKILL) // it may have ended
		}
	}
}

// receive carries out one message. It reports false when there is no more.
func receive(socket int, kept map[uint32]*Words) bool {
	var buf [headerSize + largest]byte
	rights := make([]byte, unix.CmsgSpace(4))
	n, control, _, _, err := unix.Recvmsg(socket, buf[:], rights, unix.MSG_CMSG_CLOEXEC)
	if err == unix.EINTR {
		return true
	}
	if err != nil || n < headerSize {
		return false
	}
	number, text := binary.LittleEndian.Uint32(buf[:]), buf[headerSize:n]
	switch buf[4] {
	case keepWords:
		if fd, ok := descriptor(rights[:control]); ok {
			kept[number] = &Words{fd: fd, text: slices.Clone(text)}
		}
	case keepGroup:
		if group := binary.LittleEndian.Uint32(text); group > 1 { // 1 would be all processes
			kept[number] = &Words{group: int(group)}
		}
	case drop:
		if w := kept[number]; w != nil {
			go w.close() // it blocks while an adapter does not answer
			delete(kept, number)
		}
	}
	return true
}

// descriptor returns the descriptor that came with a message.
func descriptor(control []byte) (fd int, ok bool) {
	messages, err := unix.ParseSocketControlMessage(control)
	if err != nil || len(messages) != 1 {
		return 0, false
	}
	fds, err := unix.ParseUnixRights(&messages[0])
	if err != nil || len(fds) != 1 {
		return 0, false
	}
	return fds[0], true
}

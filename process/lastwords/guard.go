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

// groupPause is how long a process group lives on when its server is dead. A plugin has
// seen the end of its input by then, and has stopped its motors.
const groupPause = 2 * time.Second

// socketPause is how long a connection stays open after its words. One that is closed while input
// waits is reset, and then a server of serial lines (ser2net) drops what it has not written yet. A
// new server of robots has to wait as long for the line.
const socketPause = 500 * time.Millisecond

// A message to the guard is the number of the words (4 bytes, little-endian), what is to
// be done, and for words their bytes and descriptor, for a group its number (4 bytes).
const (
	keepWords byte = 'w'
	keepGroup byte = 'g'
	drop      byte = 'd'

	headerSize = 5
	// largest is how many bytes of words a message takes. Those of the drivers have a
	// few dozen.
	largest = 4096
)

// Socketpair returns the ends of a connection between a book and a guard.
func Socketpair() (book, guard int, err error) {
	// With packets a message is whole. The book does not wait.
	ends, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	return ends[0], ends[1], os.NewSyscallError("socketpair", err)
}

// socket is a book's end of the connection; nil: there is no guard.
type socket struct {
	fd   int
	dead func() // the guard does not listen
}

func (s *socket) keep(w *Words) {
	if w.group != 0 {
		s.send(w.number, keepGroup, binary.LittleEndian.AppendUint32(nil, uint32(w.group)), nil)
	} else {
		s.send(w.number, keepWords, w.text, unix.UnixRights(w.fd))
	}
}

func (s *socket) drop(w *Words) { s.send(w.number, drop, nil, nil) }

func (s *socket) send(number uint32, what byte, text, rights []byte) {
	if s == nil {
		return
	}
	message := append(binary.LittleEndian.AppendUint32(nil, number), what)
	if err := unix.Sendmsg(s.fd, append(message, text...), rights, nil, unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL); err != nil {
		s.dead()
	}
}

// Guard is the guard: it keeps what the book at the other end of the socket keeps. It
// returns when the other process has ended, in whatever way. By then it has written the
// words that were kept, told report how many there were if there were any, closed the
// descriptors, and killed the groups.
//
// It ignores the signals by which people and terminals end programs: it ends with the
// other process.
func Guard(socket int, report func(words, groups int)) {
	signal.Ignore(syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGPIPE, syscall.SIGTTOU)
	_ = os.WriteFile("/proc/self/comm", []byte(GuardName), 0) // ps shows the number of its program otherwise
	kept := map[uint32]*Words{}
	for receive(socket, kept) {
	}
	end(kept, report)
}

// end is what a guard does when its server is dead.
func end(kept map[uint32]*Words, report func(words, groups int)) {
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
		closing.Go(w.close) // which waits until the words have left: no line waits for another
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
			go w.close() // an adapter that does not answer holds it
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

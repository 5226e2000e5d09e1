package conformance

import (
	"encoding/binary"
	"fmt"
	"net"
	"testing"

	"golang.org/x/sys/unix"
)

// queues asks the kernel for the receive queues of sockets (sock_diag(7)).
type queues struct{ fd int }

func openQueues(t *testing.T) queues {
	t.Helper()
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, unix.NETLINK_INET_DIAG)
	if err != nil {
		t.Fatal("sock_diag: ", err)
	}
	t.Cleanup(func() { unix.Close(fd) })
	return queues{fd}
}

// unread returns how many bytes the other end of a local connection holds that
// its program has not read.
func (q queues) unread(conn *net.TCPConn) (int, error) {
	const (
		headerSize = 16      // of a netlink message
		size       = 16 + 56 // with struct inet_diag_req_v2
		byFamily   = 20      // SOCK_DIAG_BY_FAMILY
		rqueue     = 16 + 56 // offset of idiag_rqueue in the answer: behind four bytes, an id of 48 and idiag_expires
	)
	local, remote := conn.LocalAddr().(*net.TCPAddr), conn.RemoteAddr().(*net.TCPAddr)
	var b [size]byte
	host := binary.NativeEndian
	host.PutUint32(b[0:], size)
	host.PutUint16(b[4:], byFamily)
	host.PutUint16(b[6:], unix.NLM_F_REQUEST)
	request := b[headerSize:]
	request[0], request[1] = unix.AF_INET, unix.IPPROTO_TCP
	host.PutUint32(request[4:], 1<<32-1) // in any state
	id := request[8:]
	binary.BigEndian.PutUint16(id[0:], uint16(remote.Port))
	binary.BigEndian.PutUint16(id[2:], uint16(local.Port))
	copy(id[4:], remote.IP.To4())
	copy(id[20:], local.IP.To4())
	host.PutUint64(id[40:], 1<<64-1) // INET_DIAG_NOCOOKIE
	if err := unix.Sendto(q.fd, b[:], 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return 0, fmt.Errorf("sock_diag: %w", err)
	}
	var reply [1024]byte
	n, _, err := unix.Recvfrom(q.fd, reply[:], 0)
	if err != nil {
		return 0, fmt.Errorf("sock_diag: %w", err)
	}
	switch kind := host.Uint16(reply[4:]); {
	case kind == unix.NLMSG_ERROR && unix.Errno(-int32(host.Uint32(reply[headerSize:]))) == unix.ENOENT:
		return 0, nil // the other end is closed
	case kind != byFamily || n < rqueue+4:
		return 0, fmt.Errorf("sock_diag: reply % x", reply[:n])
	}
	return int(host.Uint32(reply[rqueue:])), nil
}

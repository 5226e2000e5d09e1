package pictures

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"player/process/slack"
)

// exitLimit is how long a killed program may take to end: a driver of the kernel can delay
// its end. Then its pipes are closed all the same.
const exitLimit = time.Second

// behind is how much higher the nice value of a camera's program is than the server's:
// when both want a processor, the loop gets ten times as much of it. The robot matters
// more than its pictures.
const behind = 10

// longestLine is how many bytes of a line of a program's standard error are kept: the
// longest field of the log.
const longestLine = 256

// open starts to read the source until ctx ends.
func (s Source) open(ctx context.Context) (io.ReadCloser, error) {
	if s.Address != "" {
		return openAddress(ctx, s.Address)
	}
	return startProgram(ctx, s.Command)
}

// openAddress requests an address. The reply is MJPEG or multipart/x-mixed-replace. It does
// without http.Client, which would make the server larger by a quarter of a megabyte.
func openAddress(ctx context.Context, address string) (io.ReadCloser, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	if user := request.URL.User; user != nil {
		password, _ := user.Password()
		request.SetBasicAuth(user.Username(), password)
	}
	conn, err := dial(ctx, request.URL)
	if err != nil {
		return nil, err
	}
	b := body{conn: conn, unhook: context.AfterFunc(ctx, func() { _ = conn.Close() })}
	if err = request.Write(conn); err == nil {
		b.Reader, err = pictureReply(conn, request)
	}
	if err != nil {
		_ = b.Close() // its error says only that the reply has ended
		return nil, fmt.Errorf("%s: %w", request.URL.Redacted(), err)
	}
	return b, nil
}

func dial(ctx context.Context, u *url.URL) (net.Conn, error) {
	if u.Scheme == "https" {
		d := tls.Dialer{Config: &tls.Config{ServerName: u.Hostname(), MinVersion: tls.VersionTLS12}}
		return d.DialContext(ctx, "tcp", net.JoinHostPort(u.Hostname(), cmp.Or(u.Port(), "443")))
	}
	var d net.Dialer
	return d.DialContext(ctx, "tcp", net.JoinHostPort(u.Hostname(), cmp.Or(u.Port(), "80")))
}

func pictureReply(conn net.Conn, request *http.Request) (io.Reader, error) {
	reply, err := http.ReadResponse(bufio.NewReader(conn), request)
	if err != nil {
		return nil, err
	}
	if reply.StatusCode != http.StatusOK {
		if to := reply.Header.Get("Location"); to != "" {
			return nil, fmt.Errorf("the server replies %s: write the address %s", reply.Status, to)
		}
		return nil, fmt.Errorf("the server replies %s%s", reply.Status, passwordHint(reply))
	}
	return reply.Body, nil
}

// passwordHint returns advice for a reply that asks for a password; empty: the reply asks for none.
func passwordHint(reply *http.Response) string {
	if reply.StatusCode != http.StatusUnauthorized {
		return ""
	}
	digest := false
	for _, way := range reply.Header.Values("WWW-Authenticate") {
		scheme, _, _ := strings.Cut(way, " ")
		if strings.EqualFold(scheme, "Basic") {
			if _, _, given := reply.Request.BasicAuth(); given {
				return ": user or password in the address are wrong"
			}
			return ": write the address as http://USER:PASSWORD@HOST/..."
		}
		digest = digest || strings.EqualFold(scheme, "Digest")
	}
	if digest {
		return `: it wants digest authentication, which curl does: command ["curl" "-sN" "--digest" "-u" "USER:PASSWORD" "ADDRESS"] instead of url`
	}
	return ": it wants a way of authentication that is not known here"
}

type body struct {
	io.Reader
	conn   net.Conn
	unhook func() bool
}

// Close ends the connection, and returns why a program that reads it got to its end.
func (b body) Close() error {
	b.unhook()
	_ = b.conn.Close()
	return errors.New("the server has ended its reply")
}

// program is a program that writes pictures to its standard output.
type program struct {
	io.Reader
	cmd    *exec.Cmd
	stderr *lastLine
	killed context.Context
	behind bool // reports whether it has had its priority with its first output
}

// startProgram starts a program. It is killed with its process group when ctx ends, and
// with this process.
func startProgram(ctx context.Context, command []string) (*program, error) {
	p := &program{cmd: exec.CommandContext(ctx, command[0], command[1:]...), stderr: &lastLine{}, killed: ctx}
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	p.cmd.Cancel = func() error { return syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL) } // it is not reaped yet
	p.cmd.WaitDelay = exitLimit
	p.cmd.Stderr = p.stderr
	out, err := p.cmd.StdoutPipe()
	if err == nil {
		err = startBehind(p.cmd)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot start the camera's program: %w", err)
	}
	p.Reader = out
	return p, nil
}

// Read implements io.Reader. A child that the program started while it got its priority may
// have kept the old one: with its first output the program's group gets it again.
func (p *program) Read(buffer []byte) (int, error) {
	n, err := p.Reader.Read(buffer)
	if n > 0 && !p.behind {
		p.behind = true
		putBehind(p.cmd.Process.Pid)
	}
	return n, err
}

// startBehind starts a program, the leader of its process group, with a lower priority than
// this process has, and with the kernel's default timer slack: this process's slack would
// delay each of its pictures.
func startBehind(cmd *exec.Cmd) error {
	runtime.LockOSThread() // a child inherits this thread's timer slack
	defer runtime.UnlockOSThread()
	defer slack.TakeBack()()
	if err := cmd.Start(); err != nil {
		return err
	}
	putBehind(cmd.Process.Pid)
	return nil
}

// putBehind gives a process group a lower priority than this process has. The group's leader must not have been reaped
// yet.
func putBehind(group int) {
	const kernelsZero = 20 // getpriority(2) returns 20 less the nice value
	if own, err := unix.Getpriority(unix.PRIO_PROCESS, 0); err == nil {
		_ = unix.Setpriority(unix.PRIO_PGRP, group, kernelsZero-own+behind) // it may have ended
	}
}

// Close waits for the end of the program, whose context has ended, and returns the reason
// why it stopped writing: the last line of its standard error.
func (p *program) Close() error {
	err := p.cmd.Wait()
	if p.killed.Err() != nil && (err == nil || errors.Is(err, context.Canceled)) || isKill(err) {
		err = errors.New("it has closed its standard output")
	}
	if said := p.stderr.String(); said != "" {
		return fmt.Errorf("%s: %w: %s", p.cmd.Args[0], err, said)
	}
	return fmt.Errorf("%s: %w", p.cmd.Args[0], err)
}

// isKill reports whether a program was killed: this server kills it when its output ends.
func isKill(err error) bool {
	exit, ok := errors.AsType[*exec.ExitError](err)
	return ok && exit.ExitCode() < 0
}

// lastLine keeps the last nonempty line.
type lastLine struct {
	mu         sync.Mutex
	line, last []byte
}

// Write implements io.Writer. It does not fail.
func (l *lastLine) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := len(p)
	for len(p) > 0 {
		part, rest, ended := bytes.Cut(p, []byte("\n"))
		l.line = append(l.line, part[:min(len(part), longestLine-len(l.line))]...)
		if ended {
			if text := bytes.TrimSpace(l.line); len(text) > 0 {
				l.last = bytes.Clone(text)
			}
			l.line = l.line[:0]
		}
		p = rest
	}
	return n, nil
}

func (l *lastLine) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if text := bytes.TrimSpace(l.line); len(text) > 0 {
		return string(text)
	}
	return string(l.last)
}

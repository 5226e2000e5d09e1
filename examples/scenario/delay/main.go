// Delay forwards TCP connections with a delay in both directions, as a link over
// half a continent has it.
//
//	go run ./examples/scenario/delay 300ms 7665=10.0.0.7:6665 7666=10.0.0.7:6666
//
// It listens on the first port of each pair, on this computer, and connects to the
// address behind it. Every byte arrives the given time after it was sent. That is all
// it models: bandwidth is unlimited, the order is kept, nothing is lost.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"
)

func main() {
	log.SetFlags(0)
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		log.Fatal("delay: ", err)
	}
}

// run forwards until ctx ends. It prints a line when all ports are open.
func run(ctx context.Context, args []string) error {
	if len(args) < 2 {
		return errors.New("wrong arguments: usage: delay DURATION PORT=ADDRESS, any number of pairs")
	}
	by, err := time.ParseDuration(args[0])
	if err != nil {
		return err
	}
	for _, pair := range args[1:] {
		port, address, ok := strings.Cut(pair, "=")
		if !ok {
			return fmt.Errorf("%q: write PORT=ADDRESS", pair)
		}
		listener, err := net.Listen("tcp", net.JoinHostPort("localhost", port))
		if err != nil {
			return err
		}
		go serve(listener, address, by)
	}
	fmt.Println("forwarding")
	<-ctx.Done()
	return nil
}

// serve forwards all connections of a listener.
func serve(l net.Listener, address string, by time.Duration) {
	for {
		near, err := l.Accept()
		if err != nil {
			log.Print("delay: ", err)
			return
		}
		go func() {
			far, err := net.Dial("tcp", address)
			if err != nil {
				log.Print("delay: ", err)
				near.Close()
				return
			}
			go forward(near, far, by)
			forward(far, near, by)
		}()
	}
}

// piece is the bytes of one read.
type piece struct {
	due   time.Time // when it arrives
	bytes []byte
}

// inFlight bounds the pieces on their way in one direction. A robot sends ten rounds a
// second, so even a delay of 10 s has room; a sender that fills it has to wait.
const inFlight = 1024

// forward copies from one connection to the other, by later, and closes both when the
// sender has closed and all it sent has arrived.
func forward(to, from net.Conn, by time.Duration) {
	link := make(chan piece, inFlight)
	go func() {
		defer close(link)
		for {
			buffer := make([]byte, 4096)
			n, err := from.Read(buffer)
			if n > 0 {
				link <- piece{time.Now().Add(by), buffer[:n]}
			}
			if err != nil {
				if !errors.Is(err, io.EOF) && !errors.Is(err, net.ErrClosed) {
					log.Print("delay: ", err)
				}
				return
			}
		}
	}()
	for p := range link {
		time.Sleep(time.Until(p.due))
		if _, err := to.Write(p.bytes); err != nil {
			break
		}
	}
	to.Close()
	from.Close()
	for range link { // the reader must not wait for room
	}
}

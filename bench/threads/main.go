// Threads is the frame server that one would write first: a goroutine and a
// ticker for every client. It is what the server is measured against from
// above.
package main

import (
	"flag"
	"fmt"
	"net"
	"os"
	"time"

	"player/bench/load"
)

func main() {
	port := flag.Int("port", 6665, "TCP port")
	rate := flag.Int("rate", 10, "frames a second and client")
	size := flag.Int("size", 807, "bytes of a frame")
	flag.Parse()
	l, err := net.Listen("tcp", fmt.Sprintf(":%d", *port))
	if err != nil {
		fmt.Fprintln(os.Stderr, "threads:", err)
		os.Exit(1)
	}
	frame := load.Frame(*size)
	for {
		conn, err := l.Accept()
		if err != nil {
			fmt.Fprintln(os.Stderr, "threads:", err)
			os.Exit(1)
		}
		go serve(conn, frame, time.Second/time.Duration(*rate))
	}
}

// serve sends the frame until the client is gone.
func serve(conn net.Conn, frame []byte, period time.Duration) {
	defer conn.Close()
	ticker := time.NewTicker(period)
	defer ticker.Stop()
	for range ticker.C {
		if _, err := conn.Write(frame); err != nil {
			return
		}
	}
}

// Threads is the frame server that one would write first: a goroutine for every
// client, with a ticker or waiting for its requests. It is what the server is measured against from
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
	rate := flag.Int("rate", 10, "frames a second and client; 0: one for whatever it says")
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
		if *rate > 0 {
			go serve(conn, frame, time.Second/time.Duration(*rate))
		} else {
			go answer(conn, frame)
		}
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

// answer sends the frame for whatever the client says: it waits for the frame
// before it says more.
func answer(conn net.Conn, frame []byte) {
	defer conn.Close()
	request := make([]byte, 512)
	for {
		if _, err := conn.Read(request); err != nil {
			return
		}
		if _, err := conn.Write(frame); err != nil {
			return
		}
	}
}

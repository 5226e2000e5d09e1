// Threads is the frame server that one would write first: a goroutine that
// sends to each client at its rate, and another that reads its messages. The
// server is expected to cost less.
package main

import (
	"flag"
	"fmt"
	"log"
	"net"
	"time"

	"player/bench/baseline"
)

func main() {
	port := flag.Int("port", 6665, "TCP port")
	size := flag.Int("size", 807, "bytes of a frame")
	flag.Parse()
	l, err := net.Listen("tcp", fmt.Sprintf(":%d", *port))
	if err != nil {
		log.Fatalln("threads:", err)
	}
	frame := baseline.NewFrame(*size)
	for {
		conn, err := l.Accept()
		if err != nil {
			log.Fatalln("threads:", err)
		}
		go receive(conn, frame.Clone())
	}
}

// receive reads a client's messages until it leaves, and answers.
func receive(conn net.Conn, frame baseline.Frame) {
	defer conn.Close()
	var c baseline.Client
	buffer := make([]byte, 512)
	for streams := false; ; {
		n, err := conn.Read(buffer)
		if err != nil {
			return
		}
		reply, frames := c.Receive(buffer[:n])
		if len(reply) > 0 {
			if _, err := conn.Write(reply); err != nil {
				return
			}
		}
		if c.Reads && !c.Asks && c.Rate > 0 && !streams {
			streams = true
			go stream(conn, frame, time.Second/time.Duration(c.Rate))
		}
		if streams {
			continue // the frame is stream's
		}
		for range frames {
			frame.Stamp(baseline.Now())
			if _, err := conn.Write(frame.Bytes); err != nil {
				return
			}
		}
	}
}

// stream sends the frame until the client leaves.
func stream(conn net.Conn, frame baseline.Frame, period time.Duration) {
	ticker := time.NewTicker(period)
	defer ticker.Stop()
	for range ticker.C {
		frame.Stamp(baseline.Now())
		if _, err := conn.Write(frame.Bytes); err != nil {
			return
		}
	}
}

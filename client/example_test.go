package client_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log"
	"net"
	"os"
	"path/filepath"
	"time"

	"player/client"
)

// The first program of the manual, for one round of data.
func Example() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	robot, err := client.Dial(ctx, address)
	if err != nil {
		log.Fatal(err)
	}
	defer robot.Close() // the server stops the wheels

	if err := robot.Request(ctx, "srpw"); err != nil { // sonar read, position write
		log.Fatal(err)
	}
	if err := robot.Read(ctx); err != nil { // ten times a second, in a program
		log.Fatal(err)
	}
	fmt.Println("ahead", robot.Sonar[3], "mm")
	if robot.Sonar[3] > 500 {
		err = robot.SetSpeed(100, -20) // mm/s, deg/s
	}
	fmt.Println("driving:", err == nil)
	// Output:
	// ahead 1300 mm
	// driving: true
}

// The server may grant less than was asked for. What it granted is in force.
func ExampleClient_Request() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	robot, err := client.Dial(ctx, address)
	if err != nil {
		log.Fatal(err)
	}
	defer robot.Close()

	err = robot.Request(ctx, "srvr") // this robot has no camera
	var refused *client.AccessError
	if errors.As(err, &refused) {
		for _, d := range refused.Devices {
			fmt.Printf("%c: asked %c, granted %c\n", d.Device, d.Asked, d.Granted)
		}
	}
	if err := robot.Read(ctx); err != nil {
		log.Fatal(err)
	}
	fmt.Println("sonar:", robot.Has('s'))
	// Output:
	// v: asked r, granted e
	// sonar: true
}

// A round of only new data, and how old they were when the server sent them.
func ExampleClient_SetFresh() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	robot, err := client.Dial(ctx, address)
	if err != nil {
		log.Fatal(err)
	}
	defer robot.Close()

	if err := robot.Request(ctx, "yrsr"); err != nil { // y describes each round
		log.Fatal(err)
	}
	if err := robot.SetFresh(true); err != nil {
		log.Fatal(err)
	}
	if err := robot.Read(ctx); err != nil {
		log.Fatal(err)
	}
	age, ok := robot.Age('s')
	fmt.Println("new:", robot.New('s'), "age:", age, ok)
	// Output:
	// new: true age: 1.5ms true
}

// One round for each request, at the client's pace.
func ExampleClient_RequestData() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	robot, err := client.Dial(ctx, address)
	if err != nil {
		log.Fatal(err)
	}
	defer robot.Close()

	if err := robot.SetDataMode(client.RequestReply); err != nil { // before anything streams
		log.Fatal(err)
	}
	if err := robot.Request(ctx, "sr"); err != nil {
		log.Fatal(err)
	}
	for range 2 {
		if err := robot.RequestData(); err != nil {
			log.Fatal(err)
		}
		if err := robot.Read(ctx); err != nil {
			log.Fatal(err)
		}
		fmt.Println("left", robot.Sonar[0], "mm, right", robot.Sonar[7], "mm")
	}
	// Output:
	// left 1000 mm, right 1700 mm
	// left 1000 mm, right 1700 mm
}

// A wait ends with its context, and the connection stays usable: the next Read
// continues the same round.
func ExampleClient_Read() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	robot, err := client.Dial(ctx, address)
	if err != nil {
		log.Fatal(err)
	}
	defer robot.Close()
	if err := robot.SetDataMode(client.RequestReply); err != nil {
		log.Fatal(err)
	}
	if err := robot.Request(ctx, "sr"); err != nil {
		log.Fatal(err)
	}

	soon, cancelSoon := context.WithTimeout(ctx, 10*time.Millisecond)
	defer cancelSoon()
	err = robot.Read(soon) // nothing was asked for
	fmt.Println("timeout:", errors.Is(err, context.DeadlineExceeded))

	if err := robot.RequestData(); err != nil {
		log.Fatal(err)
	}
	fmt.Println("data:", robot.Read(ctx) == nil)
	// Output:
	// timeout: true
	// data: true
}

// A connection that is encrypted: the client trusts the server's authority and shows
// its own certificate.
func ExampleDialBy_tls() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	authority, err := os.ReadFile(filepath.Join(certificates, "authority.pem"))
	if err != nil {
		log.Fatal(err)
	}
	config := &tls.Config{RootCAs: x509.NewCertPool()}
	config.RootCAs.AppendCertsFromPEM(authority)
	mine, err := tls.LoadX509KeyPair(filepath.Join(certificates, "cert.pem"), filepath.Join(certificates, "key.pem"))
	if err != nil {
		log.Fatal(err)
	}
	config.Certificates = append(config.Certificates, mine)

	robot, err := client.DialBy(ctx, func(ctx context.Context) (net.Conn, error) { // also for Reconnect
		return (&tls.Dialer{Config: config}).DialContext(ctx, "tcp", encrypted) // -tls of the server
	})
	if err != nil {
		log.Fatal(err)
	}
	defer robot.Close()
	if err := robot.Request(ctx, "sr"); err != nil { // also if the server refuses the certificate
		log.Fatal(err)
	}
	if err := robot.Read(ctx); err != nil {
		log.Fatal(err)
	}
	fmt.Println("ahead", robot.Sonar[3], "mm")
	// Output:
	// ahead 1300 mm
}

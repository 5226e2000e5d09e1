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

// check ends a program that cannot go on.
func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// The first program of the manual, for one round of data.
func Example() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	robot, err := client.Dial(ctx, address)
	check(err)
	defer robot.Close() // the server stops the wheels

	check(robot.SetCommandLifetime(500 * time.Millisecond)) // if this program hangs, the wheels stop
	sonar, err := robot.OpenSonar(ctx, 0)
	check(err)
	wheels, err := robot.OpenWheels(ctx)
	check(err)
	check(robot.Read(ctx)) // ten times a second, in a program
	fmt.Println("ahead", sonar.Data[3], "mm")
	if sonar.Data[3] > 500 {
		err = wheels.Drive(100, -20) // mm/s, deg/s
	}
	fmt.Println("driving:", err == nil)
	// Output:
	// ahead 1300 mm
	// driving: true
}

// The server may grant less than the request. The granted access is in force.
func ExampleClient_Request() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	robot, err := client.Dial(ctx, address)
	check(err)
	defer robot.Close()

	err = robot.Request(ctx, "srvr") // this robot has no camera
	var refused *client.AccessError
	if errors.As(err, &refused) {
		for _, d := range refused.Devices {
			fmt.Printf("%c: asked %c, granted %c\n", d.Device, d.Asked, d.Granted)
		}
	}
	check(robot.Read(ctx))
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
	check(err)
	defer robot.Close()

	check(robot.Request(ctx, "yrsr")) // y describes each round
	check(robot.SetFresh(true))
	check(robot.Read(ctx))
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
	check(err)
	defer robot.Close()

	check(robot.SetDataMode(client.RequestReply)) // before anything streams
	check(robot.Request(ctx, "sr"))
	for range 2 {
		check(robot.RequestData())
		check(robot.Read(ctx))
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
	check(err)
	defer robot.Close()
	check(robot.SetDataMode(client.RequestReply))
	check(robot.Request(ctx, "sr"))

	soon, cancelSoon := context.WithTimeout(ctx, 10*time.Millisecond)
	defer cancelSoon()
	err = robot.Read(soon) // nothing was asked for
	fmt.Println("timeout:", errors.Is(err, context.DeadlineExceeded))

	check(robot.RequestData())
	fmt.Println("data:", robot.Read(ctx) == nil)
	// Output:
	// timeout: true
	// data: true
}

// A connection by TLS: the client trusts the server's authority and shows
// its own certificate.
func ExampleDialBy_tls() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	authority, err := os.ReadFile(filepath.Join(certificates, "authority.pem"))
	check(err)
	config := &tls.Config{RootCAs: x509.NewCertPool()}
	config.RootCAs.AppendCertsFromPEM(authority)
	mine, err := tls.LoadX509KeyPair(filepath.Join(certificates, "cert.pem"), filepath.Join(certificates, "key.pem"))
	check(err)
	config.Certificates = append(config.Certificates, mine)

	robot, err := client.DialBy(ctx, func(ctx context.Context) (net.Conn, error) { // also for Reconnect
		return (&tls.Dialer{Config: config}).DialContext(ctx, "tcp", sealed) // -tls of the server
	})
	check(err)
	defer robot.Close()
	check(robot.Request(ctx, "sr")) // also if the server refuses the certificate
	check(robot.Read(ctx))
	fmt.Println("ahead", robot.Sonar[3], "mm")
	// Output:
	// ahead 1300 mm
}

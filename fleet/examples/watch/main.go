// Watch shows where the robots of a fleet are, and how old that is: an example of a program
// that listens (docs/fleet/subjects.md).
//
//	go run ./fleet/examples/watch -nats nats://TOKEN@localhost:4222 -fleet fleet
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
)

// tooOld is the age from which on a position is not shown: a robot has moved by then. It is
// more than the 2 s after which the bridge repeats data that has not changed.
const tooOld = 3 * time.Second

// message is a message on a subject that ends with .json.
type message struct {
	Epoch    int64
	Sequence uint64
	Time     *time.Time // when it was measured, by the clock of the bridge; nil: there is no data
	Age      *int64     `json:"age_us"` // when the bridge sent it; nil: unknown
	Data     struct{ X, Y, Heading int }
}

// robot is the state of one robot.
type robot struct {
	epoch    int64
	sequence uint64
	// ahead is the least time from sending to arrival in this epoch. It has the difference of
	// both clocks; a message that takes longer has waited on its way.
	ahead time.Duration
}

// take notes a message that arrived now. It returns the age of its data, which is at least the
// age when it was sent, and a loss or takeover before it.
func (r *robot) take(m message, now time.Time) (age time.Duration, before string) {
	if m.Age != nil {
		age = time.Duration(*m.Age) * time.Microsecond
	}
	sent := m.Time.Add(age)
	way := now.Sub(sent)
	switch {
	case m.Epoch != r.epoch && r.epoch != 0:
		before = "another bridge has taken over; "
	case m.Sequence > r.sequence+1 && r.epoch != 0:
		before = fmt.Sprintf("%d lost; ", m.Sequence-r.sequence-1)
	}
	if m.Epoch != r.epoch || way < r.ahead {
		r.ahead = way
	}
	r.epoch, r.sequence = m.Epoch, m.Sequence
	return age + way - r.ahead, before
}

func main() {
	url := flag.String("nats", nats.DefaultURL, "the server of NATS")
	fleet := flag.String("fleet", "fleet", "the name of the fleet")
	flag.Parse()
	if err := watch(*url, *fleet); err != nil {
		fmt.Fprintln(os.Stderr, "watch:", err)
		os.Exit(1)
	}
}

func watch(url, fleet string) error {
	conn, err := nats.Connect(url)
	if err != nil {
		return err
	}
	defer conn.Close()
	sub, err := conn.SubscribeSync("player." + fleet + ".*.position.0.json")
	if err != nil {
		return err
	}
	robots := map[string]*robot{}
	for {
		received, err := sub.NextMsg(time.Minute)
		if err != nil {
			return err
		}
		var m message
		if err := json.Unmarshal(received.Data, &m); err != nil || m.Time == nil {
			continue // the robot has no data
		}
		name := strings.Split(received.Subject, ".")[2]
		if robots[name] == nil {
			robots[name] = &robot{}
		}
		age, before := robots[name].take(m, time.Now())
		if age >= tooOld {
			fmt.Printf("%s: %sold, by %d ms\n", name, before, age.Milliseconds())
			continue
		}
		fmt.Printf("%s: %s%d mm, %d mm, %d deg, %d ms ago\n", name, before, m.Data.X, m.Data.Y, m.Data.Heading, age.Milliseconds())
	}
}

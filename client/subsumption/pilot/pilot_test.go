package pilot

import (
	"context"
	"errors"
	"io"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"player/client"
	"player/client/subsumption"
	"player/client/subsumption/sense"
	"player/codec"
	"player/e2e/must"
)

// robot is the other end of a connection: a server of one client that grants
// every request, answers requests for data after a delay, and records
// commands.
type robot struct {
	conn     net.Conn
	answers  func(request int) time.Duration // delay of the answer; negative: hang up
	vision   []byte
	opened   []byte // letters open for reading, in order
	start    time.Time
	asked    []time.Duration
	commands []codec.PositionCommand
	pans     []int16
	done     chan struct{}
	send     chan []byte // like a socket, it buffers more than the client reads
}

func (r *robot) serve() {
	defer close(r.done)
	defer r.conn.Close()
	defer close(r.send)
	go func() {
		for b := range r.send {
			r.conn.Write(b)
		}
	}()
	var decoder codec.Decoder
	var in []byte
	buf := make([]byte, 1024)
	for {
		n, err := r.conn.Read(buf)
		if err != nil {
			return
		}
		in = append(in, buf[:n]...)
		for {
			m, rest, ok := decoder.Next(in)
			in = rest
			if !ok {
				break
			}
			if !r.handle(m) {
				return
			}
		}
	}
}

func (r *robot) handle(m codec.Message) bool {
	switch {
	case m.Kind == codec.KindRequest:
		for i := 0; i+1 < len(m.Payload); i += 2 {
			if m.Payload[i+1] != codec.AccessWrite {
				r.opened = append(r.opened, m.Payload[i])
			}
		}
		r.send <- codec.AppendBlock(nil, codec.KindReply, m.Payload)
	case m.Kind == codec.KindCommand && m.Device == codec.PTZ:
		var c codec.PTZCommand
		c.Decode(m.Payload)
		r.pans = append(r.pans, c.Pan)
	case m.Kind == codec.KindCommand:
		var c codec.PositionCommand
		c.Decode(m.Payload)
		r.commands = append(r.commands, c)
	case m.Kind == codec.KindConfig && m.Payload[0] == codec.ConfigData:
		r.asked = append(r.asked, time.Since(r.start))
		wait := r.answers(len(r.asked))
		if wait < 0 {
			return false
		}
		time.Sleep(wait)
		r.send <- r.frame()
	}
	return true
}

func (r *robot) frame() (out []byte) {
	for _, letter := range r.opened {
		var payload []byte
		switch letter {
		case codec.Position:
			d := codec.PositionData{X: 1000}
			payload = d.Append(nil)
		case codec.Sonar:
			var d codec.SonarData
			for i := range d {
				d[i] = 3000
			}
			d[2] = 300 // an obstacle on the left
			payload = d.Append(nil)
		case codec.Misc:
			payload = []byte{0, 0, 120}
		case codec.PTZ:
			payload = make([]byte, codec.PTZSize)
		case codec.Vision:
			payload = r.vision
		}
		out = codec.AppendBlock(out, letter, payload)
	}
	return out
}

// connect returns a client that has opened devices of a robot.
func connect(t *testing.T, request string, answers func(int) time.Duration) (*client.Client, *robot) {
	t.Helper()
	near, far := net.Pipe()
	r := &robot{conn: far, answers: answers, start: time.Now(), done: make(chan struct{}), send: make(chan []byte, 100)}
	go r.serve()
	c := client.New(near)
	must.Do(t, c.Request(t.Context(), request))
	return c, r
}

func seeker() *subsumption.Stack {
	return subsumption.New(
		subsumption.NewLayer("ir", &subsumption.IR{}),
		subsumption.NewLayer("cruise", subsumption.Cruise{}),
	)
}

// drive runs a stack on a robot, in virtual time, until the limit or until stop is called.
func drive(t *testing.T, request string, answers func(int) time.Duration, limit time.Duration, stack *subsumption.Stack,
	tasks func(c *client.Client, r *robot, stop func()) []Task) (r *robot, err error) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		var c *client.Client
		c, r = connect(t, request, answers)
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		defer cancel()
		var all []Task
		if tasks != nil {
			all = tasks(c, r, cancel)
		}
		err = Run(ctx, c, stack, all...)
		c.Close()
		<-r.done
	})
	return r, err
}

func atOnce(int) time.Duration { return 0 }

// TestTwentyHertz: Run sleeps only for the rest of the period.
func TestTwentyHertz(t *testing.T) {
	r, err := drive(t, "pasrmr", func(n int) time.Duration {
		return []time.Duration{0, 10, 49, 50, 130}[n%5] * time.Millisecond
	}, 2*time.Second, seeker(), nil)
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v", err)
	}
	// Five cycles take 4 periods and one answer of 130 ms.
	for i := 5; i < len(r.asked); i += 5 {
		if got := r.asked[i] - r.asked[i-5]; got != 330*time.Millisecond {
			t.Errorf("request %d arrived %v after request %d", i, got, i-5)
		}
	}
	for i := 1; i < len(r.asked); i++ {
		want := Period
		if i%5 == 4 {
			want = 130 * time.Millisecond
		}
		if got := r.asked[i] - r.asked[i-1]; got != want {
			t.Errorf("request %d arrived %v after the last, want %v", i, got, want)
		}
	}
	if len(r.commands) < 30 {
		t.Fatalf("%d commands in 2 s", len(r.commands))
	}
	if last := r.commands[len(r.commands)-1]; last != (codec.PositionCommand{}) {
		t.Errorf("the last command is %+v: the robot must stop", last)
	}
	if got, want := r.commands[25], (codec.PositionCommand{Speed: 150, TurnRate: -40}); got != want {
		t.Errorf("command %+v, want %+v", got, want)
	}
}

func TestTasksComeFirst(t *testing.T) {
	stack := bare(subsumption.NewLayer("radio", subsumption.Radio{}), subsumption.NewLayer("stop", subsumption.Stop{}))
	r, err := drive(t, "pasr", atOnce, time.Minute, stack, func(_ *client.Client, _ *robot, stop func()) []Task {
		cycles := 0
		return []Task{func(now time.Duration, s *subsumption.Sensors) {
			if s.Pose.X != 1000 || s.Range[2] != 300 || s.Range[3] != 3000 || s.Bumpers != 0 {
				t.Errorf("the task sees %+v", s)
			}
			if want := time.Duration(cycles) * Period; now != want {
				t.Errorf("cycle %d: it is %v, want %v", cycles, now, want)
			}
			s.Radio = subsumption.Stick{On: true, Speed: 77, Turn: 5}
		}, func(_ time.Duration, s *subsumption.Sensors) {
			if cycles++; cycles == 3 {
				stop()
			}
			if s.Radio.Speed != 77 {
				t.Error("the second task does not see what the first did")
			}
		}}
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if want := (codec.PositionCommand{Speed: 77, TurnRate: 5}); r.commands[0] != want {
		t.Errorf("command %+v, want %+v", r.commands[0], want)
	}
}

func bare(layers ...*subsumption.Layer) *subsumption.Stack {
	s := subsumption.New(layers...)
	s.Motor = subsumption.Motor{}
	return s
}

// TestBacklog: the layers do not see data that was streamed before Run.
func TestBacklog(t *testing.T) {
	r, _ := drive(t, "pa", atOnce, 3*Period, seeker(), func(_ *client.Client, r *robot, _ func()) []Task {
		for x := range int32(20) {
			d := codec.PositionData{X: x}
			r.send <- codec.AppendBlock(nil, codec.Position, d.Append(nil))
		}
		return []Task{func(now time.Duration, s *subsumption.Sensors) {
			if s.Pose.X != 1000 {
				t.Errorf("after %v x is %d mm, the robot is at 1000", now, s.Pose.X)
			}
		}}
	})
	if len(r.asked) == 0 {
		t.Error("no cycle")
	}
}

func TestServerGone(t *testing.T) {
	hangUp := func(n int) time.Duration { return -time.Duration(n / 3) } // at the third request
	if _, err := drive(t, "pa", hangUp, time.Minute, seeker(), nil); !errors.Is(err, io.EOF) {
		t.Errorf("error %v, want %v", err, io.EOF)
	}
}

func TestNoWheels(t *testing.T) {
	if _, err := drive(t, "pr", atOnce, time.Minute, seeker(), nil); err == nil || errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v without write access to position", err)
	}
}

// TestWatch: the camera follows a light and photo turns to it.
func TestWatch(t *testing.T) {
	stack := bare(subsumption.NewLayer("photo", subsumption.Photo{}), subsumption.NewLayer("stop", subsumption.Stop{}))
	r, _ := drive(t, "pavrza", atOnce, time.Second, stack, func(c *client.Client, r *robot, _ func()) []Task {
		image := codec.VisionData{Blobs: []codec.Blob{{Area: 10, X: 0}}} // at the left edge
		image.Count[4] = 1
		r.vision = image.Append(nil)
		return []Task{Watch(c, &sense.Eye{Channel: 4})}
	})
	if len(r.pans) != 1 || r.pans[0] != 24 {
		t.Errorf("camera commands %v, want 24 once", r.pans)
	}
	if want := (codec.PositionCommand{Speed: 300, TurnRate: 40}); r.commands[0] != want {
		t.Errorf("command %+v, want %+v", r.commands[0], want)
	}
}

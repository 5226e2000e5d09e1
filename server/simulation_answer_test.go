package server

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"player/devices"
)

// Questions of the simulated clients (8.9), and the judges of their answers: each is true when it is
// given, and comes in its turn.

type simQuestion struct {
	letter byte
	number int // of the message
}

// refusedIn returns the letters with access e in a reply, each once.
func refusedIn(reply string) string {
	var letters []byte
	for i := 0; i+1 < len(reply); i += 2 {
		if reply[i+1] == 'e' && !slices.Contains(letters, reply[i]) {
			letters = append(letters, reply[i])
		}
	}
	return string(letters)
}

// ask asks a question.
func (c *simClient) ask(letter byte) {
	s := c.sim
	times := 1
	if letter == 'e' {
		c.request("vr" + c.pairs())
		times += s.random.IntN(2) // a reply is explained once
	}
	for range times {
		c.questions = append(c.questions, simQuestion{letter, c.sent})
		s.note("%v asks %q", c, letter)
		c.send(message('x', 'y', []byte{'q', letter}))
	}
	c.request("")
}

// lines splits an answer.
func (c *simClient) lines(payload string) (question byte, lines []string) {
	if payload == "" || len(payload) > 2048 || len(payload) > 1 && payload[1] != '\n' {
		c.sim.fail("%v: answer %q", c, payload)
	}
	if len(payload) == 1 {
		return payload[0], nil
	}
	lines = strings.Split(payload[2:], "\n")
	for _, line := range lines {
		if line == "" || len(line) > 240 || strings.ContainsFunc(line, func(r rune) bool { return r < ' ' || r > '~' }) {
			c.sim.fail("%v: line %q of answer %q", c, line, payload)
		}
	}
	return payload[0], lines
}

// answer judges the turn of an answer, and the part of it that the client knows from its replies.
func (c *simClient) answer(payload []byte) {
	s := c.sim
	s.summary.Answers++
	letter, lines := c.lines(string(payload))
	s.note("%v gets the answer %q", c, payload)
	if len(c.questions) == 0 || c.questions[0].letter != letter {
		s.fail("%v: answer %q to %v", c, payload, c.questions)
	}
	q := c.questions[0]
	c.questions = c.questions[1:]
	if len(c.requests) > 0 && c.requests[0].number < q.number {
		s.fail("%v: answer %q before the reply to %q", c, payload, c.requests[0].pairs)
	}
	switch letter {
	case 'e':
		c.refusals(lines)
	case 's':
		c.stopShown(lines)
	}
}

// refusals judges the answer about the last reply: 8.9.1.
func (c *simClient) refusals(lines []string) {
	s := c.sim
	var letters []byte
	for _, line := range lines {
		letter, rest := line[0], line[1:]
		letters = append(letters, letter)
		word, _, ok := strings.Cut(strings.TrimPrefix(rest, " "), " ")
		known := strings.IndexByte(c.robot.letters(), letter) >= 0
		opens := strings.Contains(c.refusedBy, string(letter)+"r") || strings.Contains(c.refusedBy, string(letter)+"w") ||
			strings.Contains(c.refusedBy, string(letter)+"a")
		switch {
		case !ok || rest[0] != ' ':
			s.fail("%v: line %q", c, line)
		case word == "missing" != (!known && letter != 'y'),
			word == "closed" && known && opens,
			word == "right" && !c.readOnly,
			!slices.Contains([]string{"missing", "right", "hardware", "off", "closed"}, word):
			s.fail("%v: %q to %q", c, line, c.refusedBy)
		}
	}
	if string(letters) != c.refused {
		s.fail("%v: reasons for %q of the refused %q", c, letters, c.refused)
	}
	c.refused = ""
}

// stopShown judges whether an answer about obstacles has the emergency stop.
func (c *simClient) stopShown(lines []string) {
	s := c.sim
	shown := slices.ContainsFunc(lines, func(line string) bool { return strings.HasPrefix(line, "stopped ") })
	if shown && !c.robot.mayHaveBeenStopped(c.written) {
		s.fail("%v: %q at %v, and no emergency stop is active", c, lines, c.written)
	}
	if o := c.robot.mustBeStopped(c.written, c.written); o != nil && !shown {
		s.fail("%v: %q, and the emergency stop of %v to %v is active", c, lines, o.call, o.ret)
	}
}

// judgeAnswer judges an answer when it is written, by the state of the robot.
func (c *simClient) judgeAnswer(payload string) {
	letter, lines := c.lines(payload)
	if c.robot.changes() {
		return
	}
	switch letter {
	case 's':
		c.obstacles(lines)
	case 'g':
		c.parts(lines)
	case 'c':
		c.charger(lines)
	}
}

// changes reports whether a request of any client may have changed a device of the robot since the answer
// was made: it is written at the end of the callback.
func (r *simRobot) changes() bool {
	return slices.ContainsFunc(r.sim.clients, func(c *simClient) bool {
		return c.robot == r && slices.ContainsFunc(c.requests, func(q simRequest) bool { return q.pairs != "" })
	})
}

// charger judges the state of the charger: 8.9.4.
func (c *simClient) charger(lines []string) {
	s, r := c.sim, c.robot
	if len(lines) > 1 {
		s.fail("%v: the states of %d chargers", c, len(lines))
	}
	if !r.healthy() || r.link.State() != devices.Ready || r.newest() < s.now-time.Second {
		return
	}
	want := "m " + r.base.charge(r.reports[len(r.reports)-1])
	if want == "m " {
		return
	}
	if !slices.Equal(lines, []string{want}) {
		s.fail("%v: charger %q, want %q", c, lines, want)
	}
}

// motorsShown judges whether an answer about obstacles has that the motors are off.
func (c *simClient) motorsShown(shown bool) {
	s, r := c.sim, c.robot
	on, known := r.base.motors()
	if !known || !r.healthy() || r.reflexes || r.link.State() != devices.Ready || r.newest() < s.now-time.Second ||
		s.now < r.powered+2*time.Second {
		return
	}
	if shown == on {
		s.fail("%v: the motors are off: %v, and they have power: %v", c, shown, on)
	}
}

// obstacles judges the client's obstacles: 8.9.2.
func (c *simClient) obstacles(lines []string) {
	s, r := c.sim, c.robot
	said := map[string]bool{}
	for _, line := range lines {
		word, rest, _ := strings.Cut(line, " ")
		switch {
		case word == "stopped", word == "motors":
			said[word] = true // stopShown and motorsShown judge them
		case word == "control":
			address, _, _ := strings.Cut(rest, " ")
			other := r.commander()
			if !r.keeps || other == nil || other == c || !other.mayControl() ||
				addressOf(other.conn.remote).String() != address {
				s.fail("%v: %q, and the commander is %v", c, line, other)
			}
			said[word] = true
		case len(word) == 1 && strings.Contains(r.letters(), word):
			why, _, _ := strings.Cut(rest, " ")
			said[word+" "+why] = true
			c.obstacle(word[0], why, line)
		default:
			s.fail("%v: %q", c, line)
		}
	}
	c.motorsShown(said["motors"])
	steady := r.link.State() == devices.Ready && len(r.starts) > 0 && s.now-r.starts[len(r.starts)-1] > 15*time.Second
	if steady && reads(c.access('s')) && len(c.requests) == 0 && s.now-r.newest() > 4*time.Second && !said["s silent"] {
		s.fail("%v: %q, and the robot has sent nothing since %v", c, lines, r.newest())
	}
}

// newest returns when the driver was given the newest report of the robot.
func (r *simRobot) newest() time.Duration {
	if len(r.reports) == 0 {
		return 0
	}
	return r.reports[len(r.reports)-1].at
}

// obstacle judges a line about a device.
func (c *simClient) obstacle(letter byte, why, line string) {
	s, r := c.sim, c.robot
	link, newest := r.link, r.newest()
	switch letter {
	case 'l':
		link, newest = r.scanner.current(), r.scanner.newest()
	case 'p':
		if r.reflexes {
			return // it has a driver of its own
		}
	}
	if link == nil {
		s.fail("%v: %q, and its driver was never started", c, line)
	}
	switch why {
	case "silent":
		greets := letter != 'l' && (r.port == nil || s.now < r.port.opened+6*time.Second) // it may send to no avail
		if link.State() != devices.Ready || s.now-newest < 3*time.Second && s.now > r.garbled+4*time.Second && !greets {
			s.fail("%v: %q, it is %v and has sent data at %v", c, line, link.State(), newest)
		}
	case "hardware":
		if link.State() == devices.Ready {
			s.fail("%v: %q, and it works", c, line)
		}
	case "off":
		if letter != 'l' && !r.off {
			s.fail("%v: %q, and it is not off", c, line)
		}
	default:
		s.fail("%v: %q", c, line)
	}
}

// parts judges the geometry: 8.9.3. A Pioneer 2-DX has a body and 16 sonars at most.
func (c *simClient) parts(lines []string) {
	s, r := c.sim, c.robot
	places := map[string]bool{}
	for _, line := range lines {
		fields := strings.Fields(line)
		if len(fields) < 9 || len(fields[0]) != 1 || !strings.Contains(r.letters(), fields[0]) {
			s.fail("%v: part %q", c, line)
		}
		for _, number := range fields[1:9] {
			if _, err := strconv.ParseFloat(number, 64); err != nil {
				s.fail("%v: part %q: %v", c, line, err)
			}
		}
		if place := fields[0] + fields[1]; places[place] {
			s.fail("%v: two parts %q", c, line)
		} else {
			places[place] = true
		}
	}
	ready := r.link.State() == devices.Ready && len(r.starts) > 0 && !r.reflexes && r.base.letters() == "psgm"
	if ready && (!places["p0"] || !places["s0"] || !places["s15"] && !places["s7"]) {
		s.fail("%v: the robot is ready, and its parts are %q", c, lines)
	}
}

package server

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/coder/websocket"
)

// pageHand is a page of the dashboard that drives a robot.
type pageHand struct{ *simProgram }

func (p *pageHand) dials() (string, []string) {
	return "/pages/drive?robot=127.0.0.1:" + p.robot.name(), nil
}
func (p *pageHand) silence() time.Duration { return 400 * time.Millisecond }
func (p *pageHand) publishes(w velocity)   { p.sends(`{"drive":[%d,%d]}`, w.speed, w.turn) }

// calls asks for stops and releases by requests, and for the rest without an answer.
func (p *pageHand) calls(number int, service string, on bool) {
	switch service {
	case "motors":
		p.calledNothing(number)
		p.sends(`{"motors":%v}`, on)
	case "reset_odometry":
		p.calledNothing(number)
		p.sends(`{"reset":true}`)
	default:
		path := map[string]string{"emergency_stop": "/pages/stop", "release": "/pages/release"}[service]
		post := programPost{fmt.Sprintf("%s?robot=%d", path, 6665+p.robot.index), number}
		p.site.sim.note("%v posts %s", p, post.path)
		p.site.act(func() {
			select {
			case p.posts <- post:
			default: // they wait for the loop
			}
		})
	}
}

// acts stops the robot, also for another driver.
func (p *pageHand) acts(int) {
	p.taken = p.site.sim.now
	p.sends(`{"drive":[0,0],"take":true}`)
	for _, c := range p.site.sim.clients {
		if c.program == p.simProgram && c.isReady() {
			c.expectTaken(p.taken, p.taken)
		}
	}
}

// expectTaken expects that the page's connection stops the robot of any driver, unless the page commands something
// else, which may replace it.
func (c *simClient) expectTaken(asked, from time.Duration) {
	s, p := c.sim, c.program
	s.at(from+programDelay, func() {
		switch {
		case p.left != 0 || c.left != 0 || c.over || p.commanded() > asked || p.taken != asked:
		case !s.awake(time.Second) || s.now < s.busy || !c.isReady(): // the page's connection is busy with something else
			c.expectTaken(asked, s.now)
		default:
			s.summary.Takes++
			if c.took < asked {
				s.fail("%v: %v has stopped the robot of any driver at %v, and it was not commanded", c, p, asked)
			}
		}
	})
}

func (p *pageHand) gets(_ websocket.MessageType, text []byte) {
	s := p.site.sim
	var m struct {
		Held  *string
		Error string
	}
	if err := json.Unmarshal(text, &m); err != nil || m.Held == nil {
		s.fail("%v gets %s: %v", p, text, err)
	}
	s.note("%v gets %s", p, text)
}

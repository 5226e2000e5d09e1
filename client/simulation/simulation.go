// Package simulation lets a program make experiments: it reads the true state of a simulated
// world and changes it, on the address of the dashboard (-http).
//
//	world := simulation.At("localhost:8080")
//	state, err := world.Order(ctx, simulation.Order{
//		Seed: new(uint64(7)), // as after a start with -seed 7
//		Move: []simulation.Mover{{Name: "r0", X: 1, Y: 0.5, Heading: 90}},
//	})
//
// Lengths are metres, headings and bearings degrees counterclockwise, headings from the x axis, times simulated
// seconds. A world in lockstep (docs/STAGE.md) changes between two of its steps: right before its client
// requests the next data.
package simulation

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"player/codec/peertext"
)

// State is the true state of a world.
type State struct {
	Time     float64 `json:"time"`
	Speed    float64 `json:"speed"` // simulated seconds a second; 0: as fast as possible
	Paused   bool    `json:"paused"`
	Finished bool    `json:"finished"` // quit_time has passed
	Seed     uint64  `json:"seed"`
	Movers   []Mover `json:"movers"` // robots, then things
}

// Mover returns the mover of a name, the first one if there are several.
func (s *State) Mover(name string) (m Mover, ok bool) {
	for _, m := range s.Movers {
		if m.Name == name {
			return m, true
		}
	}
	return Mover{}, false
}

// Mover is a robot or a thing that can move.
type Mover struct {
	Name    string  `json:"name"`
	Robot   bool    `json:"robot"` // an order ignores it
	X       float64 `json:"x"`
	Y       float64 `json:"y"`
	Heading float64 `json:"heading"`
	// Color is the robot's or thing's colour, "#rrggbb". An order ignores it: Order.Color changes it.
	Color string `json:"color,omitempty"`
	// Sees are the fiducials seen by the robot's fiducial finder. An order ignores it.
	Sees []Sighting `json:"sees,omitempty"`
}

// Sighting is a fiducial that a fiducial finder sees.
type Sighting struct {
	Name    string  `json:"name"`  // of the robot or thing that has it
	ID      int     `json:"id"`    // its fiducial_return; 0: too far away to be identified
	Range   float64 `json:"range"` // metres
	Bearing float64 `json:"bearing"`
}

// Order is a command to a world. It is carried out from the first field to the last, and all
// fields but the steps at one moment. No other order is carried out before its end.
type Order struct {
	Reset bool     `json:"reset,omitempty"` // to the start, also the time; clients stay connected
	Seed  *uint64  `json:"seed,omitempty"`  // the same with another seed
	Move  []Mover  `json:"move,omitempty"`  // all of them or, without room, none
	Color []Paint  `json:"color,omitempty"` // all of them or, if something is misspelt, none
	Speed *float64 `json:"speed,omitempty"` // 0 to 1000
	Pause *bool    `json:"pause,omitempty"`
	Step  int      `json:"step,omitempty"` // 0 to 1000, of 10 ms each
}

// Paint is another colour for a robot, a thing or a fixture.
type Paint struct {
	Name  string `json:"name"`
	Color string `json:"color"` // "#rrggbb", or a name as in a world file
}

// ErrRefused is wrapped by the error of an impossible order: then no part of Move or of Color was done,
// nor any later field.
var ErrRefused = errors.New("the simulation refuses")

// World is a simulated world that a server serves.
type World struct {
	// Address is HOST:PORT of the dashboard; https://HOST:PORT for a dashboard with TLS.
	Address string
	// Client asks. Nil: http.DefaultClient. Certificates are in its Transport.
	Client *http.Client
}

// At returns the world at an address.
func At(address string) *World { return &World{Address: address} }

// maxReply bounds an answer in bytes: the state of a world of ten thousand robots fits.
const maxReply = 2 << 20

// State returns the state of the world.
func (w *World) State(ctx context.Context) (State, error) { return w.ask(ctx, http.MethodGet, "") }

// Order has an order carried out and returns the state afterwards.
func (w *World) Order(ctx context.Context, order Order) (State, error) {
	text, err := json.Marshal(order)
	if err != nil {
		return State{}, err // one of the numbers is invalid
	}
	return w.ask(ctx, http.MethodPost, "?order="+url.QueryEscape(string(text)))
}

func (w *World) ask(ctx context.Context, method, query string) (state State, err error) {
	address := w.Address
	if !strings.Contains(address, "://") {
		address = "http://" + address
	}
	request, err := http.NewRequestWithContext(ctx, method, address+"/simulation"+query, nil)
	if err != nil {
		return State{}, err
	}
	response, err := cmp.Or(w.Client, http.DefaultClient).Do(request)
	if err != nil {
		return State{}, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, maxReply))
	if err != nil {
		return State{}, err
	}
	reason := peertext.Line(string(bytes.TrimSpace(text)))
	switch response.StatusCode {
	case http.StatusOK:
		if err := json.Unmarshal(text, &state); err != nil {
			return State{}, fmt.Errorf("%s is no dashboard of Player: %w", w.Address, err)
		}
		return state, nil
	case http.StatusBadRequest, http.StatusConflict:
		return State{}, fmt.Errorf("%w: %s", ErrRefused, reason)
	case http.StatusNotFound:
		return State{}, fmt.Errorf("%s serves no simulation: start the server with -stage and -http", w.Address)
	}
	return State{}, fmt.Errorf("%s: %s: %s", w.Address, peertext.Line(response.Status), reason)
}

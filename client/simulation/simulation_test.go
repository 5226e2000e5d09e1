package simulation_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"player/client/simulation"
)

const state = `{"time":1.5,"speed":0,"paused":true,"finished":false,"seed":7,"later":1,"movers":[{"name":"r0","robot":true,"x":1,"y":-0.5,"heading":90}]}`

func TestOrder(t *testing.T) {
	dashboard := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		const want = `POST {"reset":true,"seed":7,"move":[{"name":"a \u0026b","robot":false,"x":1,"y":2.5,"heading":-90}],"speed":0,"pause":false,"step":5}`
		if got := r.Method + " " + r.URL.Query().Get("order"); got != want || r.URL.Path != "/simulation" {
			t.Errorf("%s asked for %s, want %s", r.URL.Path, got, want)
		}
		fmt.Fprint(w, state)
	}))
	defer dashboard.Close()
	world := simulation.At(strings.TrimPrefix(dashboard.URL, "http://"))
	got, err := world.Order(t.Context(), simulation.Order{
		Reset: true, Seed: new(uint64(7)), Move: []simulation.Mover{{Name: "a &b", X: 1, Y: 2.5, Heading: -90}},
		Speed: new(0.0), Pause: new(false), Step: 5,
	})
	if robot, ok := got.Mover("r0"); err != nil || got.Time != 1.5 || !got.Paused || got.Seed != 7 || !ok || robot.Heading != 90 {
		t.Errorf("%+v, %v", got, err)
	}
	if _, ok := got.Mover("r1"); ok {
		t.Error("there is a mover r1")
	}
}

func TestErrors(t *testing.T) {
	for _, tt := range []struct {
		status     int
		text, want string
		refused    bool
	}{
		{409, "there is no room for r0\n", "the simulation refuses: there is no room for r0", true},
		{409, "no\x1b[2J", `the simulation refuses: no\x1b[2J`, true},
		{400, "write step 0 to 1000", "the simulation refuses: write step 0 to 1000", true},
		{404, "404 page not found", "serves no simulation: start the server with -stage and -http", false},
		{403, "your computer may read", "403 Forbidden: your computer may read", false},
		{200, "<html>", "is no dashboard of Player", false},
	} {
		dashboard := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(tt.status)
			fmt.Fprint(w, tt.text)
		}))
		_, err := simulation.At(dashboard.URL).State(t.Context())
		dashboard.Close()
		if err == nil || !strings.Contains(err.Error(), tt.want) || errors.Is(err, simulation.ErrRefused) != tt.refused {
			t.Errorf("%d %s: %v, want %s", tt.status, tt.text, err, tt.want)
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := simulation.At("localhost:8080").State(ended); !errors.Is(err, context.Canceled) {
		t.Errorf("with a context that has ended: %v", err)
	}
}

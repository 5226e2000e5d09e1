package dashboard

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"player/client/simulation"
	"player/config/rights"
	"player/devices/stage"
	"player/e2e/must"
	"player/visitors/roomtest"
)

// A program reads the true state of the simulation, and moves, pauses, steps and resets it.
func TestSimulation(t *testing.T) {
	l := newLab(t, nil)
	ask := func(order string) (code int, text string, state simulation.State) {
		t.Helper()
		method := "POST"
		if order == "" {
			method = "GET"
		}
		response, text := roomtest.Request(t, method, l.url+"/simulation?order="+url.QueryEscape(order), nil)
		if response.StatusCode == http.StatusOK {
			must.Do(t, json.Unmarshal([]byte(text), &state))
		}
		return response.StatusCode, text, state
	}
	_, _, first := ask("")
	if len(first.Movers) != 2 || !first.Movers[0].Robot || first.Movers[0].X != -2 || first.Speed != 1 || first.Seed != 1 {
		t.Fatalf("at first %+v", first)
	}
	same := func(a, b simulation.Mover) bool { return reflect.DeepEqual(a, b) }
	robot, thing := first.Movers[0].Name, first.Movers[1].Name
	_, text, state := ask(`{"pause":true,"seed":5,"move":[{"name":"` + robot + `","x":1.5,"y":0.5,"heading":90},{"name":"` + thing + `","x":-2,"y":-1.5}]}`)
	if len(state.Movers) != 2 || !state.Paused || state.Seed != 5 || state.Time != 0 || state.Movers[0].X != 1.5 || state.Movers[0].Heading != 90 || state.Movers[1].X != -2 {
		t.Fatalf("after the order: %s", text)
	}
	if _, text, state = ask(`{"color":[{"name":"` + thing + `","color":"blue"}]}`); first.Movers[1].Color == "" || state.Movers[1].Color != "#0000ff" {
		t.Errorf("painted: %s", text)
	}
	if _, text, state = ask(`{"step":50}`); state.Time != 0.5 {
		t.Errorf("after 50 steps: %s", text)
	}
	for order, want := range map[string]string{
		`{"move":[{"name":"` + robot + `","x":1,"y":1},{"name":"` + thing + `","x":100000000}]}`: "409 (1e+08, 0, 0) is not a pose",
		`{"move":[{"name":"` + robot + `","x":1,"y":1},{"name":"` + thing + `","x":1,"y":1}]}`:   "409 " + stage.ErrNoRoom.Error(),
		`{"move":[{"name":"nobody"}]}`:                `409 there is no robot and no thing that moves of the name "nobody"`,
		`{"color":[{"name":"nobody","color":"red"}]}`: `409 there is no robot and no thing of the name "nobody"`,
		`{"step":-1}`:  "400 write step",
		`{"speed":-1}`: "400 write step 0 to 1000 and speed 0 to 1000",
		`{"jump":1}`:   "400 ?order= wants JSON: ",
	} {
		code, text, _ := ask(order)
		number, start, _ := strings.Cut(want, " ")
		if http.StatusText(code) == "" || number != map[int]string{400: "400", 409: "409"}[code] || !strings.HasPrefix(text, start) {
			t.Errorf("%s: %d %s, want %s", order, code, text, want)
		}
	}
	if _, _, now := ask(""); !slices.EqualFunc(now.Movers, state.Movers, same) {
		t.Errorf("refused orders have moved something: %+v", now.Movers)
	}
	if _, text, state = ask(`{"reset":true}`); state.Time != 0 || !slices.EqualFunc(state.Movers, first.Movers, same) || state.Seed != 5 {
		t.Errorf("after the reset: %s", text)
	}
}

// A visitor that may only read commands nothing, nor does a GET, which browsers send unasked.
func TestRightsOfCommands(t *testing.T) {
	here := []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}
	for _, tt := range []struct {
		may          rights.Set
		method, text string
		code         int
	}{
		{rights.Read, "GET", `"time":0`, 200},
		{rights.Read, "POST", "your computer may read, this needs write", 403},
		{rights.Write, "GET", "your computer may write, this needs read", 403},
		{rights.Read | rights.Write, "GET", `"time":0`, 200},
		{rights.Read | rights.Write, "POST", `"time":0.5`, 200},
		{rights.All, "PUT", "Method Not Allowed", 405},
	} {
		l := newLab(t, rights.Rules{{Allow: tt.may, From: here}})
		response, text := roomtest.Request(t, tt.method, l.url+"/simulation?order="+url.QueryEscape(`{"step":50}`), nil)
		if response.StatusCode != tt.code || !strings.Contains(text, tt.text) {
			t.Errorf("%v, %s: %d %s; want %d %s", tt.may, tt.method, response.StatusCode, text, tt.code, tt.text)
		}
		now := l.Time()
		if moved := now > 0; moved != (tt.code == 200 && tt.method == "POST") {
			t.Errorf("%v, %s: it is %v", tt.may, tt.method, now)
		}
	}
}

// The orders of several programs are carried out one after the other, with their steps.
func TestCommandsInQueue(t *testing.T) {
	l := newLab(t, nil)
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			_, text := roomtest.Request(t, "POST", l.url+"/simulation?order="+url.QueryEscape(fmt.Sprintf(`{"seed":%d,"step":%d}`, i, 100+i)), nil)
			var state simulation.State
			if err := json.Unmarshal([]byte(text), &state); err != nil || state.Seed != uint64(i) || math.Round(100*state.Time) != float64(100+i) {
				t.Errorf("order %d: %+v, %v", i, state, err)
			}
		})
	}
	all.Wait()
}

// The floor plan is written out as a map of ROS, and a world with that map has the same
// walls.
func TestMapOfTheWorld(t *testing.T) {
	l := newLab(t, nil)
	folder := t.TempDir()
	for _, name := range []string{"map.yaml", "map.pgm"} {
		response, data := roomtest.Request(t, "GET", l.url+"/"+name, nil)
		if response.StatusCode != http.StatusOK {
			t.Fatalf("%s: %d %s", name, response.StatusCode, data)
		}
		must.Do(t, os.WriteFile(filepath.Join(folder, name), []byte(data), 0o666))
	}
	path := filepath.Join(folder, "again.world")
	want := l.World.Plan()
	text := fmt.Sprintf("resolution %v model ( bitmap \"map.yaml\" )", want.Resolution)
	must.Do(t, os.WriteFile(path, []byte(text), 0o666))
	world, err := stage.Load(path)
	if err != nil || len(world.Warnings()) > 0 {
		t.Fatal(world.Warnings(), err)
	}
	got := world.Plan()
	cells := func(p stage.Plan) map[[2]int]bool {
		walls := map[[2]int]bool{}
		x0, y0 := int(math.Round(p.Origin.X/p.Resolution)), int(math.Round(p.Origin.Y/p.Resolution))
		for y := range p.Height {
			for x := range p.Width {
				if p.Wall(x, y) {
					walls[[2]int{x0 + x, y0 + y}] = true
				}
			}
		}
		return walls
	}
	if a, b := cells(want), cells(got); len(a) == 0 || !maps.Equal(a, b) {
		t.Errorf("%d cells are walls, and %d in the map", len(a), len(b))
	}
}

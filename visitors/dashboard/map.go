package dashboard

import (
	"bufio"
	"fmt"
	"net/http"

	"player/devices/stage"
	"player/visitors"
)

// maxMap bounds the exported map, in pixels: a simulation reads a picture of as many.
const maxMap = 1 << 24

// mapPlan calls next with the floor plan, unless it is too large for a map.
func (s *server) mapPlan(next func(http.ResponseWriter, *http.Request, stage.Plan)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		plan, err := visitors.OnLoop(r.Context(), s.world, planOf)
		if err != nil {
			http.Error(w, explain(err), http.StatusServiceUnavailable)
			return
		}
		if plan.Width > maxMap/plan.Height {
			http.Error(w, fmt.Sprintf("the map would have %d x %d pixels, and %d is the most: increase the resolution value of the world", plan.Width, plan.Height, maxMap), http.StatusConflict)
			return
		}
		next(w, r, *plan)
	}
}

// writeMap writes map.yaml in the format of ROS.
func writeMap(w http.ResponseWriter, _ *http.Request, p stage.Plan) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = fmt.Fprintf(w, "image: map.pgm\nresolution: %v\norigin: [%v, %v, 0]\nnegate: 0\noccupied_thresh: 0.65\nfree_thresh: 0.196\n",
		p.Resolution, p.Origin.X, p.Origin.Y) // fails if the reader has disconnected
}

// writePicture writes map.pgm: walls are black, free cells are white.
func writePicture(w http.ResponseWriter, r *http.Request, p stage.Plan) {
	visitors.VisitorOf(r).OweReply(p.Width * p.Height)
	w.Header().Set("Content-Type", "image/x-portable-graymap")
	out := bufio.NewWriterSize(w, 1<<16)
	fmt.Fprintf(out, "P5\n%d %d\n255\n", p.Width, p.Height)
	for y := p.Height - 1; y >= 0; y-- { // the top row is the first
		for x := range p.Width {
			c := byte(254) // as map_saver
			if p.Wall(x, y) {
				c = 0
			}
			_ = out.WriteByte(c) // Flush has its error
		}
	}
	_ = out.Flush() // fails if the reader has disconnected
}

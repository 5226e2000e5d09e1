package web

import (
	"net/http"
	"time"

	"player/devices/stage"
)

// Shape is what a robot that is not simulated looks like, in metres and radians in its
// frame.
type Shape struct {
	Outline []stage.Vec
	Sonars  []stage.Pose // in the order of the ranges
}

// shape replies with the shape of a robot as its driver knows it now, or with no
// content: the page draws a Pioneer 2-DX then.
func (s *server) shape(w http.ResponseWriter, r *http.Request) {
	known := s.config.Shapes[r.URL.Query().Get("robot")]
	if known == nil {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	var shape Shape
	if err := s.onLoop(r.Context(), func(time.Duration) { shape = known() }); err != nil {
		http.Error(w, explain(err), http.StatusServiceUnavailable)
		return
	}
	sendJSON(w, http.StatusOK, shape)
}

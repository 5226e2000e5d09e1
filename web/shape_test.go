package web

import (
	"net/http/httptest"
	"testing"
	"time"

	"go.uber.org/zap"

	"player/devices/stage"
)

func TestShape(t *testing.T) {
	page := site(t.Context(), Config{
		Shapes: map[string]func() Shape{"localhost:6665": func() Shape {
			return Shape{[]stage.Vec{{X: 1, Y: 2}}, []stage.Pose{{X: 3, Y: 4, Heading: 5}}}
		}},
		Post: func(fn func(time.Duration)) bool { fn(0); return true }, Log: zap.NewNop(),
	}).Protected()
	for address, want := range map[string]string{
		"localhost:6665": `{"Outline":[{"X":1,"Y":2}],"Sonars":[{"X":3,"Y":4,"Heading":5}]}` + "\n",
		"localhost:6666": "",
	} {
		w := httptest.NewRecorder()
		request := httptest.NewRequest("GET", "/shape?robot="+address, nil)
		request.Host = "localhost"
		page.ServeHTTP(w, request)
		if got := w.Body.String(); got != want || (w.Code == 204) != (want == "") {
			t.Errorf("%s: %d %s, want %s", address, w.Code, got, want)
		}
	}
}

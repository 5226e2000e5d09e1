package dashboard

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"player/client"
	"player/codec"
	"player/config/rights"
	"player/server/status"
	"player/visitors"
)

func (s *server) handleStatus(mux *http.ServeMux) {
	mux.HandleFunc("GET /status", s.readers(s.withStatus(func(w http.ResponseWriter, r *http.Request, now *status.Status) {
		visitors.VisitorOf(r).OweReply(sendJSON(w, http.StatusOK, now))
	})))
	mux.HandleFunc("GET /healthz", s.readers(s.withStatus(func(w http.ResponseWriter, _ *http.Request, now *status.Status) {
		health, code := now.Health(), http.StatusOK
		if !health.Well {
			code = http.StatusServiceUnavailable
		}
		sendJSON(w, code, health)
	})))
	mux.HandleFunc("GET /metrics", s.readers(s.withStatus(func(w http.ResponseWriter, r *http.Request, now *status.Status) {
		w.Header().Set("Content-Type", status.ContentType)
		text := now.AppendMetrics(nil)
		visitors.VisitorOf(r).OweReply(len(text))
		_, _ = w.Write(text) // fails if the reader has disconnected
	})))
	mux.HandleFunc("POST "+stopPath, s.config.Allowed(rights.Write, s.emergencyStop))
	mux.HandleFunc("POST /release", s.config.Allowed(rights.Write, s.emergencyStop))
}

func (s *server) withStatus(next func(http.ResponseWriter, *http.Request, *status.Status)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		all, err := s.config.Status(r.Context())
		if err != nil {
			http.Error(w, explain(err), http.StatusServiceUnavailable)
			return
		}
		all.Version = s.config.Version
		if s.config.Cameras != nil {
			all.Cameras = map[string]status.Camera{}
		}
		for _, camera := range s.config.Cameras {
			all.Cameras[camera.Name()] = camera.Status()
		}
		next(w, r, all)
	}
}

// emergencyStop stops, or releases, the robots that the request names: a robot of this server by its port, any robot
// by the address in the page's list, or all robots of this server.
func (s *server) emergencyStop(w http.ResponseWriter, r *http.Request) {
	which, on := r.URL.Query().Get("robot"), r.URL.Path == stopPath
	if which == "" {
		http.Error(w, "which robot? add ?robot=PORT or ?robot=all", http.StatusBadRequest)
		return
	}
	type outcome struct {
		known  bool
		missed []string // robots that the server has no longer
	}
	by := r.RemoteAddr
	o, err := visitors.OnLoop(r.Context(), s.config.Server, func(server visitors.Server, now time.Duration) *outcome {
		o := new(outcome)
		for _, robot := range s.config.Robots {
			if robot.Port == 0 || which != "all" && which != robot.Address && which != strconv.Itoa(robot.Port) {
				continue
			}
			o.known = true
			if !server.EmergencyStop(now, robot.Port, on, by) {
				o.missed = append(o.missed, robot.Name)
			}
		}
		return o
	})
	if err == nil && o.missed != nil {
		err = visitors.Notice{Text: "this server does not serve " + strings.Join(o.missed, ", ") + " any more: reload the page"}
	}
	if err == nil && !o.known {
		if !strings.Contains(which, ":") {
			http.Error(w, "this server has no such robot", http.StatusNotFound)
			return
		}
		err = s.stopElsewhere(r, which, on)
	}
	if err != nil {
		http.Error(w, explain(err), http.StatusServiceUnavailable)
		return
	}
	s.present.forget()
	w.WriteHeader(http.StatusNoContent)
}

// How a stop of a robot of another server can fail without an error.
var (
	// A server that answers no questions, for example the original, also ignores the stop.
	errIgnored = visitors.Notice{Text: "its server knows no emergency stop: see whether the robot stands"}
	errRefused = visitors.Notice{Text: "its server does not allow this one to stop and release the robot"}
)

// answerLimit is how long a robot may take to report whether it is stopped. Even a poor wireless network needs
// less than a second.
const answerLimit = 5 * time.Second

// stopElsewhere stops, or releases, a robot of another server.
func (s *server) stopElsewhere(r *http.Request, address string, on bool) error {
	if err := s.admit(r, address); err != nil {
		return err
	}
	robot, closed, err := s.config.Dialer(address, nameOf(r))(r.Context())
	if err != nil {
		return err
	}
	defer closed()
	defer robot.Close()
	if err := robot.EmergencyStop(on); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(r.Context(), answerLimit)
	defer cancel()
	obstacles, err := robot.Ask(ctx, codec.QuestionObstacles) // the stop is not answered
	stands := slices.ContainsFunc(obstacles, func(line string) bool { return strings.HasPrefix(line, "stopped") })
	switch {
	case errors.Is(err, client.ErrUnknownQuestion):
		return errIgnored
	case err == nil && stands != on:
		return errRefused
	}
	return err
}

// sendJSON replies with v, and returns how many bytes it has.
func sendJSON(w http.ResponseWriter, code int, v any) (bytes int) {
	text, _ := json.Marshal(v) // all replies have JSON
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_, _ = w.Write(append(text, '\n')) // fails if the reader has disconnected
	return len(text)
}

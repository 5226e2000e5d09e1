package web

import (
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	"player/config/rights"
	"player/status"
)

// Server is the server of the robots in this process. Its methods are called through
// Config.Post only.
type Server interface {
	// Status returns a copy: it is formatted elsewhere.
	Status(now time.Duration) status.Status
	// EmergencyStop stops the robot on a port until it is released, or releases it.
	// by is who asks for it. It reports whether there is such a robot.
	EmergencyStop(now time.Duration, port int, on bool, by string) bool
}

// handleStatus adds what tells about the server and stops its robots.
func (s *server) handleStatus(mux *http.ServeMux) {
	mux.HandleFunc("GET /status", s.readers(s.told(func(w http.ResponseWriter, now status.Status) {
		sendJSON(w, http.StatusOK, now)
	})))
	mux.HandleFunc("GET /healthz", s.readers(s.told(func(w http.ResponseWriter, now status.Status) {
		health, code := now.Health(), http.StatusOK
		if !health.Well {
			code = http.StatusServiceUnavailable
		}
		sendJSON(w, code, health)
	})))
	mux.HandleFunc("GET /metrics", s.readers(s.told(func(w http.ResponseWriter, now status.Status) {
		w.Header().Set("Content-Type", status.ContentType)
		_, _ = w.Write(now.AppendMetrics(nil)) // fails if the reader has disconnected
	})))
	mux.HandleFunc("POST /stop", s.emergencyStop(true))
	mux.HandleFunc("POST /release", s.emergencyStop(false))
}

// told calls next with the status of the server.
func (s *server) told(next func(http.ResponseWriter, status.Status)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var all status.Status
		if err := s.onLoop(r.Context(), func(now time.Duration) { all = s.config.Server.Status(now) }); err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
		all.Version = s.config.Version
		next(w, all)
	}
}

// emergencyStop stops, or releases, the robot on the port that the request names.
func (s *server) emergencyStop(on bool) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if err := need(s.rightsOf(r), rights.Write); err != nil {
			http.Error(w, err.Error(), http.StatusForbidden)
			return
		}
		port, err := strconv.Atoi(r.URL.Query().Get("robot"))
		if err != nil {
			http.Error(w, "which robot? add ?robot=PORT", http.StatusBadRequest)
			return
		}
		known := false
		if err := s.onLoop(r.Context(), func(now time.Duration) { known = s.config.Server.EmergencyStop(now, port, on, r.RemoteAddr) }); err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
		if !known {
			http.Error(w, "this server has no robot on that port", http.StatusNotFound)
			return
		}
		w.WriteHeader(http.StatusNoContent)
	}
}

func sendJSON(w http.ResponseWriter, code int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(v) // fails if the reader has disconnected
}

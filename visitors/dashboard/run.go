package dashboard

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"strconv"
	"time"

	"player/config/rights"
	"player/devices"
	"player/devices/readlog"
	"player/devices/writelog"
	"player/visitors"
)

// Run is the drivers that replay and record a robot.
type Run struct {
	Replay *readlog.Driver  // nil: it is not replayed
	Record *writelog.Driver // nil: it is not recorded
}

// runReport is the reply to GET /run, and to POST /playback and /record after the
// change.
type runReport struct {
	Write     bool              `json:"write"` // the visitor may control it
	Playback  *readlog.Playback `json:"playback,omitempty"`
	Recording *recording        `json:"recording,omitempty"`
}

// recording is a recorder's state, for the page.
type recording struct {
	On       bool      `json:"on"`
	Error    string    `json:"error,omitempty"` // why it has failed
	Manual   bool      `json:"manual"`          // POST /record starts and stops it
	File     string    `json:"file"`            // the name of the log, without its directory
	Since    time.Time `json:"since"`           // of this recording, or the last one; zero: there was none
	Messages int       `json:"messages"`        // of it
	Bytes    int64     `json:"bytes"`           // of their payloads
}

func newRecording(r devices.Recording) *recording {
	report := recording{r.On, "", r.Manual, filepath.Base(r.File), r.Since, r.Messages, r.Bytes}
	if r.Err != nil {
		report.Error = r.Err.Error()
	}
	return &report
}

// runChange changes a run on the loop. status is the HTTP status of a reply with err.
type runChange func(now time.Duration, run Run, form url.Values) (status int, err error)

var (
	errNoReplay   = errors.New("this robot is no replayed log")
	errNoRecorder = errors.New("this robot has no recorder")
	errNumber     = errors.New("pause and speed are numbers, seek is ns since 1970")
)

func (s *server) handleRuns(mux *http.ServeMux) {
	for _, h := range []struct {
		pattern string
		needs   rights.Set
		change  runChange
	}{
		{"GET /run", rights.Read, func(time.Duration, Run, url.Values) (int, error) { return 0, nil }},
		{"POST /playback", rights.Read | rights.Write, playback},
		{"POST /record", rights.Read | rights.Write, record},
	} {
		mux.HandleFunc(h.pattern, s.config.Allowed(h.needs, func(w http.ResponseWriter, r *http.Request) {
			report := runReport{Write: s.config.RightsOf(r).Has(rights.Write)}
			if status, err := s.run(r, h.change, &report); err != nil {
				http.Error(w, err.Error(), status)
				return
			}
			sendJSON(w, http.StatusOK, report)
		}))
	}
}

// run calls change for the robot that a request names, and fills in the report.
func (s *server) run(r *http.Request, change runChange, report *runReport) (status int, err error) {
	form := r.URL.Query()
	run, ok := s.runs[form.Get("robot")]
	if !ok {
		return http.StatusNotFound, errors.New("which robot? add ?robot=HOST:PORT of one that is replayed or recorded")
	}
	type outcome struct {
		runReport
		status int
		err    error
	}
	o, err := visitors.OnLoop(r.Context(), run, func(run *Run, now time.Duration) *outcome {
		o := new(outcome)
		o.status, o.err = change(now, *run, form)
		if run.Replay != nil {
			o.Playback = run.Replay.Playback(now)
		}
		if run.Record != nil {
			o.Recording = newRecording(run.Record.Recording())
		}
		return o
	})
	if err != nil {
		return http.StatusServiceUnavailable, err
	}
	report.Playback, report.Recording = o.Playback, o.Recording
	return o.status, o.err
}

// playback changes a playback: pause 1 or 0, seek in ns since 1970, speed.
func playback(now time.Duration, run Run, form url.Values) (int, error) {
	var c readlog.Control
	var bad [3]error
	if text := form.Get("pause"); text != "" {
		c.Pause = new(bool)
		*c.Pause, bad[0] = strconv.ParseBool(text)
	}
	if text := form.Get("speed"); text != "" {
		c.Speed = new(float64)
		*c.Speed, bad[1] = strconv.ParseFloat(text, 64)
	}
	if text := form.Get("seek"); text != "" {
		c.Seek = new(int64)
		*c.Seek, bad[2] = strconv.ParseInt(text, 10, 64)
	}
	switch {
	case bad != [3]error{}:
		return http.StatusBadRequest, errNumber
	case run.Replay == nil:
		return http.StatusNotFound, errNoReplay
	}
	return http.StatusConflict, run.Replay.Control(now, c)
}

// record starts a recording, or stops it: on 1 or 0.
func record(now time.Duration, run Run, form url.Values) (int, error) {
	if run.Record == nil {
		return http.StatusNotFound, errNoRecorder
	}
	return http.StatusConflict, run.Record.Record(now, form.Get("on") == "1")
}

// recent replies with the newest lines of the server's log, after the number that the
// request names.
func (s *server) recent(w http.ResponseWriter, r *http.Request) {
	after, _ := strconv.ParseUint(r.URL.Query().Get("after"), 10, 64) // 0 if there is none: all
	lines, last := s.config.Recent(after)
	w.Header().Set("Content-Type", "application/json")
	_, _ = fmt.Fprintf(w, `{"last":%d,"lines":[%s]}`, last, bytes.Join(lines, []byte(","))) // fails if the browser has disconnected
}

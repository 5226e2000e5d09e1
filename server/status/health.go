package status

// Health is the verdict of /healthz.
type Health struct {
	Well   bool          `json:"well"`
	Guard  Guard         `json:"guard"`
	Robots []RobotHealth `json:"robots"`
	// Cameras are by name.
	Cameras map[string]State `json:"cameras,omitempty"`
}

// RobotHealth is the part of one robot.
type RobotHealth struct {
	Name    string           `json:"name"`
	Port    int              `json:"port"`
	Stopped bool             `json:"stopped"` // which is well: it was wanted
	Devices map[string]State `json:"devices"`
	// Recorders are by the path of the log.
	Recorders map[string]State `json:"recorders,omitempty"`
}

// Health reports whether every device, recorder and camera and the guard are well.
func (s Status) Health() Health {
	h := Health{Well: s.Guard != GuardMissing, Guard: s.Guard, Robots: make([]RobotHealth, len(s.Robots))}
	for i, r := range s.Robots {
		states := map[string]State{}
		for name, d := range r.Devices {
			states[name] = d.State
			h.Well = h.Well && d.State.Well()
		}
		recorders := map[string]State{}
		for file, recorder := range r.Recorders {
			recorders[file] = recorder.State
			h.Well = h.Well && recorder.State.Well()
		}
		h.Robots[i] = RobotHealth{r.Name, r.Port, r.Stopped, states, recorders}
	}
	for name, camera := range s.Cameras {
		if h.Cameras == nil {
			h.Cameras = map[string]State{}
		}
		h.Cameras[name] = camera.State
		h.Well = h.Well && camera.State.Well()
	}
	return h
}

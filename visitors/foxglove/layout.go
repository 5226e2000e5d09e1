package foxglove

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"

	"player/config/rights"
	"player/visitors"
	"player/visitors/pictures"
)

// layoutPath is where the layout for a robot is: ?robot=NAME, the first one by default.
const layoutPath = "/layout.json"

type object = map[string]any

// layout returns the panels of Foxglove for a robot: the scene, the picture of its first
// camera (with the scene drawn over it if the camera is calibrated), plots of the battery
// and of the motion, the states of the devices, the log, the driving client, a steering
// wheel and the emergency stop. The names come from Foxglove's own export of a layout.
func (r Robot) layout(cameras []*pictures.Camera) object {
	space := "/" + r.Name
	scene := object{}
	for _, topic := range r.converter().Topics() {
		if topic.Devices != nil {
			scene[topic.Name] = object{"visible": true}
		}
	}
	plot := func(title string, paths ...string) object {
		lines := []object{}
		for _, path := range paths {
			lines = append(lines, object{"value": space + path, "enabled": true, "timestampMethod": "receiveTime"})
		}
		return object{"foxglovePanelTitle": title, "paths": lines, "showLegend": true, "isSynced": true, "followingViewWidth": 60}
	}
	call := func(service, text, color string) object {
		return object{"serviceName": space + service, "requestPayload": "{}", "layout": "vertical", "editingMode": false,
			"buttonText": text, "buttonColor": color, "timeoutSeconds": 10}
	}
	button := func(field string, value float64) object { return object{"field": field, "value": value} }
	panels := object{
		"3D!robot":            object{"followTf": r.Name + "/base_link", "followMode": "follow-position", "topics": scene},
		"Plot!battery":        plot("battery, V", "/misc/battery.voltage"),
		"Plot!motion":         plot("speed, m/s; turn rate, rad/s", "/position/motion.speed", "/position/motion.turn_rate"),
		"Parameters!states":   object{"foxglovePanelTitle": "rates, and states of the devices"},
		"RosOut!log":          object{"topicToRender": logTopic},
		"RawMessages!who":     object{"topicPath": r.controlTopic(), "foxglovePanelTitle": "who drives", "diffEnabled": false},
		"CallService!stop":    call("/emergency_stop", "Stop", "#d32f2f"),
		"CallService!release": call("/release", "Release", "#388e3c"),
		"Teleop!drive": object{"topic": r.velocityTopic(), "publishRate": 5,
			"upButton": button("linear-x", 0.2), "downButton": button("linear-x", -0.2),
			"leftButton": button("angular-z", 0.5), "rightButton": button("angular-z", -0.5)},
	}
	split := func(direction string, percent int, first, second any) object {
		return object{"direction": direction, "splitPercentage": percent, "first": first, "second": second}
	}
	stop := split("row", 50, "CallService!stop", "CallService!release")
	hand := split("column", 30, "RawMessages!who", split("column", 60, "Teleop!drive", stop))
	plots := split("column", 50, "Plot!battery", "Plot!motion")
	states := split("column", 50, "Parameters!states", "RosOut!log")
	var view any = "3D!robot"
	if i := slices.IndexFunc(cameras, func(c *pictures.Camera) bool { return c.Robot() == r.Port }); i >= 0 {
		mode := object{"imageTopic": r.cameraTopic(cameras[i])}
		over := object{}
		if cameras[i].Calibrated() {
			mode["calibrationTopic"], over = r.calibrationTopic(cameras[i]), scene
		}
		panels["Image!camera"] = object{"imageMode": mode, "topics": over}
		view = split("row", 55, view, "Image!camera")
	}
	return object{"configById": panels, "globalVariables": object{}, "userNodes": object{}, "playbackConfig": object{"speed": 1},
		"layout": split("row", 60, split("column", 70, view, states), split("column", 45, hand, plots))}
}

// serveLayout replies with the layout for a robot, as a file, to visitors that may read.
func (s *server) serveLayout(w http.ResponseWriter, r *http.Request) {
	if err := visitors.Need(s.config.RightsOf(r), rights.Read); err != nil {
		http.Error(w, err.Error(), http.StatusForbidden)
		return
	}
	name := r.URL.Query().Get("robot")
	i := slices.IndexFunc(s.config.Robots, func(robot Robot) bool { return name == "" || robot.Name == name })
	if i < 0 {
		http.Error(w, fmt.Sprintf("there is no robot %.60q", name), http.StatusNotFound)
		return
	}
	text, err := json.MarshalIndent(s.config.Robots[i].layout(s.config.Cameras), "", "  ")
	if err != nil {
		panic(err) // its types are all types of JSON
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Disposition", `attachment; filename="player-layout.json"`)
	_, _ = w.Write(text) // fails if the reader has disconnected
}

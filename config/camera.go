package config

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"player/devices"
)

// Camera is a section camera ( ... ): where the pictures come from that the dashboard
// shows.
type Camera struct {
	Name    string
	Robot   int      // TCP port of the robot that it is on
	Command []string // a program with its arguments; nil: there is an address
	Address string   // http:// or https://
	Rate    float64  // most pictures a second that are passed on
	FOV     float64  // degrees that a picture is wide; 0: unknown
	// Geometry has only the pose of the lens. Zero: the lens is on the head of a ptz device,
	// if there is one.
	Geometry devices.Geometry
	Height   float64 // mm that the lens is above the plane of the robot's laser
}

// Equal reports whether two sections have the same effect.
func (c Camera) Equal(other Camera) bool {
	return c.Name == other.Name && c.Robot == other.Robot && slices.Equal(c.Command, other.Command) && c.Address == other.Address && c.Rate == other.Rate &&
		c.FOV == other.FOV && c.Geometry == other.Geometry && c.Height == other.Height
}

const (
	// usualRate, in Hz, is high enough for pictures to appear as motion, and for teleoperation.
	usualRate = 15
	// mostRate, in Hz, is the rate of usual cameras. More would cost the loop time: viewers are
	// served on its thread.
	mostRate = 60
)

// MaxCameraName is the longest name of a camera, in characters: it is part of addresses, topics
// and the names of files.
const MaxCameraName = 32

// IsCameraName reports whether a name can be a part of a web address without quoting.
func IsCameraName(name string) bool {
	const allowed = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"
	return name != "" && len(name) <= MaxCameraName && strings.Trim(name, allowed) == ""
}

// readCameras reads the sections camera ( name "front" command ["rpicam-vid" ...] ). The
// robots are known.
func (b *builder) readCameras() (cameras []Camera) {
	for _, s := range b.file.Global.Sections("camera") {
		c := Camera{s.String("name", ""), s.Int("robot", b.firstRobot()), s.Strings("command"), s.String("url", ""), s.Float("rate", usualRate),
			s.Angle("fov", 0) * deg, readPose(s), s.Length("height", 0) * mm}
		if s.Broken {
			continue // it has an error
		}
		if err := b.checkCamera(cameras, c); err != nil {
			b.fail(s.Errorf(err.field, "%s", err.text))
			continue
		}
		cameras = append(cameras, c)
	}
	return cameras
}

// cameraMistake is a mistake in a field of a camera.
type cameraMistake struct{ field, text string }

// firstRobot returns the port of the first robot, or 0 if there is none.
func (b *builder) firstRobot() int {
	if len(b.robots) == 0 {
		return 0
	}
	return b.robots[0].Port
}

func (b *builder) checkCamera(others []Camera, c Camera) *cameraMistake {
	u, err := url.Parse(c.Address)
	switch {
	case !IsCameraName(c.Name):
		return &cameraMistake{"name", `a camera needs a name of up to 32 letters, digits, - and _, as in name "front"`}
	case slices.ContainsFunc(others, func(o Camera) bool { return o.Name == c.Name }):
		return &cameraMistake{"name", "there is another camera with this name"}
	case !b.incomplete && !slices.ContainsFunc(b.robots, func(r Robot) bool { return r.Port == c.Robot }):
		return &cameraMistake{"robot", fmt.Sprintf("there is no robot on port %d", c.Robot)}
	case (len(c.Command) == 0) == (c.Address == ""):
		return &cameraMistake{"command", `a camera needs a command that writes MJPEG, as in command ["rpicam-vid" "-t" "0" "--codec" "mjpeg" "-o" "-"], or a url`}
	case c.Command != nil && c.Command[0] == "":
		return &cameraMistake{"command", "a command begins with the name of a program"}
	case c.Address != "" && (err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == ""):
		return &cameraMistake{"url", `a url is as in "http://10.0.0.9:8080/?action=stream"`}
	case !(c.Rate >= 0.1 && c.Rate <= mostRate):
		return &cameraMistake{"rate", "a rate is from 0.1 to 60 pictures a second"}
	case !(c.FOV >= 0 && c.FOV < 180):
		return &cameraMistake{"fov", "a field of view is below 180 degrees"}
	}
	return nil
}

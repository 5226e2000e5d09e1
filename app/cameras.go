package app

import (
	"bytes"
	"context"
	"fmt"
	"image/jpeg"
	"maps"
	"math"
	"slices"
	"time"

	"go.uber.org/zap"

	"player/config"
	"player/devices"
	"player/devices/readlog"
	"player/devices/stage"
	"player/formats/logfile"
	"player/formats/ros"
	"player/visitors"
	"player/visitors/pictures"
)

const (
	// replayedRate is how often a log is asked for a new picture: as often as cameras have
	// one, mostly.
	replayedRate = 30 // Hz
	// simulatedRate, simulatedWidth and simulatedHeight describe the pictures of simulated
	// cameras. A picture costs 2 ms, so one camera costs 2 % of a processor for any number of
	// viewers. The size is twice the size of the image in which colours are tracked.
	simulatedRate                   = 10 // Hz
	simulatedWidth, simulatedHeight = 320, 240
	// simulatedQuality is JPEG's: 5 kB for a picture, and edges stay straight.
	simulatedQuality = 80
)

// cameras are the cameras of a configuration and of its simulated robots. The dashboard and the
// server for viewers use the same ones: one program at a time can have a device.
type cameras struct {
	log        *zap.Logger
	processors *processors
	post       func(func(now time.Duration)) bool // calls a function on the loop
	sources    []config.Camera
	robots     simulatedRobots // of list
	replays    []replay
	list       []*pictures.Camera
}

// legalCamera returns a name that a camera can have in addresses, topics and files, for the name of a
// camera in a log, which any program can have written.
func legalCamera(name string) string {
	if config.IsCameraName(name) {
		return name
	}
	name = ros.Name("camera", name)
	return name[:min(len(name), config.MaxCameraName)]
}

// of returns the cameras of a configuration. They are the same until another one is asked
// for, which ends those before.
func (c *cameras) of(conf *config.Server, sim *simulation) []*pictures.Camera {
	replays := replaysOf(conf)
	if slices.EqualFunc(c.sources, conf.Cameras, config.Camera.Equal) && maps.Equal(c.robots, sim.robots) && slices.Equal(c.replays, replays) {
		return c.list
	}
	c.close()
	c.sources, c.robots, c.replays, c.list = conf.Cameras, sim.robots, replays, nil
	for _, s := range c.sources {
		view := pictures.View{FOV: s.FOV, Z: s.Height}
		if g := s.Geometry; g != (devices.Geometry{}) {
			view.Mount = &pictures.Mount{X: g.X, Y: g.Y, Heading: g.Heading}
		}
		c.add(pictures.Source{Name: s.Name, Robot: s.Robot, Command: s.Command, Address: s.Address, Rate: s.Rate, View: view})
	}
	for _, robot := range conf.Robots { // which are in order
		if r := c.robots[robot.Port].robot; r != nil && r.Mounts().Camera != nil {
			c.add(pictures.Source{Name: fmt.Sprintf("simulated-%d", robot.Port), Robot: robot.Port, Rate: simulatedRate, Calibrated: true, Draw: c.drawer(r)})
		}
	}
	for _, r := range c.replays {
		for _, camera := range r.driver.Cameras() {
			name := legalCamera(camera)
			for taken := func(c *pictures.Camera) bool { return c.Name() == name }; slices.ContainsFunc(c.list, taken); {
				name = fmt.Sprintf("%s-%d", name, r.port)
			}
			shown := &logfile.Pictures{}
			c.add(pictures.Source{Name: name, Robot: r.port, Rate: replayedRate, Draw: c.player(r.driver, shown, camera), Rest: shown.Close})
		}
	}
	return c.list
}

// replay is a robot that is a log.
type replay struct {
	port   int
	driver *readlog.Driver
}

// replaysOf returns the robots that are logs.
func replaysOf(conf *config.Server) (all []replay) {
	for _, robot := range conf.Robots {
		for _, d := range robot.Drivers {
			if driver, ok := d.Driver.(*readlog.Driver); ok {
				all = append(all, replay{robot.Port, driver})
			}
		}
	}
	return all
}

// player returns the source of a camera's pictures in a log: the loop says which time of the log
// is played.
func (c *cameras) player(driver *readlog.Driver, shown *logfile.Pictures, camera string) func(context.Context) ([]byte, pictures.View, error) {
	return func(ctx context.Context) ([]byte, pictures.View, error) {
		at, err := visitors.OnLoop(ctx, visitors.Confine(c.post, driver), (*readlog.Driver).Playback)
		if err != nil || at.State == readlog.Off {
			return nil, pictures.View{}, err
		}
		picture, err := shown.At(driver.File(), camera, at.Time)
		return picture, pictures.View{}, err
	}
}

func (c *cameras) add(s pictures.Source) {
	s.Runs = c.processors.see
	c.list = append(c.list, pictures.NewCamera(s, c.log))
}

// close ends the cameras, and waits for them.
func (c *cameras) close() {
	for _, camera := range c.list {
		camera.Close()
	}
}

// drawer returns the source of the pictures of a simulated robot's camera: the loop says how the
// world is, and waits for no picture.
func (c *cameras) drawer(robot *stage.Robot) func(context.Context) ([]byte, pictures.View, error) {
	return func(ctx context.Context) ([]byte, pictures.View, error) {
		sight, err := visitors.OnLoop(ctx, visitors.Confine(c.post, robot), func(r *stage.Robot, _ time.Duration) *stage.Sight {
			return r.Sight()
		})
		if err != nil {
			return nil, pictures.View{}, err
		}
		var out bytes.Buffer
		err = jpeg.Encode(&out, sight.Draw(simulatedWidth, simulatedHeight), &jpeg.Options{Quality: simulatedQuality})
		return out.Bytes(), viewOf(sight), err
	}
}

// viewOf returns where the camera of a sight looks, and how much it sees.
func viewOf(s *stage.Sight) pictures.View {
	const mm, deg = 1000, 180 / math.Pi
	l := s.Lens()
	return pictures.View{FOV: l.FOV * deg, Z: l.Above * mm, Mount: &pictures.Mount{X: l.Pose.X * mm, Y: l.Pose.Y * mm, Heading: l.Pose.Heading * deg, Tilt: l.Tilt * deg}}
}

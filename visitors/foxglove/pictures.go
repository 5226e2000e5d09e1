package foxglove

import (
	"bytes"
	"context"
	"encoding/json"
	"image/jpeg"
	"sync"
	"time"

	"player/formats/foxglove"
	"player/formats/telemetry"
	"player/visitors/pictures"
)

// calibrationPeriod is how often an unchanged calibration is sent again.
const calibrationPeriod = time.Second

func (r Robot) cameraTopic(camera *pictures.Camera) string {
	return "/" + r.Name + "/camera/" + camera.Name()
}

func (r Robot) calibrationTopic(camera *pictures.Camera) string {
	return r.cameraTopic(camera) + "/calibration"
}

func (r Robot) cameraChannels(camera *pictures.Camera) []channel {
	s := &shared{}
	list := []channel{{name: r.cameraTopic(camera), schema: foxglove.SchemaOf(telemetry.CompressedImage{}), keep: 1, robot: -1,
		publish: func(ctx context.Context, v *viewer, channel uint32) error {
			return v.sendPictures(ctx, channel, r, camera, s)
		}}}
	if camera.Calibrated() {
		list = append(list, channel{name: r.calibrationTopic(camera), schema: foxglove.SchemaOf(telemetry.CameraCalibration{}), keep: 1, robot: -1,
			publish: func(ctx context.Context, v *viewer, channel uint32) error {
				return v.sendCalibration(ctx, channel, r, camera)
			}})
	}
	return list
}

// sendPictures hands the pictures of a camera, and the place of its lens, to the outbox. The
// next picture replaces an unsent one.
func (v *viewer) sendPictures(ctx context.Context, channel uint32, robot Robot, camera *pictures.Camera, s *shared) error {
	defer s.forget()
	converter := robot.converter()
	frames, framed := v.server.topics[converter.TransformTopic()]
	defer camera.Watch()()
	return camera.Follow(ctx, func(p pictures.Picture) error {
		at, err := v.timeOf(robot, p)
		if err != nil {
			return err
		}
		v.Outbox.Put(channel, "", at, s.message(p.Number, at, func() telemetry.CompressedImage {
			return converter.Image(camera.Name(), at, p.JPEG)
		}))
		if !framed { // a robot without devices
			return nil
		}
		var mount *telemetry.Geometry
		var tilt float64
		if m := p.View.Mount; m != nil {
			mount, tilt = &telemetry.Geometry{X: m.X, Y: m.Y, Heading: m.Heading}, m.Tilt
		}
		lens := converter.Lens(camera.Name(), at, mount, tilt)
		v.Outbox.Put(uint32(frames+1), telemetry.Frame(lens), at, lens)
		return nil
	})
}

// shared has the newest picture of a camera as a message. It is encoded once, when the first
// viewer gets it, for all viewers.
type shared struct {
	mu     sync.Mutex
	number uint64
	at     int64
	newest encoded // nil: none
}

// encoded returns the payload of a message, which is encoded once.
type encoded func() ([]byte, error)

// message returns the payload of the picture with a number, taken at a time in ns since 1970.
// If it is another one than the newest, picture makes it.
func (s *shared) message(number uint64, at int64, picture func() telemetry.CompressedImage) encoded {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.newest == nil || s.number != number || s.at != at {
		s.number, s.at = number, at
		s.newest = sync.OnceValues(func() ([]byte, error) { return json.Marshal(picture()) })
	}
	return s.newest
}

// forget frees the newest picture. For viewers that still watch, the next one is encoded.
func (s *shared) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.newest = nil
}

func payloadOf(content any) ([]byte, error) {
	if once, ok := content.(encoded); ok {
		return once()
	}
	return json.Marshal(content)
}

// sendCalibration hands the calibration of a camera to the outbox when it changes, and again
// from time to time.
func (v *viewer) sendCalibration(ctx context.Context, channel uint32, robot Robot, camera *pictures.Camera) error {
	converter := robot.converter()
	var sent pictures.Picture
	defer camera.Watch()()
	return camera.Follow(ctx, func(p pictures.Picture) error {
		if p.View.FOV == sent.View.FOV && p.At.Sub(sent.At) < calibrationPeriod {
			return nil
		}
		size, err := jpeg.DecodeConfig(bytes.NewReader(p.JPEG))
		if err != nil {
			return nil // no viewer can show it, either
		}
		sent = p
		at, err := v.timeOf(robot, p)
		if err != nil {
			return err
		}
		v.Outbox.Put(channel, "", at, converter.Calibration(camera.Name(), at, size.Width, size.Height, p.View.FOV))
		return nil
	})
}

// timeOf returns the time of a picture in ns since 1970: in a replayed log, the time of the log.
func (v *viewer) timeOf(robot Robot, p pictures.Picture) (int64, error) {
	if robot.replay == nil {
		return p.At.UnixNano(), nil
	}
	now, err := v.playback(robot.replay)
	if err != nil {
		return 0, err
	}
	return now.Time, nil
}

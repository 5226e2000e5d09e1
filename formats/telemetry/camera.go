package telemetry

import "math"

// CompressedImage is a picture of a camera. Its frame is the lens's: x to the right in the
// picture, y down, z ahead.
type CompressedImage struct {
	Timestamp Time   `json:"timestamp"`
	FrameID   string `json:"frame_id"`
	Data      []byte `json:"data"` // in base64
	Format    string `json:"format"`
}

// CameraCalibration maps a place in space to its pixel in a camera's picture.
type CameraCalibration struct {
	Timestamp       Time      `json:"timestamp"`
	FrameID         string    `json:"frame_id"`
	Width           uint32    `json:"width"` // pixels
	Height          uint32    `json:"height"`
	DistortionModel string    `json:"distortion_model"`
	Distortion      []float64 `json:"D"`
	Intrinsic       []float64 `json:"K"` // 3 x 3
	Rectification   []float64 `json:"R"` // 3 x 3
	Projection      []float64 `json:"P"` // 3 x 4
}

// lensFrame is the frame of the lens of a camera with a name.
func (c *Converter) lensFrame(camera string) string { return c.frame + "camera_" + camera }

// Image returns a picture of a camera, a JPEG, taken at a time in ns since 1970.
func (c *Converter) Image(camera string, at int64, jpeg []byte) CompressedImage {
	return CompressedImage{newTime(at), c.lensFrame(camera), jpeg, "jpeg"}
}

// Calibration returns the calibration of a camera without distortion and with square pixels.
// Its pictures are fov degrees wide.
func (c *Converter) Calibration(camera string, at int64, width, height int, fov float64) CameraCalibration {
	focal := float64(width) / 2 / math.Tan(rad(fov/2))
	x, y := float64(width-1)/2, float64(height-1)/2 // a place is the middle of a pixel
	return CameraCalibration{
		newTime(at), c.lensFrame(camera), uint32(width), uint32(height), "plumb_bob", make([]float64, 5),
		[]float64{focal, 0, x, 0, focal, y, 0, 0, 1}, []float64{1, 0, 0, 0, 1, 0, 0, 0, 1},
		[]float64{focal, 0, x, 0, 0, focal, y, 0, 0, 0, 1, 0},
	}
}

// TransformTopic is the topic of Lens and of all other frames.
func (c *Converter) TransformTopic() string { return c.robot + "/tf" }

// Lens returns the frame of the lens of a camera at a time in ns since 1970. mount is where
// it is on the robot, tilt degrees up; nil: on the head of a ptz device, if there is one.
func (c *Converter) Lens(camera string, at int64, mount *Geometry, tilt float64) FrameTransform {
	t := FrameTransform{newTime(at), c.frame + baseLink, c.lensFrame(camera), cameraPlace.vector(), turned(rad(cameraPlace.heading), 0), true}
	for _, p := range c.parts {
		if mount == nil && p.Index == 0 && (p.Interface == "ptz" || p.Interface == "vision") {
			t.ParentFrameID, t.Translation = p.frame, Vector3{}
		}
	}
	if mount != nil {
		t.Translation, t.Rotation = Vector3{X: mount.X / 1000, Y: mount.Y / 1000}, turned(rad(mount.Heading), rad(tilt))
	}
	t.Rotation = t.Rotation.times(Quaternion{-0.5, 0.5, -0.5, 0.5}) // x ahead, z up: to the axes of a picture
	return t
}

// times returns the rotation by r, and then by q.
func (q Quaternion) times(r Quaternion) Quaternion {
	return Quaternion{
		q.W*r.X + q.X*r.W + q.Y*r.Z - q.Z*r.Y,
		q.W*r.Y - q.X*r.Z + q.Y*r.W + q.Z*r.X,
		q.W*r.Z + q.X*r.Y - q.Y*r.X + q.Z*r.W,
		q.W*r.W - q.X*r.X - q.Y*r.Y - q.Z*r.Z,
	}
}

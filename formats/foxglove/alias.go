package foxglove

import "player/formats/telemetry"

// The names that visitors and tests know.
type (
	Geometry          = telemetry.Geometry
	Device            = telemetry.Device
	Topic             = telemetry.Topic
	Message           = telemetry.Message
	Converter         = telemetry.Converter
	Control           = telemetry.Control
	Log               = telemetry.Log
	CompressedImage   = telemetry.CompressedImage
	CameraCalibration = telemetry.CameraCalibration
	LaserScan         = telemetry.LaserScan
	PoseInFrame       = telemetry.PoseInFrame
	FrameTransform    = telemetry.FrameTransform
	Time              = telemetry.Time
	Vector3           = telemetry.Vector3
	Quaternion        = telemetry.Quaternion
	Blobs             = telemetry.Blobs
)

func New(robot string, list []Device) *Converter   { return telemetry.New(robot, list) }
func NewControl(at int64) Control                  { return telemetry.NewControl(at) }
func Frame(content any) string                     { return telemetry.Frame(content) }
func ParseLogLine(line []byte) (Log, int64, error) { return telemetry.ParseLogLine(line) }
func ParseVelocity(payload []byte) (speed, turn int, err error) {
	return telemetry.ParseVelocity(payload)
}

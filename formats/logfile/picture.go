package logfile

import (
	"bytes"
	"runtime"
	"strings"
	"sync"

	"player/formats/ros"
)

// Pictures of cameras are in a log as messages of ROS 2, which programs for MCAP show.
// Readers that do not know them skip them, like all messages of other programs.
const (
	pictureTopic = "/camera/" // and the name of the camera
	// PictureType is the name of the schema of pictures.
	PictureType     = "sensor_msgs/msg/CompressedImage"
	pictureEncoding = "cdr"
	pictureSchema   = "ros2msg"
	// FirstPicture is the number of the first channel with pictures in an exported log, and
	// the number of their schema: devices have lower numbers.
	FirstPicture = 1 << 15
)

// pictureFields returns the definition of PictureType.
var pictureFields = sync.OnceValue(func() []byte { return []byte(ros.Schema(PictureType)) })

// AppendPicture appends the payload of a picture of a camera, a JPEG that was taken at a time
// in ns since 1970: PictureType in CDR, little-endian.
func AppendPicture(dst []byte, camera string, at int64, jpeg []byte) []byte {
	const ns = 1e9
	stamp := ros.Time{Sec: int32(at / ns), Nanosec: uint32(at % ns)}
	return ros.AppendCDR(dst, ros.CompressedImage{Header: ros.Header{Stamp: stamp, FrameID: "camera_" + camera}, Format: "jpeg", Data: jpeg})
}

// pictureAlign is where texts and lists of CDR begin: at multiples of it from behind the
// encapsulation, in bytes.
const pictureAlign = 4

// JPEG returns the picture of a camera's message, nil if the payload is none.
func (m Message) JPEG() []byte {
	const stamp = 4 + 4 // bytes
	in := fields{left: m.Payload}
	if head := in.bytes(4); len(head) < 4 || head[0] != 0 || head[1] != 1 { // plain CDR, little-endian; the others are options
		return nil
	}
	all := len(in.left)
	in.bytes(stamp)
	in.text() // the frame
	in.bytes(uint64(-(all - len(in.left)) & (pictureAlign - 1)))
	in.text() // the format
	in.bytes(uint64(-(all - len(in.left)) & (pictureAlign - 1)))
	if picture := in.text(); !in.bad {
		return picture
	}
	return nil
}

// cameraOf returns the camera of a channel, empty if it has no pictures.
func cameraOf(topic, encoding string) string {
	name, ok := strings.CutPrefix(topic, pictureTopic)
	if !ok || encoding != pictureEncoding || strings.Contains(name, "/") || len(name) > maxCamera {
		return ""
	}
	return name
}

// maxCamera is the most bytes that the name of a camera has in a log. The server's
// configuration allows 32.
const maxCamera = 64

// AddPictures adds the channels of cameras, by topic, to a file, from the number first on. The next
// number is their schema's: the devices' schemas have numbers up to first.
func (c *Container) AddPictures(first uint16, topics []string, pairs ...string) {
	for i, topic := range topics {
		c.AddSchema(first+1, PictureType, pictureSchema, pictureFields())
		c.AddChannel(first+uint16(i), first+1, topic, pictureEncoding, pairs...)
	}
}

// Pictures finds the pictures of one camera in a log. The zero value is ready.
type Pictures struct {
	log    *Reader // nil: not open
	shown  int64   // time of the picture that At has returned last, ns since 1970
	next   []byte  // the picture behind it; nil: not read yet
	nextAt int64
	atEnd  bool
}

// At returns the newest picture that the camera in a log had taken at a time, in ns since
// 1970; nil if there is none, or if the last call has returned it. It reads forward while the
// times increase, and from the beginning otherwise. It may read for seconds, and lets other
// goroutines run.
func (p *Pictures) At(path, camera string, at int64) (picture []byte, err error) {
	if p.log == nil || at < p.shown {
		p.Close()
		if p.log, err = Open(path); err != nil {
			return nil, err
		}
	}
	for {
		if p.next == nil && !p.atEnd {
			p.read(camera)
		}
		if p.next == nil || p.nextAt > at {
			return picture, nil
		}
		picture, p.shown, p.next = p.next, p.nextAt, nil
	}
}

// read reads until the next picture, or the end.
func (p *Pictures) read(camera string) {
	for n := 1; ; n++ {
		m, err := p.log.NextRecord()
		if err != nil {
			p.atEnd = true
			return
		}
		if m.Camera == camera {
			if picture := m.JPEG(); picture != nil {
				p.next, p.nextAt = bytes.Clone(picture), m.Time
				return
			}
		}
		if n%readBurst == 0 {
			runtime.Gosched()
		}
	}
}

// readBurst is how many records are read until others may run: less than a millisecond of
// work.
const readBurst = 1024

// Close closes the log.
func (p *Pictures) Close() {
	if p.log != nil {
		_ = p.log.Close() // opened for reading only
	}
	*p = Pictures{}
}

package main

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"io"
	"math/rand/v2"
	"os"
	"time"

	"player/bench/load"
)

// The cells of pictures are one client that reads 50 frames a second, next to a camera of
// 640x480 at 30 Hz and its viewers. No program has a processor of its own: the camera's
// program, which the server starts, takes its share wherever it is.

const (
	picturesPrefix = "visitors/pictures/"
	// cameraVerb is the argument by which this program becomes a camera that costs nothing: it
	// writes one prepared picture again and again.
	cameraVerb  = "camera"
	cameraRate  = 30 // Hz
	cameraWidth = 640
)

// camera is the program of a cell's camera.
type camera string

const (
	prepared camera = "prepared"
	encoder  camera = "encoder" // ffmpeg draws and compresses
)

// section is the camera in the configuration.
func (c camera) section() string {
	switch c {
	case prepared:
		self, err := os.Executable()
		if err != nil {
			self = os.Args[0]
		}
		return fmt.Sprintf("camera ( name \"front\" rate %d command [%q %q] )\n", cameraRate, self, cameraVerb)
	case encoder:
		return fmt.Sprintf("camera ( name \"front\" rate %[1]d command [\"ffmpeg\" \"-loglevel\" \"error\" \"-re\" \"-f\" \"lavfi\""+
			" \"-i\" \"testsrc=size=640x480:rate=%[1]d\" \"-c:v\" \"mjpeg\" \"-q:v\" \"6\" \"-f\" \"mjpeg\" \"-\"] )\n", cameraRate)
	}
	return ""
}

// pictured are the cells: no viewer; the camera runs for a page that asks once a second;
// three viewers are sent all pictures; and the same viewers of a program that is not the
// server.
func pictured() []cell {
	var all []cell
	for _, tt := range []struct {
		name      string
		camera    camera
		strangers string
	}{
		{nobody, prepared, nobody}, {"source", prepared, "glance"}, {"viewers", prepared, "watchers"}, {"elsewhere", prepared, "elsewhere"},
		{"encoder", encoder, "glance"}, {"encoder-viewers", encoder, "watchers"},
	} {
		c := served(picturesPrefix+tt.name, loopback, group{Name: "reads", Clients: 1, Rate: 50, Task: load.Stream})
		c.Camera, c.Strangers = tt.camera, tt.strangers
		all = append(all, c)
	}
	return all
}

// writePictures writes pictures to standard output until they have no reader.
func writePictures(out io.Writer) error {
	picture, err := preparedPicture()
	if err != nil {
		return err
	}
	for range time.Tick(time.Second / cameraRate) {
		if _, err := out.Write(picture); err != nil {
			return nil
		}
	}
	return nil
}

// preparedPicture is as large as a camera's in a room: 30 kB.
func preparedPicture() ([]byte, error) {
	r := rand.New(rand.NewPCG(1, 2))
	m := image.NewGray(image.Rect(0, 0, cameraWidth, cameraWidth*3/4))
	for y := range m.Rect.Dy() {
		for x := range m.Rect.Dx() {
			m.SetGray(x, y, color.Gray{uint8((x/40+y/30)*8 + r.IntN(14))})
		}
	}
	var b bytes.Buffer
	err := jpeg.Encode(&b, m, &jpeg.Options{Quality: 60})
	return b.Bytes(), err
}

package web

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image/jpeg"
	"net/http"
	"slices"
	"strconv"
	"time"

	"player/devices/stage"
	"player/pictures"
	"player/visitors"
)

const (
	// pictureLimit is how long a browser may take to read a picture. One that reads none
	// would keep the camera running.
	pictureLimit = 10 * time.Second
	// frameBoundary separates the pictures of a stream. No JPEG is searched for it: each
	// part has its length.
	frameBoundary = "picture"
	// failurePause is how long a stream waits for a camera that fails. The camera itself
	// decides when it is started again.
	failurePause = time.Second
)

// handleCameras adds the pictures of cameras: a stream and the newest one.
func (s *server) handleCameras(mux *http.ServeMux) {
	mux.HandleFunc("GET /camera/{name}", s.readers(s.look(sendPictures)))
	mux.HandleFunc("GET /camera/{name}/picture", s.readers(s.look(sendPicture)))
}

const (
	// simulatedRate, simulatedWidth and simulatedHeight are those of the pictures of
	// simulated cameras: a picture costs 3 ms, so all that look at one cost 3 % of a
	// processor. The size is twice that of the image in which colours are tracked.
	simulatedRate                   = 10 // Hz
	simulatedWidth, simulatedHeight = 320, 240
	// simulatedQuality is that of JPEG: 5 kB for a picture, with edges that are straight.
	simulatedQuality = 80
)

// addSimulated adds the cameras of simulated robots, which end with the server.
func (s *server) addSimulated() {
	s.cameras = slices.Clone(s.config.Cameras)
	for _, r := range s.config.Robots {
		if r.Simulated == nil || r.Simulated.Mounts().Camera == nil {
			continue
		}
		camera := pictures.NewCamera(pictures.Source{Name: fmt.Sprintf("simulated-%d", r.Port), Rate: simulatedRate, Draw: s.drawer(r.Simulated)}, s.config.Log)
		s.cameras = append(s.cameras, Camera{camera, r.Port})
		context.AfterFunc(s.ctx, camera.Close)
	}
}

// drawer returns what draws what a robot's camera sees: the loop says how the world is, and
// waits for no picture.
func (s *server) drawer(robot *stage.Robot) func(context.Context) ([]byte, error) {
	return func(ctx context.Context) ([]byte, error) {
		var sight *stage.Sight
		if err := s.onLoop(ctx, func(time.Duration) { sight = robot.Sight() }); err != nil {
			return nil, err
		}
		var out bytes.Buffer
		err := jpeg.Encode(&out, sight.Draw(simulatedWidth, simulatedHeight), &jpeg.Options{Quality: simulatedQuality})
		return out.Bytes(), err
	}
}

// look calls next with the camera that a request names, which runs meanwhile.
func (s *server) look(next func(http.ResponseWriter, *http.Request, *pictures.Camera)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		for _, camera := range s.cameras {
			if camera.Name() == r.PathValue("name") {
				// The limits of a request would end the connection, and so the stream.
				_ = http.NewResponseController(w).SetReadDeadline(time.Time{}) // fails in tests without a connection
				defer camera.Look()()
				next(w, r, camera.Camera)
				return
			}
		}
		http.Error(w, "this server has no such camera", http.StatusNotFound)
	}
}

// sendPictures sends each picture that is new when the browser has read the last one.
// Pictures that come meanwhile are skipped.
func sendPictures(w http.ResponseWriter, r *http.Request, camera *pictures.Camera) {
	visitor, control := visitors.VisitorOf(r), http.NewResponseController(w)
	w.Header().Set("Content-Type", "multipart/x-mixed-replace; boundary="+frameBoundary)
	w.Header().Set("Cache-Control", "no-store")
	for number := uint64(0); ; {
		visitor.Turn()
		picture, err := camera.Next(r.Context(), number)
		if err != nil {
			select {
			case <-r.Context().Done(): // the browser has gone, or the server ends
				return
			case <-time.After(failurePause):
				continue
			}
		}
		number = picture.Number
		_ = control.SetWriteDeadline(time.Now().Add(pictureLimit)) // fails in tests without a connection
		_, err = fmt.Fprintf(w, "--%s\r\nContent-Type: image/jpeg\r\nContent-Length: %d\r\n\r\n", frameBoundary, len(picture.JPEG))
		if err == nil {
			_, err = w.Write(picture.JPEG)
		}
		if err == nil {
			_, err = w.Write([]byte("\r\n"))
		}
		if err != nil || control.Flush() != nil {
			return
		}
	}
}

// sendPicture sends the newest picture, of those with a number above ?after=N, and with it
// its number and its age in ms. It waits for one as long as the limit of a reply allows.
func sendPicture(w http.ResponseWriter, r *http.Request, camera *pictures.Camera) {
	after, _ := strconv.ParseUint(r.URL.Query().Get("after"), 10, 64) // 0 if there is none: any picture
	ctx, cancel := context.WithTimeout(r.Context(), pictureLimit)
	defer cancel()
	picture, err := camera.Next(ctx, after)
	if errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("none came in %v", pictureLimit)
	}
	if err != nil {
		http.Error(w, fmt.Sprintf("no picture of camera %s: %v", camera.Name(), err), http.StatusServiceUnavailable)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "image/jpeg")
	h.Set("Content-Length", strconv.Itoa(len(picture.JPEG)))
	h.Set("Cache-Control", "no-store")
	h.Set("Picture-Number", strconv.FormatUint(picture.Number, 10))
	h.Set("Picture-Age", strconv.FormatInt(time.Since(picture.At).Milliseconds(), 10))
	_, _ = w.Write(picture.JPEG) // fails if the browser has disconnected
}

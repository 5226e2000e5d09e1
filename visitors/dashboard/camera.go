package dashboard

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"player/visitors"
	"player/visitors/pictures"
)

const (
	// pictureLimit is how long a browser may take to read a picture. Otherwise a browser
	// that reads none would keep the camera running.
	pictureLimit = 10 * time.Second
	// frameBoundary separates the pictures of a stream. It may be part of a JPEG: browsers
	// go by the length of each part.
	frameBoundary = "picture"
)

func (s *server) handleCameras(mux *http.ServeMux) {
	mux.HandleFunc("GET /camera/{name}", s.readers(s.withCamera(sendPictures)))
	mux.HandleFunc("GET /camera/{name}/picture", s.readers(s.withCamera(sendPicture)))
}

// withCamera calls next with the camera that a request names, which runs meanwhile.
func (s *server) withCamera(next func(http.ResponseWriter, *http.Request, *pictures.Camera)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		for _, camera := range s.config.Cameras {
			if camera.Name() == r.PathValue("name") {
				// The limits of a request would end the connection, and so the stream.
				_ = http.NewResponseController(w).SetReadDeadline(time.Time{}) // fails in tests without a connection
				defer camera.Watch()()
				next(w, r, camera)
				return
			}
		}
		http.Error(w, "this server has no such camera", http.StatusNotFound)
	}
}

// sendPictures sends the newest picture whenever the browser has read the last one. Pictures
// between them are skipped. The reply is not chunked: it ends with the connection, and a
// picture is one write.
func sendPictures(w http.ResponseWriter, r *http.Request, camera *pictures.Camera) {
	visitor, control := visitors.VisitorOf(r), http.NewResponseController(w)
	w.Header().Set("Content-Type", "multipart/x-mixed-replace; boundary="+frameBoundary)
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Transfer-Encoding", "identity") // which net/http does not send
	if control.Flush() != nil {
		return
	}
	visitor.Wait()
	_ = camera.Follow(r.Context(), func(picture pictures.Picture) error { // until the browser has gone
		_ = control.SetWriteDeadline(time.Now().Add(pictureLimit)) // fails in tests without a connection
		header := fmt.Appendf(nil, "--%s\r\nContent-Type: image/jpeg\r\nContent-Length: %d\r\n\r\n", frameBoundary, len(picture.JPEG))
		if err := visitor.WriteAll(w, header, picture.JPEG, []byte("\r\n")); err != nil {
			return err
		}
		visitor.Wait() // before the next picture is taken, so that it is the newest
		return nil
	})
}

// viewOf returns the numbers by which a page finds a point in the picture: the degrees from
// its left to its right, how many mm the lens is above the laser, and, unless it is on the
// head of a ptz device, its place on the robot in mm, and its heading and tilt in degrees. It
// is empty if the field of view is unknown.
func viewOf(v pictures.View) string {
	if v.FOV == 0 {
		return ""
	}
	text := fmt.Sprintf("%.3f %.1f", v.FOV, v.Z)
	if m := v.Mount; m != nil {
		text += fmt.Sprintf(" %.1f %.1f %.3f %.3f", m.X, m.Y, m.Heading, m.Tilt)
	}
	return text
}

// sendPicture sends the newest picture with a number above ?after=N, and its number, its age in ms
// and its view. It waits for one as long as the limit of a reply allows.
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
	if view := viewOf(picture.View); view != "" {
		h.Set("Picture-View", view)
	}
	h.Set("Picture-Age", strconv.FormatInt(time.Since(picture.At).Milliseconds(), 10))
	_, _ = w.Write(picture.JPEG) // fails if the browser has disconnected
}

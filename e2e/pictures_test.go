package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"io"
	"mime/multipart"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/coder/websocket"

	"player/e2e/must"
	"player/e2e/ports"
	"player/e2e/waiting"
	"player/formats/foxglove"
	"player/formats/logfile"
	product "player/server"
)

// twoPictures returns a shell command that writes two pictures in turn.
func twoPictures(t *testing.T) (command string, pictures [2][]byte) {
	t.Helper()
	dir := t.TempDir()
	for i, c := range []color.Color{color.RGBA{200, 30, 30, 255}, color.RGBA{30, 30, 200, 255}} {
		m := image.NewRGBA(image.Rect(0, 0, 320, 180))
		for p := range m.Pix {
			r, g, b, a := c.RGBA()
			m.Pix[p] = byte([]uint32{r, g, b, a}[p%4] >> 8)
		}
		var text bytes.Buffer
		must.Do(t, jpeg.Encode(&text, m, nil))
		pictures[i] = text.Bytes()
		write(t, dir, fmt.Sprintf("%d.jpg", i), text.String())
	}
	return fmt.Sprintf("while cat %[1]s/0.jpg && sleep 0.03 && cat %[1]s/1.jpg; do sleep 0.03; done", dir), pictures
}

// withCamera starts a robot with a camera that shows two pictures in turn, and returns its
// dashboard.
func withCamera(t *testing.T, flags ...string) (s *server, page string, pictures [2][]byte) {
	t.Helper()
	return withCameraAnd(t, "", flags...)
}

// withCameraAnd is withCamera with more sections of the configuration.
func withCameraAnd(t *testing.T, sections string, flags ...string) (s *server, page string, pictures [2][]byte) {
	t.Helper()
	command, pictures := twoPictures(t)
	file := write(t, t.TempDir(), "robot.cfg", fmt.Sprintf(`
		driver ( name "testpattern" provides ["position:0" "ptz:0" "vision:0"] )
		camera ( name "front" command ["sh" "-c" %q] rate 60 )
		%s`, command, sections))
	s = start(t, append(flags, "-http", "127.0.0.1:0", file)...)
	return s, s.dashboard(t), pictures
}

// The pictures of a camera are passed on as they are. The camera runs while a visitor watches,
// and /status reports it.
func TestPictures(t *testing.T) {
	t.Parallel()
	_, page, pictures := withCamera(t)
	if c := status(t, page).Cameras["front"]; c.State != "idle" || c.Pictures != 0 {
		t.Errorf("nobody has watched: %+v", c)
	}
	reply := must.Get(http.Get(page + "camera/front"))(t)
	defer reply.Body.Close()
	if reply.TransferEncoding != nil || reply.ContentLength != -1 {
		t.Errorf("the stream is %v, %d bytes", reply.TransferEncoding, reply.ContentLength)
	}
	var got []byte
	for buffer := make([]byte, 4096); bytes.Count(got, []byte("--picture\r\n")) < 4; {
		n := must.Get(reply.Body.Read(buffer))(t)
		got = append(got, buffer[:n]...)
	}
	for i, picture := range pictures {
		if !bytes.Contains(got, picture) {
			t.Errorf("picture %d is not in the stream, as it was sent", i)
		}
	}
	if c := status(t, page).Cameras["front"]; c.State != "ready" || c.Viewers != 1 || c.Age == nil || c.Error != "" {
		t.Errorf("somebody watches: %+v", c)
	}
	reply.Body.Close()
	one := must.Get(http.Get(page + "camera/front/picture"))(t)
	defer one.Body.Close()
	if text, err := io.ReadAll(one.Body); err != nil || !bytes.Equal(text, pictures[0]) && !bytes.Equal(text, pictures[1]) {
		t.Errorf("the newest picture: %d bytes, %v", len(text), err)
	}
	if one.Header.Get("Picture-Age") == "" || one.Header.Get("Picture-Number") == "" {
		t.Errorf("headers %v", one.Header)
	}
	waiting.Until(t, "the camera ends", func() bool { return status(t, page).Cameras["front"].State == "idle" })
	if code, text := fetch(t, "GET", page+"camera/rear"); code != http.StatusNotFound {
		t.Errorf("another camera: %d, %s", code, text)
	}
}

// Each command of docs/CAMERAS.md is one that the configuration takes, and that starts a
// program with options it has. The programs here only have the names of those that the
// page means.
func TestSourcesOfDocs(t *testing.T) {
	text := must.Get(os.ReadFile("../docs/CAMERAS.md"))(t)
	_, pictures := twoPictures(t)
	dir := t.TempDir()
	write(t, dir, "picture.jpg", string(pictures[0]))
	// Options of rpicam-vid: rpicam-apps and libcamera-apps, core/options; of gst-launch-1.0 and its elements: gst-inspect-1.0.
	const raspberry = `^-n -t 0 --codec mjpeg --width \d+ --height \d+ --framerate \d+ -o -$`
	takes := map[string]*regexp.Regexp{
		"ffmpeg":         regexp.MustCompile(`^-loglevel error (-f v4l2 -input_format mjpeg -video_size \d+x\d+ -framerate \d+ -i /dev/video\d -c copy|-re -f lavfi -i testsrc=size=\d+x\d+:rate=\d+ -c:v mjpeg -q:v \d+) -f mjpeg -$`),
		"gst-launch-1.0": regexp.MustCompile(`^-q (v4l2src device=/dev/video\d ! image/jpeg,width=\d+,height=\d+|videotestsrc is-live=true ! video/x-raw,width=\d+,height=\d+,framerate=\d+/1 ! jpegenc) ! fdsink$`),
		"rpicam-vid":     regexp.MustCompile(raspberry),
		"libcamera-vid":  regexp.MustCompile(raspberry),
		"curl":           regexp.MustCompile(`^-sN --digest -u USER:PASSWORD http://[0-9a-z./]+$`),
	}
	for name := range takes {
		write(t, dir, name, fmt.Sprintf("#!/bin/sh\necho \"$*\" >> %[1]s/%[2]s.said\nwhile cat %[1]s/picture.jpg; do sleep 0.05; done\n", dir, name))
		must.Do(t, os.Chmod(filepath.Join(dir, name), 0o755))
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	commands := regexp.MustCompile(`command (\["[^\]]*"\])`).FindAllStringSubmatch(string(text), -1)
	config := `driver ( name "testpattern" provides ["position:0"] )`
	for i, c := range commands {
		config += fmt.Sprintf("\ncamera ( name \"camera%d\" command %s )", i, c[1])
	}
	page := start(t, "-http", "127.0.0.1:0", write(t, t.TempDir(), "robot.cfg", config)).dashboard(t)
	for i, c := range commands {
		if code, got := fetch(t, "GET", fmt.Sprintf("%scamera/camera%d/picture", page, i)); code != http.StatusOK || got != string(pictures[0]) {
			t.Errorf("%s: %d, %.200s", c[1], code, got)
		}
	}
	for name, options := range takes {
		said, err := os.ReadFile(filepath.Join(dir, name+".said"))
		for line := range strings.Lines(string(said)) {
			if !options.MatchString(strings.TrimSpace(line)) {
				t.Errorf("%s is started with options that it does not have: %s", name, line)
			}
		}
		if err != nil {
			t.Errorf("no command starts %s: %v", name, err)
		}
	}
}

// A simulated camera has pictures without any configuration.
func TestSimulatedPictures(t *testing.T) {
	t.Parallel()
	s := start(t, "-stage", room, "-http", "127.0.0.1:0")
	code, text := fetch(t, "GET", fmt.Sprintf("%scamera/simulated-%s/picture", s.dashboard(t), s.address[strings.LastIndex(s.address, ":")+1:]))
	m, err := jpeg.Decode(strings.NewReader(text))
	if err != nil || code != http.StatusOK || m.Bounds().Size() != image.Pt(320, 240) {
		t.Fatalf("%d, %d bytes: %v", code, len(text), err)
	}
	top, bottom := m.At(160, 10), m.At(160, 230)
	if r, _, b, _ := top.RGBA(); r >= b { // the sky, bluish
		t.Errorf("above it is %v", top)
	}
	if r, _, b, _ := bottom.RGBA(); r <= b { // the floor, brownish
		t.Errorf("below it is %v", bottom)
	}
}

// A visitor that may not read gets no picture by any way: by HTTP, Foxglove's
// protocol, or the programs that use them. No refused request starts the camera. The bridge of a
// fleet is in fleet/pictures_test.go.
func TestPicturesOfStrangers(t *testing.T) {
	t.Parallel()
	s, page, pictures := withCameraAnd(t, `access ( allow "read" from ["127.0.0.2"] )`, "-foxglove", "127.0.0.1:0")
	address := strings.TrimSuffix(strings.TrimPrefix(page, "http://"), "/")
	for _, path := range []string{"camera/front", "camera/front/picture", "camera/front/picture?after=0", "status", "robots"} {
		if code := codeOf(t, page+path); code != http.StatusForbidden {
			t.Errorf("%s: %d", path, code)
		}
	}
	for _, subprotocol := range foxglove.Subprotocols() {
		_, reply, err := websocket.Dial(t.Context(), s.viewers(t), &websocket.DialOptions{Subprotocols: []string{subprotocol}})
		if reply == nil || reply.StatusCode != http.StatusForbidden {
			t.Errorf("a viewer: %v, %v", reply, err)
		}
	}
	if code, text := fetch(t, "GET", strings.Replace(s.viewers(t), "ws", "http", 1)+"/layout.json"); code != http.StatusForbidden {
		t.Errorf("a layout: %d, %s", code, text)
	}
	dir := t.TempDir()
	for name, args := range map[string][]string{
		"snapshot": {"snapshot", "-camera", "front", "-o", filepath.Join(dir, "front.jpg"), address},
		"record":   {"record", s.address, "-pictures", "1", "-page", address, "-o", filepath.Join(dir, "run.mcap")},
	} {
		if code, _, errs := uses(t, args...); code == 0 {
			t.Errorf("%s: exit %d, %s", name, code, errs)
		}
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) > 0 {
		t.Errorf("files %v, %v", files, err)
	}
	reader := &http.Client{Transport: &http.Transport{DialContext: (&net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 2)}}).DialContext, DisableKeepAlives: true}}
	get := func(path string) []byte {
		t.Helper()
		reply := must.Get(reader.Get(page + path))(t)
		defer reply.Body.Close()
		text, err := io.ReadAll(reply.Body)
		if err != nil || reply.StatusCode != http.StatusOK {
			t.Fatalf("%s: %s, %v", path, reply.Status, err)
		}
		return text
	}
	var got serverStatus
	must.Do(t, json.Unmarshal(get("status"), &got))
	if c := got.Cameras["front"]; c.State != "idle" || c.Pictures != 0 {
		t.Errorf("strangers have started the camera: %+v", c)
	}
	if got := get("camera/front/picture"); !bytes.Equal(got, pictures[0]) && !bytes.Equal(got, pictures[1]) {
		t.Errorf("who may read gets %d bytes", len(got))
	}
}

// codeOf returns the code of a reply, which may have no end.
func codeOf(t *testing.T, url string) int {
	t.Helper()
	reply := must.Get(http.Get(url))(t)
	reply.Body.Close()
	return reply.StatusCode
}

// By TLS it is the name in a certificate that has the right.
func TestPicturesByTLS(t *testing.T) {
	t.Parallel()
	command, pictures := twoPictures(t)
	f := fortified(t, launch{}, fmt.Sprintf(`driver ( name "testpattern" provides ["position:0"] )
		access ( allow "read" name "ada" )
		camera ( name "front" command ["sh" "-c" %q] rate 60 )`, command))
	url := strings.Replace(f.page, "http:", "https:", 1) + "camera/front"
	open := func(name string) *http.Response {
		t.Helper()
		browser := &http.Client{Transport: &http.Transport{TLSClientConfig: f.config(name)}}
		t.Cleanup(browser.CloseIdleConnections)
		reply := must.Get(browser.Get(url))(t)
		t.Cleanup(func() { reply.Body.Close() })
		return reply
	}
	if reply := open("eve"); reply.StatusCode != http.StatusForbidden {
		t.Errorf("another name: %s", reply.Status)
	}
	if code := codeOf(t, f.page+"camera/front"); code != http.StatusForbidden {
		t.Errorf("no name: %d", code)
	}
	reply := open("ada")
	parts := multipart.NewReader(reply.Body, "picture")
	for _, picture := range pictures { // both come, whole
		for {
			part := must.Get(parts.NextPart())(t)
			got := must.Get(io.ReadAll(part))(t)
			if bytes.Equal(got, picture) {
				break
			}
			if !slices.ContainsFunc(pictures[:], func(p []byte) bool { return bytes.Equal(got, p) }) {
				t.Fatalf("%d bytes that the camera has not sent", len(got))
			}
		}
	}
}

// A watcher takes a place for visitors, of which an address has half. Others still watch, and
// the robot's clients are served.
func TestPicturesWithinTheBudget(t *testing.T) {
	t.Parallel()
	s, page, _ := withCamera(t)
	address := strings.TrimSuffix(strings.TrimPrefix(page, "http://"), "/")
	const perAddress = 64
	watches := func(from string) bool {
		t.Helper()
		d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
		c := must.Get(d.Dial("tcp", address))(t)
		t.Cleanup(func() { c.Close() })
		if _, err := fmt.Fprintf(c, "GET /camera/front HTTP/1.1\r\nHost: %s\r\n\r\n", address); err != nil {
			return false
		}
		_ = c.SetReadDeadline(time.Now().Add(patience))
		line := make([]byte, len("HTTP/1.1 200"))
		_, err := io.ReadFull(c, line)
		return err == nil && string(line) == "HTTP/1.1 200"
	}
	for i := range perAddress {
		if !watches("127.0.0.2") {
			t.Fatalf("viewer %d is refused", i)
		}
	}
	if watches("127.0.0.2") {
		t.Error("an address has more than half of all places")
	}
	if !watches("127.0.0.3") {
		t.Error("another address is refused")
	}
	if c := status(t, page).Cameras["front"]; c.Viewers > perAddress+1 {
		t.Errorf("%d watch", c.Viewers)
	}
	p := s.dial(t)
	p.mustOpen("pr", "pr")
	p.frame(3)
}

// player record has the pictures of a robot's camera in its log, as the camera has sent them,
// and player replay shows them as the camera again.
func TestRecordPictures(t *testing.T) {
	t.Parallel()
	s, page, pictures := withCamera(t)
	path := filepath.Join(t.TempDir(), "run.mcap")
	began := time.Now()
	page = strings.TrimSuffix(strings.TrimPrefix(page, "http://"), "/")
	r := startTool(t, nil, "record", s.address, "pr", "-pictures", "40", "-page", page, "-o", path)
	seen := func() (counts [2]int, order []int64) {
		log, err := logfile.Open(path)
		if err != nil {
			return counts, nil // not begun
		}
		defer log.Close()
		for {
			m, err := log.NextRecord()
			if err != nil {
				return counts, order
			}
			if m.Camera == "" {
				continue
			}
			i := slices.IndexFunc(pictures[:], func(p []byte) bool { return bytes.Equal(p, m.JPEG()) })
			if i < 0 || m.Camera != "front" {
				t.Fatalf("camera %s: %d bytes that it has not sent", m.Camera, len(m.JPEG()))
			}
			counts[i]++
			order = append(order, m.Time)
		}
	}
	waiting.Until(t, "pictures in the log", func() bool { n, _ := seen(); return n[0] > 2 && n[1] > 2 })
	r.Signal(t, syscall.SIGINT)
	if code := r.Code(t); code != 0 || !strings.Contains(r.errors.String(), "camera front") {
		t.Fatalf("exit %d: %s", code, r.errors)
	}
	counts, order := seen()
	if want := fmt.Sprintf(" and %d pictures in ", counts[0]+counts[1]); !strings.Contains(r.errors.String(), want) {
		t.Errorf("%s, want %q", r.errors, want)
	}
	if !slices.IsSorted(order) || order[0] < began.Add(-time.Second).UnixNano() || order[len(order)-1] > time.Now().UnixNano() {
		t.Errorf("pictures at %v, since %d", order, began.UnixNano())
	}

	again := fmt.Sprintf("127.0.0.1:%d", ports.Free(t, 1))
	port := ports.Free(t, 1)
	p := startTool(t, nil, "replay", "-bind", "127.0.0.1", "-gp", fmt.Sprint(port), "-http", again, "-loop", path)
	waiting.Until(t, "serving", func() bool { return strings.Contains(p.errors.String(), product.LogServing) })
	peer := (&server{address: fmt.Sprintf("127.0.0.1:%d", port)}).dial(t)
	if reply := peer.request("pr"); reply != "pr" {
		t.Errorf("reply %q", reply)
	}
	for _, picture := range pictures { // both come
		waiting.Until(t, "the picture of the log", func() bool {
			code, text := fetch(t, "GET", "http://"+again+"/camera/front/picture")
			return code == http.StatusOK && text == string(picture)
		})
	}

	code, _, errs := uses(t, "record", s.address, "-pictures", "1", "-page", again, "-o", path+"2")
	if code != 2 || !strings.Contains(errs, "has no camera at http://"+again) {
		t.Errorf("another server's dashboard: exit %d, %s", code, errs)
	}
}

// testPictures checks the picture on the page, at its age, and at it in large.
func testPictures(t *testing.T, chromium browser) {
	s, page, _ := withCamera(t)
	b := chromium.open(t, page)
	b.until(`document.getElementById("picture-age").textContent.endsWith("s old")`)
	b.until(`document.getElementById("image").getBoundingClientRect().height > 50`)
	// The newest picture is red or blue; both come.
	colour := `(() => { const c = document.getElementById("image").getContext("2d"); const p = c.getImageData(6, 6, 1, 1).data; return p[0] > p[2] ? "red" : "blue"; })()`
	b.until(colour + ` === "red"`)
	b.until(colour + ` === "blue"`)
	evaluate[any](b, `document.getElementById("picture-large").click()`)
	b.until(`document.getElementById("image").getBoundingClientRect().width > 700`)
	stop := evaluate[bool](b, `(() => { const r = document.getElementById("stop").getBoundingClientRect(); return document.elementFromPoint(r.x + r.width / 2, r.y + r.height / 2)?.id === "stop"; })()`)
	if !stop {
		t.Error("the large picture hides Stop")
	}
	b.checkLooks("a large picture")
	// A drag looks around: the camera is commanded.
	mouse := func(event input.DispatchMouseEventType, x float64) chromedp.Action[chromedp.Void] {
		return chromedp.MouseEvent(event, x, 400, chromedp.ButtonLeft)
	}
	must.Do(t, chromedp.Do(b.ctx, mouse(chromedp.MousePressed, 500), mouse(chromedp.MouseMoved, 400), mouse(chromedp.MouseReleased, 300)))
	b.until(`document.getElementById("pan").value > 0`)
	waiting.Until(t, "the camera is commanded", func() bool {
		for _, c := range status(t, page).Robots[0].Clients {
			if c.Commands > 0 {
				return true
			}
		}
		return false
	})
	s.stop(t)
	b.until(`document.getElementById("picture-note").textContent !== ""`)
}

// testLaserInPictures compares the page's marks of the laser with the picture: a white
// board floats in the plane of the laser, and there is nothing else that it detects.
func testLaserInPictures(t *testing.T, chromium browser) {
	world := write(t, t.TempDir(), "board.world", `
		include "`+absolute(t, "../simulation/worlds/pioneer.inc")+`"
		model ( pose [2 0.1 0.17 0] size [0.02 0.3 0.06] color "white" )
		pioneer_full ( pose [0 0 0 0] )`)
	s := start(t, "-stage", world, "-http", "127.0.0.1:0")
	b := chromium.open(t, s.dashboard(t))
	// found returns how far the board and the marks reach in the picture, in hundredths of its
	// width: left, right, top, bottom; null if there is none.
	evaluate[any](b, `void (window.found = () => {
		const canvas = document.getElementById("image"), {width, height} = canvas, scale = 100 / width;
		const {data} = canvas.getContext("2d").getImageData(0, 0, width, height);
		const reach = (is) => {
			let box = null;
			for (let y = 0, i = 0; y < height; y++) for (let x = 0; x < width; x++, i += 4) if (is(data[i], data[i + 1], data[i + 2])) {
				box ??= [x, x, y, y];
				box = [Math.min(box[0], x), Math.max(box[1], x), Math.min(box[2], y), Math.max(box[3], y)];
			}
			return box?.map((v) => v * scale);
		};
		return [reach((r, g, b) => Math.min(r, g, b) > 240), reach((r, g, b) => b - r > 90)];
	})`)
	// Readings are half a degree apart, one hundredth of the picture's width.
	fits := `((from, to) => {
		const [board, marks] = found();
		return board && marks && board[0] > from && board[0] < to && board[1] - board[0] > 10 &&
			Math.abs(board[0] - marks[0]) < 1.8 && Math.abs(board[1] - marks[1]) < 1.8 &&
			Math.abs(board[2] + board[3] - marks[2] - marks[3]) < 2 && marks[3] - marks[2] < 2;
	})`
	b.until(`document.getElementById("image").clientWidth > 0 && ` + fits + `(30, 40)`)
	// The head turns to the left and down: the board goes to the right and up.
	evaluate[any](b, `(() => { for (const [id, value] of [["pan", -8], ["tilt", -5]]) {
		document.getElementById(id).value = value; document.getElementById(id).dispatchEvent(new Event("input")); } })()`)
	b.until(fits + `(47, 57)`)
	evaluate[any](b, `document.getElementById("picture-laser").click()`)
	b.until(`found()[0] && !found()[1]`)
}

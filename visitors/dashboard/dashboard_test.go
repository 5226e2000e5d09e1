package dashboard

import (
	"bufio"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"player/e2e/must"
	"player/visitors"
	"player/visitors/roomtest"
)

// Robots are listed by port. mover is a robot's number in the scene, which
// follows the world file.
func TestRobots(t *testing.T) {
	world := load(t, `
		position ( name "a" port 6667 pose [0 0 0 0] )
		position ( name "b" port 6665 pose [2 0 0 0] )`)
	a, b := world.Robots()[0], world.Robots()[1]
	page := site(t.Context(), Config{
		Robots: []Robot{
			{Name: "b", Address: "localhost:6665", Simulated: b, Port: 6665},
			{Name: "hardware", Address: "localhost:6666", Port: 6666, Pages: []Page{{"v", "vision", ":8090"}}},
			{Name: "a", Address: "localhost:6667", Simulated: a, Port: 6667},
		},
		World: world, Common: visitors.Common{},
	}).Protected()
	w := request(page, "GET", "/robots", "")
	const want = `{"robots":[{"name":"b","address":"localhost:6665","mover":1},` +
		`{"name":"hardware","address":"localhost:6666","mover":-1,"pages":[{"letter":"v","name":"vision","url":":8090"}]},` +
		`{"name":"a","address":"localhost:6667","mover":0}],"world":true,"version":"","you":"192.0.2.1","may":"read write config","takes":false}` + "\n"
	if got := w.Body.String(); got != want {
		t.Errorf("robots: %s\nwant %s", got, want)
	}
	s := newScene(world)
	if s.Movers[1].Name != "b" || s.Movers[0].Name != "a" {
		t.Errorf("movers %+v", s.Movers)
	}
}

// A browser that has the page loads it only when it has changed.
func TestCached(t *testing.T) {
	page := servePage(t, Config{})
	get := func(tag string) (status int, newTag string) {
		reply, _ := roomtest.Request(t, "GET", page+"/main.js", http.Header{"If-None-Match": {tag}})
		return reply.StatusCode, reply.Header.Get("Etag")
	}
	status, tag := get(`"another"`)
	if status != http.StatusOK || tag == "" {
		t.Fatalf("status %d, tag %s", status, tag)
	}
	if status, again := get(tag); status != http.StatusNotModified || again != tag {
		t.Errorf("status %d, tag %s, was %s", status, again, tag)
	}
}

// Each file of the page is compressed, has addresses that never mean anything else, and may be cached
// without limit. All modules are one file.
func TestImmutable(t *testing.T) {
	page := servePage(t, Config{})
	get := func(path, encoding string) (*http.Response, string) {
		t.Helper()
		reply, body := roomtest.Request(t, "GET", page+path, http.Header{"Accept-Encoding": {encoding}})
		if reply.StatusCode != http.StatusOK {
			t.Fatalf("%s: status %d", path, reply.StatusCode)
		}
		return reply, body
	}
	reply, index := get("/", "identity")
	if cache := reply.Header.Get("Cache-Control"); cache != "no-store" || reply.Header.Get("Etag") != "" {
		t.Errorf("the page itself may be kept: %v", reply.Header)
	}
	for _, has := range []string{`id="offer">{"robots":[],`, `id="newest">{}<`, "window.first="} {
		if !strings.Contains(index, has) {
			t.Errorf("the page has no %s", has)
		}
	}
	script := regexp.MustCompile(`(?s)<script>(.*?)</script>`).FindStringSubmatch(index)
	if script == nil {
		t.Fatal("the first script is not in the page")
	}
	sum := sha256.Sum256([]byte(script[1]))
	if policy := reply.Header.Get("Content-Security-Policy"); !strings.HasPrefix(policy, "script-src 'self' 'sha256-"+base64.StdEncoding.EncodeToString(sum[:])+"'; default-src 'self'; ") {
		t.Errorf("the policy is %s", policy)
	}
	loads := regexp.MustCompile(`(?:href|src)="([\w./-]+)"`).FindAllStringSubmatch(index, -1)
	if len(loads) != 2 { // the icon, and all else
		t.Errorf("the page loads %d files", len(loads))
	}
	_, packed := get("/", "gzip")
	sent := len(packed)
	if sent > 1500 { // without data: all that a reload transfers before the page shows some
		t.Errorf("the page itself takes %d bytes", sent)
	}
	for _, match := range loads {
		plain, text := get("/"+match[1], "identity")
		reply, packed := get("/"+match[1], "gzip, br")
		if !strings.Contains(reply.Header.Get("Cache-Control"), "immutable") || reply.Header.Get("Vary") != "Accept-Encoding" || plain.Header.Get("Content-Encoding") != "" {
			t.Errorf("%s: %v", match[1], reply.Header)
		}
		if reply.Header.Get("Content-Encoding") == "gzip" {
			zip := must.Get(gzip.NewReader(strings.NewReader(packed)))(t)
			if again, err := io.ReadAll(zip); err != nil || string(again) != text {
				t.Errorf("%s: another file comes compressed, %v", match[1], err)
			}
		} else if len(text) > 1000 {
			t.Errorf("%s is not compressed", match[1])
		}
		sent += len(packed)
	}
	if sent > 49_000 { // at the 50 KB/s of docs/DASHBOARD.md a second
		t.Errorf("the page takes %d bytes", sent)
	}
}

// A request with a body is refused before the body comes.
func TestBodyRefused(t *testing.T) {
	for _, header := range []string{"Content-Length: 5", "Transfer-Encoding: chunked", "Content-Length: 5\r\nExpect: 100-continue"} {
		conn := must.Get(net.Dial("tcp", strings.TrimPrefix(servePage(t, Config{}), "http://")))(t)
		defer conn.Close()
		_ = conn.SetDeadline(time.Now().Add(roomtest.Patience))
		fmt.Fprintf(conn, "GET / HTTP/1.1\r\nHost: localhost\r\n%s\r\n\r\n", header)
		begin := time.Now()
		reply, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatalf("%q: %v", header, err)
		}
		if _, err = io.Copy(io.Discard, conn); err != nil {
			t.Errorf("%q: the connection stays open: %v", header, err)
		}
		if reply.StatusCode != http.StatusRequestEntityTooLarge || time.Since(begin) >= roomtest.Patience {
			t.Errorf("%q: status %d after %v", header, reply.StatusCode, time.Since(begin))
		}
	}
}

// A page comes with data of the robots that pages are sent, while that is new.
func TestNewest(t *testing.T) {
	var n newest
	if frame := n.frame("r0"); frame != nil {
		t.Errorf("frame %x of nothing", frame)
	}
	n.put("r0", visitors.News{Device: 'p', Age: 20 * time.Millisecond, Known: true, Payload: []byte{1, 2, 3}})
	n.put("r0", visitors.News{Device: 'p', Age: 30 * time.Millisecond, Known: true, Payload: []byte{4}})
	frame := n.frame("r0")
	if len(frame) != 8+7+1 || frame[8] != 'p' || frame[15] != 4 {
		t.Fatalf("frame %x", frame)
	}
	if age := time.Duration(binary.BigEndian.Uint32(frame[9:])) * time.Microsecond; age < 30*time.Millisecond || age > newestLimit+30*time.Millisecond {
		t.Errorf("age %v", age)
	}
	old := n.robots["r0"]['p']
	old.at = old.at.Add(-2 * newestLimit)
	n.robots["r0"]['p'] = old
	if frame := n.frame("r0"); frame != nil {
		t.Errorf("old data is told: %x", frame)
	}
}

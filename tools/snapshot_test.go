package tools_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"player/e2e/must"
	"player/tools"
	"player/tools/snapshot"
)

// pictures returns the address of a dashboard with cameras, of which all but dark send a
// picture.
func pictures(t *testing.T, cameras ...string) (address string) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/status":
			var list []string
			for _, name := range cameras {
				key, _ := json.Marshal(name) // strings have no errors
				list = append(list, string(key)+": {}")
			}
			fmt.Fprintf(w, `{"cameras": {%s}}`, strings.Join(list, ","))
		case "/camera/dark/picture":
			http.Error(w, "no picture of camera dark: no signal", http.StatusServiceUnavailable)
		default:
			fmt.Fprint(w, "picture of ", r.URL.Path)
		}
	}))
	t.Cleanup(server.Close)
	return server.Listener.Addr().String()
}

func TestSnapshot(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	there := filepath.Join(dir, "there.jpg")
	must.Do(t, os.WriteFile(there, nil, 0o600))
	for _, tt := range []struct {
		cameras, args []string
		file, err     string
		failed        bool
	}{
		{[]string{"front"}, nil, "front-*.jpg", "", false},
		{[]string{"front", "dark"}, []string{"-camera", "front", "-o", "x.jpg"}, "x.jpg", "", false},
		{[]string{"front"}, []string{"-o", "there.jpg"}, "", "-f replaces it", false},
		{[]string{"front"}, []string{"-f", "-o", "there.jpg"}, "there.jpg", "", false},
		{[]string{"front", "dark"}, nil, "", "choose one of its cameras with -camera: dark, front", false},
		{[]string{"front"}, []string{"-camera", "rear"}, "", `no camera "rear"; there is front`, false},
		{[]string{"../evil\x1b[2J"}, nil, "_.._evil__2J-*.jpg", "", false},
		{[]string{"../evil\x1b[2J", "dark"}, nil, "", `: ../evil\x1b[2J, dark`, false},
		{nil, nil, "", "no camera with pictures", false},
		{[]string{"dark"}, nil, "", "no signal", true},
	} {
		stderr := must.Get(os.Create(filepath.Join(t.TempDir(), "stderr")))(t)
		err := snapshot.Command().Run(t.Context(), append(tt.args, pictures(t, tt.cameras...)), nil, stderr)
		_, failed := errors.AsType[tools.Failure](err)
		if (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) || failed != tt.failed {
			t.Errorf("%v of %v: %v, want %q", tt.args, tt.cameras, err, tt.err)
		}
		if tt.file == "" {
			continue
		}
		files, _ := filepath.Glob(tt.file)
		if len(files) != 1 {
			t.Errorf("%v: files %v, want %s", tt.args, files, tt.file)
			continue
		}
		if text, err := os.ReadFile(files[0]); err != nil || string(text) != "picture of /camera/"+tt.cameras[0]+"/picture" {
			t.Errorf("%s: %q, %v", files[0], text, err)
		}
		if shown, err := os.ReadFile(stderr.Name()); err != nil || strings.Contains(string(shown), "\x1b") {
			t.Errorf("the terminal shows %q, %v", shown, err)
		}
	}
	var out bytes.Buffer
	if err := snapshot.Command().Run(t.Context(), []string{"-o", "-", pictures(t, "front")}, &out, nil); err != nil || !strings.HasPrefix(out.String(), "picture of") {
		t.Errorf("standard output: %q, %v", out.String(), err)
	}
}

func TestSnapshotForPrograms(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.jpg")
	var out bytes.Buffer
	must.Do(t, snapshot.Command().Run(t.Context(), []string{"-json", "-o", path, pictures(t, "front")}, &out, nil))
	if want := fmt.Sprintf(`{"camera":"front","file":%q,"bytes":32}`, path) + "\n"; out.String() != want {
		t.Errorf("%s, want %s", out.String(), want)
	}
	if err := snapshot.Command().Run(t.Context(), []string{"-json", "-o", "-", pictures(t, "front")}, &out, nil); err == nil {
		t.Error("the picture and JSON on one output")
	}
}

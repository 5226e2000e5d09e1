package e2e

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// The program, its log, its status, its metrics and the page say the same version.
func TestVersion(t *testing.T) {
	out, err := exec.Command(binary, "-version").Output()
	if err != nil {
		t.Fatal(err)
	}
	version := strings.TrimSpace(string(out))
	number, err := os.ReadFile("../app/version.txt")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(version, "player "+strings.TrimSpace(string(number))) {
		t.Errorf("-version says %s, app/version.txt %s", version, number)
	}
	s, page := startDashboard(t)
	s.Await(t, `"version":"`+version+`"`)
	for _, path := range []string{"robots", "status"} {
		reply, err := http.Get(page + path)
		if err != nil {
			t.Fatal(err)
		}
		var said struct{ Version string }
		err = json.NewDecoder(reply.Body).Decode(&said)
		reply.Body.Close()
		if err != nil || said.Version != version {
			t.Errorf("/%s says %q, %v, want %s", path, said.Version, err, version)
		}
	}
	reply, err := http.Get(page + "metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close()
	text, err := io.ReadAll(reply.Body)
	if want := `player_info{version="` + version + `"} 1`; err != nil || !strings.Contains(string(text), want) {
		t.Errorf("/metrics lacks %s, %v", want, err)
	}
}

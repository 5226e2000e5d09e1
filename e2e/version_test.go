package e2e

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"

	"player/e2e/must"
)

// The program, its log, its status, its metrics and the page say the same version.
func TestVersion(t *testing.T) {
	out := must.Get(exec.Command(binary, "-version").Output())(t)
	version := strings.TrimSpace(string(out))
	number := must.Get(os.ReadFile("../app/version.txt"))(t)
	if !strings.HasPrefix(version, "player "+strings.TrimSpace(string(number))) {
		t.Errorf("-version says %s, app/version.txt %s", version, number)
	}
	s, page := startDashboard(t)
	s.Await(t, `"version":"`+version+`"`)
	for _, path := range []string{"robots", "status"} {
		reply := must.Get(http.Get(page + path))(t)
		var said struct{ Version string }
		err := json.NewDecoder(reply.Body).Decode(&said)
		reply.Body.Close()
		if err != nil || said.Version != version {
			t.Errorf("/%s says %q, %v, want %s", path, said.Version, err, version)
		}
	}
	reply := must.Get(http.Get(page + "metrics"))(t)
	defer reply.Body.Close()
	text, err := io.ReadAll(reply.Body)
	if want := `player_info{version="` + version + `"} 1`; err != nil || !strings.Contains(string(text), want) {
		t.Errorf("/metrics lacks %s, %v", want, err)
	}
}

package sweep

import (
	"os"
	"path/filepath"
	"sync"
	"testing"

	"player/e2e/must"
)

// Servers that start at the same time have ports of their own: one would find the other's
// port taken, and its program would be connected to the other.
func TestPortsOfTheirOwn(t *testing.T) {
	t.Parallel()
	for _, robots := range []int{1, 100, 700, 2000} {
		s := &sweep{robots: robots, taken: map[int]bool{}}
		var lock sync.Mutex
		var wait sync.WaitGroup
		owners := map[int]int{}
		for server := range min(sideBySide(robots), 50) {
			wait.Go(func() {
				first, err := s.takePorts()
				if err != nil {
					t.Errorf("%d robots, server %d: %v", robots, server, err)
					return
				}
				lock.Lock()
				defer lock.Unlock()
				for port := first; port < first+robots; port++ {
					if other, ok := owners[port]; ok {
						t.Errorf("%d robots: port %d is that of servers %d and %d", robots, port, other, server)
						return
					}
					owners[port] = server
				}
			})
		}
		wait.Wait()
	}
}

// A sweep goes on with a table that another program has saved.
func TestTableOfOtherPrograms(t *testing.T) {
	t.Parallel()
	s := &sweep{path: filepath.Join(t.TempDir(), "sweep.csv"), rows: map[int]row{}}
	must.Do(t, os.WriteFile(s.path, []byte("\ufeffseed,seconds,distance\r\n3,1.5,2.5\r\n"), 0o600))
	if err := s.resume(); err != nil || s.rows[3]["distance"] != "2.5" {
		t.Errorf("%v, %v", s.rows, err)
	}
}

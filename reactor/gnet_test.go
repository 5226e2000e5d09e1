package reactor

import (
	"cmp"
	"go/build"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// knownGnet is the version of gnet whose source was checked for the assumptions in TestGnet.
const knownGnet = "github.com/panjf2000/gnet/v2 v2.10.0"

// TestGnet lists the assumptions of the loop about gnet that gnet does not promise. After an update, check
// each of them in gnet's source, run all other tests of this package, and change knownGnet.
func TestGnet(t *testing.T) {
	module, err := os.ReadFile("../go.mod")
	if err != nil || !strings.Contains(string(module), "\t"+knownGnet+"\n") {
		t.Errorf("go.mod has not %s (%v): check what TestGnet lists, then change knownGnet", knownGnet, err)
	}

	// inside.go reads and sets private fields.
	r := run(t, nil)
	loop := reflect.TypeOf(r.engine.events).Elem()
	for _, private := range []struct{ path, want string }{
		{"poller", "*netpoll.Poller"},
		{"poller.fd", "int"}, // the epoll
		{"listeners", "map[int]*gnet.listener"},
		{"listeners.fd", "int"},
		{"listeners.network", "string"},
		{"listeners.addr", "net.Addr"},
	} {
		of := loop
		for name := range strings.SplitSeq(private.path, ".") {
			for of.Kind() != reflect.Struct {
				of = of.Elem()
			}
			field, _ := of.FieldByName(name)
			if of = field.Type; of == nil {
				t.Fatalf("%s.%s is gone: inside.go", loop, private.path)
			}
		}
		if of.String() != private.want {
			t.Errorf("%s.%s is %s, not %s: inside.go", loop, private.path, of, private.want)
		}
	}

	// accept.go and adopt.go replace variables, which gnet must read each time.
	// A binary built with -trimpath does not know where its sources are, so the folder follows from the go command's rule.
	cache := cmp.Or(os.Getenv("GOMODCACHE"), filepath.Join(filepath.SplitList(build.Default.GOPATH)[0], "pkg/mod"))
	folder := filepath.Join(cache, strings.Replace(knownGnet, " ", "@", 1))
	for _, line := range []struct{ file, text, user string }{
		{"acceptor_unix.go", `Errorf("` + acceptLine + ` due to error: %v", err)`, "accept.go"},
		{"acceptor_unix.go", "return errors.ErrAcceptSocket", "accept.go"},
		{"pkg/netpoll/poller_epoll_default.go", "errors.Is(err, errorx.ErrAcceptSocket)", "accept.go"},
		{"listener_unix.go", "if ln.fd > 0 {", "inside.remove"},
		{"eventloop_unix.go", "goroutine.DefaultWorkerPool.Submit(", "adopt.go"},
	} {
		source, err := os.ReadFile(filepath.Join(folder, line.file))
		if err != nil || !strings.Contains(string(source), line.text) {
			t.Errorf("%s has no %q (%v): %s", line.file, line.text, err, line.user)
		}
	}
}

package web

import (
	"flag"
	"os"
	"testing"
)

// concurrency is how many parallel tests run at a time. They mostly wait.
const concurrency = "8"

func TestMain(m *testing.M) {
	flag.Parse()
	if given := flag.Lookup("test.parallel"); given.Value.String() == given.DefValue {
		_ = flag.Set("test.parallel", concurrency)
	}
	os.Exit(m.Run())
}

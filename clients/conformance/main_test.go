package conformance

import (
	"flag"
	"os"
	"testing"
)

// concurrency is how many parallel tests run at a time. They mostly wait; with Go's
// default, the number of processors, they take twice as long.
const concurrency = "8"

func TestMain(m *testing.M) {
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "test.parallel" })
	if !given {
		_ = flag.Set("test.parallel", concurrency)
	}
	os.Exit(m.Run())
}

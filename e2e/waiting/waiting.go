// Package waiting runs tests that mostly wait.
package waiting

import (
	"flag"
	"strconv"
	"testing"
)

// Run runs the tests of a package, so many parallel ones at a time, unless the flag
// -parallel says how many. With Go's default, the number of processors, tests that wait
// would wait one after the other. It returns the exit code.
func Run(m *testing.M, atATime int) (code int) {
	const name = "test.parallel"
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == name })
	if !given {
		_ = flag.Set(name, strconv.Itoa(atATime)) // a number is a valid value
	}
	return m.Run()
}

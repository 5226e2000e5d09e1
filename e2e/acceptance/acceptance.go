// Package acceptance marks tests that take long and seldom find anything: one variable of
// the environment runs them all.
//
//	ACCEPTANCE=1 go test ./...
package acceptance

import (
	"os"
	"testing"
)

// variable is set to run the tests that take long. The project's check sets it.
const variable = "ACCEPTANCE"

// Only skips a test unless the variable is set.
func Only(t testing.TB) {
	t.Helper()
	if !Wanted() {
		t.Skip("it takes long: " + variable + "=1 runs it")
	}
}

// Wanted reports whether the tests that take long are wanted. With -short they are not.
func Wanted() bool { return os.Getenv(variable) != "" && !testing.Short() }

// Alone marks a test in which one goroutine computes for long. The race detector finds nothing in it and makes it
// ten times slower, so with the detector it is skipped unless the variable is set. .ci/run has it once, without the
// detector.
func Alone(t testing.TB) {
	t.Helper()
	if Detector && os.Getenv(variable) == "" {
		t.Skip("one goroutine computes: the race detector takes long and finds nothing; " + variable + "=1 runs it")
	}
}

// full is set to have tests take all their rounds. .ci/nightly sets it.
const full = "FULL"

// Rounds returns how many rounds a test takes: all of them at night, otherwise few, which show the rule.
func Rounds(few, all int) int {
	if os.Getenv(full) != "" {
		return all
	}
	return few
}

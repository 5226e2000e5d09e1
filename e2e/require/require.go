// Package require ends tests that cannot go on.
package require

import "testing"

// NoError ends a test at an error.
func NoError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Package require stands in for the package of this name that the mcap module
// imports outside its tests. It is ours and has only what mcap calls there, so
// that our tests need no other modules for it (docs/DECISIONS.md).
package require

// TestingT is a test.
type TestingT interface {
	Errorf(format string, args ...any)
	FailNow()
}

// NoError ends the test if err is not nil.
func NoError(t TestingT, err error, _ ...any) {
	if err != nil {
		t.Errorf("unexpected error: %v", err)
		t.FailNow()
	}
}

// Package must ends a test at an error that it does not expect.
package must

import "testing"

// Do ends the test if there is an error.
func Do(t testing.TB, err error) {
	if err != nil {
		t.Helper()
		t.Fatal(err)
	}
}

// Get returns a function that returns the value, or ends the test that it is given if there is an error:
//
//	text := must.Get(os.ReadFile(path))(t)
func Get[T any](value T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		if err != nil {
			t.Helper()
			t.Fatal(err)
		}
		return value
	}
}

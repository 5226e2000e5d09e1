package visitors

import (
	"errors"
	"testing"
)

func TestRecovered(t *testing.T) {
	failure := errors.New("failure")
	if err := Recovered(func() error { return failure }); err != failure {
		t.Errorf("error %v", err)
	}
	if err := Recovered(func() error { panic("trouble") }); err == nil || err.Error() != "panic: trouble" {
		t.Errorf("error %v", err)
	}
}

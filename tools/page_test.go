package tools

import "testing"

func TestPageAddress(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"robot": "robot:8080", "robot:80": "robot:80", "::1": "[::1]:8080", "[::1]": "[::1]:8080", "[::1]:80": "[::1]:80",
	} {
		if got := PageAddress(address); got != want {
			t.Errorf("%s: %s, want %s", address, got, want)
		}
	}
}

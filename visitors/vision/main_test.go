package main

import (
	"slices"
	"strings"
	"testing"
)

// A camera is an address, or a command with flags of its own.
func TestParse(t *testing.T) {
	o, err := parse([]string{"-colors", "a.cfg", "-rate", "5", "http://127.0.0.1:8080/camera/front"})
	if err != nil || o.colors != "a.cfg" || o.source.Rate != 5 || o.source.Address != "http://127.0.0.1:8080/camera/front" || o.source.Command != nil {
		t.Errorf("%+v, %v", o, err)
	}
	o, err = parse([]string{"rpicam-vid", "-o", "-"})
	if err != nil || o.colors != "colors.cfg" || o.source.Address != "" || !slices.Equal(o.source.Command, []string{"rpicam-vid", "-o", "-"}) {
		t.Errorf("%+v, %v", o, err)
	}
	for args, want := range map[string]string{
		"":                        "needs the address",
		"-tls-key a http://a/":    "are for the page of -http",
		"-rate 0 cat":             "0.1 to 60",
		"-rate NaN cat":           "0.1 to 60",
		"http://a/ -colors a.cfg": "flags come before it",
	} {
		if _, err := parse(strings.Fields(args)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", args, err, want)
		}
	}
}

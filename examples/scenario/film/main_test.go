package main

import (
	"encoding/xml"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const building = "../building.world"

// record writes the files of a run: a leader that drives to the east, and two maps.
func record(t *testing.T, maps ...int) (directory string) {
	t.Helper()
	directory = t.TempDir()
	truth := "time_s,robot,x_m,y_m,heading_deg,speed_m_s\n"
	for i := range 9 {
		truth += fmt.Sprintf("%d,leader,%d,-3,0,1\n", 10+i, i-4)
	}
	if err := os.WriteFile(filepath.Join(directory, "truth.csv"), []byte(truth), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, seconds := range maps {
		img := image.NewGray(image.Rect(0, 0, 240, 180))
		img.SetGray(0, 0, color.Gray{uint8(seconds)})
		file, err := os.Create(filepath.Join(directory, fmt.Sprintf("map-%04d.png", seconds)))
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(png.Encode(file, img), file.Close()); err != nil {
			t.Fatal(err)
		}
	}
	return directory
}

func TestFilm(t *testing.T) {
	text, err := draw(building, record(t, 5, 13))
	if err != nil {
		t.Fatal(err)
	}
	for decoder := xml.NewDecoder(strings.NewReader(text)); ; {
		if _, err := decoder.Token(); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	for what, n := range map[string]int{"after 2 s": 1, "after 8 s": 1, "<image": 2 * frames,
		`points="-4.00,-3.00 -3.00,-3.00 -2.00,-3.00"`: 1, // the first quarter of the way
		`points="2.00,-3.00 3.00,-3.00 4.00,-3.00"`:    1, // the last one
	} {
		if got := strings.Count(text, what); got != n {
			t.Errorf("%q occurs %d times, want %d", what, got, n)
		}
	}
}

// Each picture has the newest map of its time, or the first one.
func TestMapAt(t *testing.T) {
	directory := record(t, 5, 13)
	for at, want := range map[float64]string{2: "map-0005.png", 12.9: "map-0005.png", 13: "map-0013.png", 99: "map-0013.png"} {
		if path, err := mapAt(directory, at); err != nil || filepath.Base(path) != want {
			t.Errorf("at %v s: %s, %v, want %s", at, path, err, want)
		}
	}
}

func TestMistakes(t *testing.T) {
	if _, err := draw(building, t.TempDir()); err == nil {
		t.Error("an empty directory: no error")
	}
	if _, err := draw(building, record(t)); err == nil {
		t.Error("no map: no error")
	}
	if _, err := draw("no.world", record(t, 5)); err == nil {
		t.Error("no world: no error")
	}
}

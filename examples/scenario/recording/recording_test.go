package recording

import (
	"image"
	"image/color"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"testing"
)

func near(a, b float64) bool { return math.Abs(a-b) < 1e-9 }

func TestTruth(t *testing.T) {
	path := filepath.Join(t.TempDir(), "truth.csv")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte("time_s,robot,x_m,y_m,heading_deg,speed_m_s\n"+text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	write("1.000,left,1,2,350,0.1\n1.050,right,0,0,0,0\n1.100,left,1.2,2.4,10,0.1\n")
	tracks, err := ReadTruth(path)
	if err != nil {
		t.Fatal(err)
	}
	if len(tracks["left"]) != 2 || len(tracks["right"]) != 1 {
		t.Fatalf("tracks %v", tracks)
	}
	for _, tt := range []struct {
		time float64
		want Sample
		ok   bool
	}{
		{1, Sample{1, 1, 2, 350}, true},
		{1.1, Sample{1.1, 1.2, 2.4, 10}, true},
		{1.075, Sample{1.075, 1.15, 2.3, 365}, true},
		{0.9, Sample{}, false},
		{1.2, Sample{}, false},
	} {
		got, ok := tracks["left"].At(tt.time)
		if ok != tt.ok || !near(got.Time, tt.want.Time) || !near(got.X, tt.want.X) || !near(got.Y, tt.want.Y) || !near(got.Heading, tt.want.Heading) {
			t.Errorf("at %v s: %v, %v, want %v, %v", tt.time, got, ok, tt.want, tt.ok)
		}
	}
	write("1.000,left,far,2,350,0.1\n")
	if _, err := ReadTruth(path); err == nil {
		t.Error("a word is read as a number")
	}
}

func TestMap(t *testing.T) {
	img := image.NewGray(image.Rect(0, 0, 4, 2))
	for i, grey := range []uint8{0, 128, 255, 255} {
		img.SetGray(i, 1, color.Gray{grey})
	}
	path := filepath.Join(t.TempDir(), "map.png")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := png.Encode(file, img); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	m, err := ReadMap(path)
	if err != nil {
		t.Fatal(err)
	}
	for column, want := range []Cell{Wall, Unknown, Free, Free, Unknown} {
		if got := m.At(column, 1); got != want {
			t.Errorf("cell %d is %v, want %v", column, got, want)
		}
	}
	if x, y := m.Center(0, 1); !near(x, -1.5*CellSize) || !near(y, -0.5*CellSize) {
		t.Errorf("the centre of the cell in the south-west is %v, %v", x, y)
	}
}

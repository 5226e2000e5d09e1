// Film draws a film strip of a run of the scenario, as SVG: the robots as the overhead
// cameras saw them, and below the map as it was known at that time.
//
//	go run ./examples/scenario/film DIRECTORY >strip.svg
//
// DIRECTORY is the run's (-out). The command is started in the root of the
// repository.
package main

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"log"
	"math"
	"os"
	"path/filepath"
	"strings"

	"player/devices/stage"
	"player/examples/scenario/recording"
)

const (
	world   = "examples/scenario/building.world"
	frames  = 4
	scale   = 24.0 // pixels per metre
	margin  = 10.0 // pixels around a picture
	caption = 24.0 // pixels for a line of text
)

func main() {
	log.SetFlags(0)
	if len(os.Args) != 2 {
		log.Fatal("usage: film DIRECTORY")
	}
	text, err := draw(world, os.Args[1])
	if err == nil {
		_, err = io.WriteString(os.Stdout, text)
	}
	if err != nil {
		log.Fatal("film: ", err)
	}
}

// strip is a film strip that is being drawn.
type strip struct {
	strings.Builder
	movers []stage.Model
	start  []stage.Pose // of the movers
	tracks map[string]recording.Track
}

// draw returns the strip of the run in a directory.
func draw(world, directory string) (string, error) {
	w, err := stage.Load(world)
	if err != nil {
		return "", err
	}
	tracks, err := recording.ReadTruth(filepath.Join(directory, "truth.csv"))
	if err != nil {
		return "", err
	}
	first, last := math.Inf(-1), math.Inf(1) // the time that all tracks cover
	for _, t := range tracks {
		first, last = max(first, t[0].Time), min(last, t[len(t)-1].Time)
	}
	if len(tracks) == 0 || first >= last {
		return "", errors.New("nothing is recorded")
	}
	plan := w.Plan()
	size := stage.Vec{X: float64(plan.Width) * plan.Resolution, Y: float64(plan.Height) * plan.Resolution}
	walls, err := encode(picture(plan))
	if err != nil {
		return "", err
	}

	s := &strip{movers: w.Movers(), start: w.AppendPoses(nil), tracks: tracks}
	column, row := size.X*scale+2*margin, size.Y*scale+2*margin
	s.add(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %.0f" width="%[1]g" font-family="Helvetica, Arial, sans-serif" font-size="15">`,
		frames*column, 2*row+caption)
	s.add(`<title>The building at %d times, and the map that was known then</title>`, frames)
	s.add(`<rect width="100%%" height="100%%" fill="#20242b"/>`)
	before := first
	for i := range frames {
		at := first + (last-first)*float64(i+1)/frames
		x := float64(i)*column + margin
		s.add(`<text x="%.0f" y="%.0f" fill="#ffffff">after %.0f s</text>`, x, caption-5, at-first)
		// In the groups the unit is the metre, and y is up.
		group := func(y float64) {
			s.add(`<g transform="translate(%.1f %.1f) scale(%g %g) translate(%g %g)">`, x, y, scale, -scale, -plan.Origin.X, -plan.Origin.Y-size.Y)
		}
		group(caption + margin)
		s.image(walls, plan.Origin, size)
		s.robots(before, at)
		s.add(`</g>`)

		name, err := mapAt(directory, at)
		if err != nil {
			return "", err
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return "", err
		}
		known, err := png.DecodeConfig(bytes.NewReader(text))
		if err != nil {
			return "", fmt.Errorf("%s: %w", name, err)
		}
		drawn := stage.Vec{X: float64(known.Width) * recording.CellSize, Y: float64(known.Height) * recording.CellSize}
		group(caption + row + margin)
		s.image(text, stage.Vec{X: -drawn.X / 2, Y: -drawn.Y / 2}, drawn)
		s.add(`</g>`)
		before = at
	}
	s.add(`</svg>`)
	return s.String(), nil
}

func (s *strip) add(format string, args ...any) { fmt.Fprintf(s, format+"\n", args...) }

// image draws a PNG picture. Pictures have y down.
func (s *strip) image(text []byte, origin, size stage.Vec) {
	s.add(`<image transform="translate(%g %g) scale(1 -1)" width="%g" height="%g" preserveAspectRatio="none" image-rendering="pixelated" href="data:image/png;base64,%s"/>`,
		origin.X, origin.Y+size.Y, size.X, size.Y, base64.StdEncoding.EncodeToString(text))
}

// robots draws the robots at a time, and their ways since an earlier time. A robot
// without a track is drawn at its start.
func (s *strip) robots(before, at float64) {
	for i, m := range s.movers {
		pose := s.start[i]
		track := s.tracks[m.Name]
		if now, ok := track.At(at); ok {
			pose = stage.Pose{X: now.X, Y: now.Y, Heading: now.Heading * math.Pi / 180}
		}
		var way strings.Builder
		for _, sample := range track {
			if sample.Time >= before && sample.Time <= at {
				fmt.Fprintf(&way, "%.2f,%.2f ", sample.X, sample.Y)
			}
		}
		for _, part := range m.Parts {
			s.add(`<polyline points="%s" fill="none" stroke="%v" stroke-opacity="0.5" stroke-width="0.06"/>`, strings.TrimSpace(way.String()), part.Color)
			for _, outline := range part.Outlines {
				s.add(`<polygon points="%s" fill="%v"/>`, points(outline, pose), part.Color)
			}
		}
	}
}

// points returns the corners of an outline in the frame of a pose.
func points(outline []stage.Vec, at stage.Pose) string {
	var b strings.Builder
	sin, cos := math.Sincos(at.Heading)
	for _, v := range outline {
		fmt.Fprintf(&b, "%.3f,%.3f ", at.X+v.X*cos-v.Y*sin, at.Y+v.X*sin+v.Y*cos)
	}
	return strings.TrimSpace(b.String())
}

// picture returns a floor plan: walls are dark.
func picture(p stage.Plan) image.Image {
	img := image.NewPaletted(image.Rect(0, 0, p.Width, p.Height), color.Palette{color.White, color.Gray{0x40}})
	for y := range p.Height {
		for x := range p.Width {
			if p.Wall(x, y) {
				img.SetColorIndex(x, p.Height-1-y, 1)
			}
		}
	}
	return img
}

func encode(img image.Image) ([]byte, error) {
	var b bytes.Buffer
	err := png.Encode(&b, img)
	return b.Bytes(), err
}

// mapAt returns the picture of the map that the mapper had written last at a time.
func mapAt(directory string, at float64) (path string, err error) {
	names, err := filepath.Glob(filepath.Join(directory, "map-*.png")) // sorted
	if err != nil {
		return "", err
	}
	for _, name := range names {
		var seconds int
		if _, err := fmt.Sscanf(filepath.Base(name), "map-%d.png", &seconds); err != nil {
			return "", fmt.Errorf("%s: %w", name, err)
		}
		if path == "" || float64(seconds) <= at {
			path = name
		}
	}
	if path == "" {
		return "", errors.New("there is no map")
	}
	return path, nil
}

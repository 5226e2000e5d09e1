package lab

import (
	"fmt"
	"math"
	"strings"

	"player/devices/stage"
)

// Figure is a picture of a run from above, as in the article: the path of the
// robot, in the colours of the layers that won.
type Figure struct {
	Title  string
	Layers []Legend // in the order of the legend
	Marks  []Mark
	Goals  []stage.Vec // places that the robot was sent to, m
	// ByRobot gives every robot its own colour. Otherwise the colours are
	// the layers', and the figure shows the first robot.
	ByRobot bool
}

// Legend explains the colour of a layer.
type Legend struct {
	Layer, Meaning string
}

// Mark is a label on the floor.
type Mark struct {
	X, Y float64 // m
	Text string
}

// colorOf returns the colour of a layer, as in the article's figure if it
// has one.
func colorOf(layer string) string {
	switch layer {
	case "photo":
		return "#f4b400"
	case "ir":
		return "#d7263d"
	case "bump":
		return "#1f5fd6"
	case "sonar", "obstacle":
		return "#2a9d5c"
	case "escape":
		return "#8e3bc4"
	case "perimeter":
		return "#0aa6b5"
	case "xlate":
		return "#e56bb0"
	}
	return "#20242b" // prowl, cruise
}

// hue returns one of n colours.
func hue(i, n int) string { return fmt.Sprintf("hsl(%d,65%%,45%%)", 360*i/n) }

const (
	perMetre = 100.0 // pixels
	margin   = 24.0  // pixels around the world
	header   = 34.0  // pixels for the title
	lineRow  = 22.0  // pixels per row of the legend
	// spacing is the distance of two dots on the path, m: at full speed six
	// dots a second.
	spacing = 0.05
)

// drawing is an SVG being written, in the world's frame.
type drawing struct {
	strings.Builder
	left, top float64 // of the world, m
}

func (d *drawing) x(m float64) float64 { return margin + (m-d.left)*perMetre }
func (d *drawing) y(m float64) float64 { return margin + header + (d.top-m)*perMetre }

func (d *drawing) add(format string, args ...any) { fmt.Fprintf(d, format+"\n", args...) }

// Draw returns the figure of a finished run, as SVG.
func (f Figure) Draw(l *Lab) string {
	low, high := extent(l.World)
	d := &drawing{left: low.X, top: high.Y}
	width := 2*margin + (high.X-low.X)*perMetre
	floor := 2*margin + header + (high.Y-low.Y)*perMetre
	height := floor + lineRow*float64(len(f.Layers)+1) + margin/2
	d.add(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %.0f" width="%.0f" font-family="Helvetica, Arial, sans-serif">`, width, height, width)
	d.add(`<title>%s</title>`, f.Title)
	d.add(`<rect width="100%%" height="100%%" fill="#ffffff"/>`)
	d.add(`<text x="%.0f" y="%.0f" font-size="17" font-weight="bold" fill="#20242b">%s</text>`, margin, margin+8, f.Title)
	d.add(`<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="#f7f5f0"/>`, d.x(low.X), d.y(high.Y), (high.X-low.X)*perMetre, (high.Y-low.Y)*perMetre)
	for _, model := range l.World.Fixtures() {
		d.fixture(model)
	}
	for i, model := range l.World.Movers() {
		if i < len(l.Robots) {
			color := "" // dots in the colours of the layers
			switch {
			case f.ByRobot:
				color = hue(i, len(l.Robots))
			case i > 0:
				color = "#b9bec6"
			}
			d.robot(model, l.Robots[i], color)
		}
	}
	for i, goal := range f.Goals {
		d.goal(goal, i+1, len(f.Goals))
	}
	for _, m := range f.Marks {
		d.mark(m)
	}
	d.legend(f.Layers, floor, high.X)
	d.add(`</svg>`)
	return d.String()
}

// extent returns the rectangle around everything that never moves, m.
func extent(w *stage.World) (low, high stage.Vec) {
	low, high = stage.Vec{X: math.Inf(1), Y: math.Inf(1)}, stage.Vec{X: math.Inf(-1), Y: math.Inf(-1)}
	for _, model := range w.Fixtures() {
		for _, part := range model.Parts {
			for _, outline := range part.Outlines {
				for _, v := range outline {
					low = stage.Vec{X: min(low.X, v.X), Y: min(low.Y, v.Y)}
					high = stage.Vec{X: max(high.X, v.X), Y: max(high.Y, v.Y)}
				}
			}
		}
	}
	return low, high
}

// overhead is the height in metres above which a robot passes under things.
const overhead = 0.3

func (d *drawing) fixture(model stage.Model) {
	for _, part := range model.Parts {
		for _, outline := range part.Outlines {
			switch {
			case model.Name == "light":
				d.sun(outline)
			case part.Bottom > overhead:
				d.add(`<polygon points="%s" fill="none" stroke="%v" stroke-width="1.5" stroke-dasharray="5 4"/>`, d.points(outline, stage.Pose{}), part.Color)
			default:
				opacity := 1.0
				if part.Top < 0.5 {
					opacity = 0.75 // the robot can look over it
				}
				d.add(`<polygon points="%s" fill="%v" fill-opacity="%g"/>`, d.points(outline, stage.Pose{}), part.Color, opacity)
			}
		}
	}
}

// sun draws a light on the ceiling.
func (d *drawing) sun(outline []stage.Vec) {
	var x, y float64
	for _, v := range outline {
		x, y = x+v.X/float64(len(outline)), y+v.Y/float64(len(outline))
	}
	d.add(`<g transform="translate(%.1f %.1f)" stroke="#e8a200" stroke-width="3" stroke-linecap="round">`, d.x(x), d.y(y))
	for i := range 12 {
		sin, cos := math.Sincos(float64(i) * math.Pi / 6)
		d.add(`<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f"/>`, 17*cos, 17*sin, 25*cos, 25*sin)
	}
	d.add(`<circle r="12" fill="#ffd54a"/></g>`)
}

// points transforms an outline in the frame of a pose to picture coordinates.
func (d *drawing) points(outline []stage.Vec, at stage.Pose) string {
	var b strings.Builder
	sin, cos := math.Sincos(at.Heading)
	for _, v := range outline {
		fmt.Fprintf(&b, "%.1f,%.1f ", d.x(at.X+v.X*cos-v.Y*sin), d.y(at.Y+v.X*sin+v.Y*cos))
	}
	return strings.TrimSpace(b.String())
}

// robot draws a robot's start, path and end: the path as a line of the given
// colour, or, without one, as dots in the colours of the layers.
func (d *drawing) robot(model stage.Model, r *Robot, color string) {
	if len(r.Track) == 0 {
		d.hull(model, r.Pose(), "#9aa0a8", 0.9)
		return
	}
	d.hull(model, r.Track[0].Pose, "#9aa0a8", 0.25)
	var line strings.Builder
	last := stage.Pose{X: math.Inf(1)}
	for _, step := range r.Track {
		if math.Hypot(step.Pose.X-last.X, step.Pose.Y-last.Y) < spacing {
			continue
		}
		last = step.Pose
		if color == "" {
			d.add(`<circle cx="%.1f" cy="%.1f" r="3.4" fill="%s"/>`, d.x(last.X), d.y(last.Y), colorOf(step.Layer))
		}
		fmt.Fprintf(&line, "%.0f,%.0f ", d.x(last.X), d.y(last.Y))
	}
	if color != "" {
		d.add(`<polyline points="%s" fill="none" stroke="%s" stroke-width="2.5"/>`, strings.TrimSpace(line.String()), color)
	}
	d.hull(model, r.Pose(), "#20242b", 0.55)
}

func (d *drawing) hull(model stage.Model, at stage.Pose, color string, opacity float64) {
	for _, part := range model.Parts {
		for _, outline := range part.Outlines {
			d.add(`<polygon points="%s" fill="%s" fill-opacity="%.2f" stroke="%[2]s" stroke-width="1"/>`, d.points(outline, at), color, opacity)
		}
	}
	sin, cos := math.Sincos(at.Heading)
	d.add(`<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="#ffffff" stroke-width="2"/>`,
		d.x(at.X), d.y(at.Y), d.x(at.X+0.16*cos), d.y(at.Y+0.16*sin))
}

func (d *drawing) goal(at stage.Vec, number, of int) {
	d.add(`<g transform="translate(%.1f %.1f)" fill="none" stroke="#c2410c" stroke-width="2"><circle r="9"/><path d="M-14 0H14M0 -14V14"/></g>`, d.x(at.X), d.y(at.Y))
	if of > 1 {
		d.add(`<text x="%.1f" y="%.1f" font-size="14" font-weight="bold" fill="#c2410c">%d</text>`, d.x(at.X)+11, d.y(at.Y)-11, number)
	}
}

func (d *drawing) mark(m Mark) {
	d.add(`<g transform="translate(%.1f %.1f)"><circle r="10" fill="#ffffff" stroke="#20242b"/><text y="4.5" font-size="13" text-anchor="middle" fill="#20242b">%s</text></g>`, d.x(m.X), d.y(m.Y), m.Text)
}

// legend draws the meaning of the colours, and a scale of one metre.
func (d *drawing) legend(layers []Legend, y, right float64) {
	d.add(`<g font-size="14" fill="#20242b">`)
	for i, l := range layers {
		row := y + lineRow*float64(i) + 6
		d.add(`<circle cx="%.0f" cy="%.1f" r="6" fill="%s"/>`, margin+8, row, colorOf(l.Layer))
		d.add(`<text x="%.0f" y="%.1f"><tspan font-weight="bold">%s</tspan> <tspan dx="4">%s</tspan></text>`, margin+24, row+5, l.Layer, l.Meaning)
	}
	x, row := d.x(right)-perMetre, y+6
	d.add(`<path d="M%.1f %.1fv-4v8v-4h%.0fv-4v8" fill="none" stroke="#20242b" stroke-width="1.5"/>`, x, row, perMetre)
	d.add(`<text x="%.1f" y="%.1f" text-anchor="middle">1 m</text></g>`, x+perMetre/2, row+19)
}

package main

import (
	"errors"
	"fmt"
	"image/color"
	"os"
	"path/filepath"
	"time"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"

	"player/bench/stats"
)

// The files of the plots.
const (
	figure3   = "figure3.svg"
	agePlot   = "age.svg"
	scalePlot = "scale.svg"
)

// Colours that colour-blind readers can tell apart.
var (
	blue  = color.RGBA{0, 114, 178, 255}
	red   = color.RGBA{213, 94, 0, 255}
	green = color.RGBA{0, 158, 115, 255}
	gray  = color.RGBA{110, 110, 110, 255}
)

// look is how a curve is drawn.
type look struct {
	color  color.Color
	width  vg.Length
	dashed bool
	marks  bool // at its points
}

const thinCurve = vg.Length(1.3)

// rates are the rates of the paper, each with its colour and width: on a full
// network the curves of 10 and 50 Hz lie on top of each other.
var rates = []struct {
	hz int
	look
}{{1, look{color: green, width: thinCurve}}, {10, look{color: blue, width: 3.5}}, {50, look{color: red, width: thinCurve}}}

// plots writes all plots.
func (r *results) plots(dir string) error {
	for name, panels := range map[string][]*panel{figure3: r.figure3(), agePlot: r.age(), scalePlot: r.scale()} {
		if err := tile(filepath.Join(dir, name), panels); err != nil {
			return fmt.Errorf("plot %s: %w", name, err)
		}
	}
	return nil
}

// tile draws panels side by side into a file.
func tile(path string, panels []*panel) error {
	const width, height = 9 * vg.Centimeter, 7.5 * vg.Centimeter
	c := vgsvg.New(width*vg.Length(len(panels)), height)
	tiles := draw.Tiles{Rows: 1, Cols: len(panels), PadX: vg.Millimeter * 4, PadTop: vg.Millimeter * 2, PadBottom: vg.Millimeter, PadLeft: vg.Millimeter, PadRight: vg.Millimeter * 2}
	canvas := draw.New(c)
	canvas.SetColor(color.White)
	canvas.Fill(canvas.Rectangle.Path())
	for i, p := range panels {
		if p.err != nil {
			return p.err
		}
		p.Draw(tiles.At(canvas, i, 0))
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	_, err = c.WriteTo(f)
	return errors.Join(err, f.Close())
}

// panel is one plot of a file.
type panel struct {
	*plot.Plot
	err error // of its first curve that could not be drawn
}

// newPanel is an empty plot from one corner to another, with logarithmic axes where asked
// for. A logarithmic axis takes no zero.
func newPanel(title, x, y string, logX, logY bool, from, to plotter.XY) *panel {
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = title, x, y
	p.Title.TextStyle.Font.Size, p.Legend.TextStyle.Font.Size = vg.Points(11), vg.Points(8)
	for axis, log := range map[*plot.Axis]bool{&p.X: logX, &p.Y: logY} {
		if log {
			axis.Scale, axis.Tick.Marker = plot.LogScale{}, plot.LogTicks{Prec: -1}
		}
	}
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = from.X, to.X, from.Y, to.Y
	p.Legend.Top, p.Legend.Left = true, true
	grid := plotter.NewGrid()
	grid.Horizontal.Color, grid.Vertical.Color = color.Gray{225}, color.Gray{225}
	p.Add(grid)
	return &panel{Plot: p}
}

// curve adds a curve, with a name for the legend if it is not empty. One without points
// is left out.
func (p *panel) curve(name string, points plotter.XYs, l look) {
	if len(points) == 0 || p.err != nil {
		return
	}
	line, err := plotter.NewLine(points)
	if err != nil {
		p.err = err
		return
	}
	line.Color, line.Width = l.color, l.width
	if l.dashed {
		line.Dashes = []vg.Length{vg.Points(4), vg.Points(3)}
	}
	p.Add(line)
	if name != "" {
		p.Legend.Add(name, line)
	}
	if l.marks {
		p.marks("", points, draw.GlyphStyle{Color: l.color, Shape: draw.CircleGlyph{}, Radius: vg.Points(2)})
	}
}

// marks adds points without a curve.
func (p *panel) marks(name string, points plotter.XYs, g draw.GlyphStyle) {
	s, err := plotter.NewScatter(points)
	if err != nil {
		p.err = err
		return
	}
	s.GlyphStyle = g
	p.Add(s)
	if name != "" {
		p.Legend.Add(name, s)
	}
}

func millis(v float64) float64 { return v / float64(time.Millisecond) }

// wireless is a cell of the paper's figure 3, and its first run, nil if there is none.
func (r *results) wireless(clients, hz int) (*cellResult, *run) {
	c := r.find(fmt.Sprintf("paper/802.11/%dx%dHz/807", clients, hz))
	for _, first := range c.of(player) {
		return c, &first
	}
	return c, nil
}

// shares is the curve of a distribution of what is added to a time, in ms. With steps it
// stays until the next point.
func (p *panel) shares(points []stats.Point, add time.Duration, steps bool) (xy plotter.XYs) {
	last := 0.0
	for _, at := range points {
		x := max(millis(float64(at.Value+add)), p.X.Min)
		if steps {
			xy = append(xy, plotter.XY{X: x, Y: last})
		}
		xy = append(xy, plotter.XY{X: x, Y: at.Share})
		last = at.Share
	}
	return xy
}

// figure3 redraws the paper's figure: the time between frames for 1, 10 and 50
// clients on 802.11.
func (r *results) figure3() (panels []*panel) {
	for _, clients := range []int{1, 10, 50} {
		p := newPanel(fmt.Sprintf("%d client(s), 807 bytes, 802.11", clients), "time between frames, ms", "share of frames", true, false, plotter.XY{X: 5}, plotter.XY{X: 2000, Y: 1})
		for _, rt := range rates {
			if _, run := r.wireless(clients, rt.hz); run != nil {
				period := time.Second / time.Duration(rt.hz)
				p.curve(fmt.Sprintf("%d Hz", rt.hz), p.shares(run.Load.Groups[0].IntervalCDF, period, true), rt.look)
			}
		}
		panels = append(panels, p)
	}
	return panels
}

// age draws the age of the clients' data over their number, and its distribution
// for fifty clients.
func (r *results) age() []*panel {
	over := newPanel("Age, 802.11, 807 bytes: mean, p99 dashed", "clients", "ms", true, true, plotter.XY{X: 1, Y: 5}, plotter.XY{X: 60, Y: 2000})
	spread := newPanel("Its distribution with 50 clients", "age, ms", "share of time", true, false, plotter.XY{X: 5}, plotter.XY{X: 2000, Y: 1})
	var floors plotter.XYs
	for _, rt := range rates {
		var mean, p99 plotter.XYs
		for _, clients := range []int{1, 10, 50} {
			c, run := r.wireless(clients, rt.hz)
			if run == nil {
				continue
			}
			point := func(age float64) plotter.XY {
				return plotter.XY{X: float64(clients), Y: max(millis(age), over.Y.Min)}
			}
			m, _ := c.median(player, ageMean)
			q, _ := c.median(player, ageP99)
			mean, p99 = append(mean, point(m)), append(p99, point(q))
			if !c.fits() {
				floors = append(floors, point(float64(c.ageFloor())))
			}
			if clients == 50 {
				spread.curve(fmt.Sprintf("%d Hz", rt.hz), spread.shares(run.Load.Groups[0].AgeCDF, 0, false), rt.look)
			}
		}
		over.curve(fmt.Sprintf("%d Hz", rt.hz), mean, look{rt.color, rt.width, false, true})
		over.curve("", p99, look{rt.color, rt.width, true, true})
	}
	if len(floors) > 0 {
		over.marks("floor of the mean", floors, draw.GlyphStyle{Color: gray, Shape: draw.CrossGlyph{}, Radius: vg.Points(4)})
	}
	return []*panel{over, spread}
}

// scale draws CPU time, interval errors and memory over the load.
func (r *results) scale() []*panel {
	cost := newPanel("CPU a frame (dashed: 1 and 50 Hz)", "frames/s asked", "us", true, false, plotter.XY{X: 50}, plotter.XY{X: 500_000})
	late := newPanel("p99 interval error", "frames/s asked", "ms", true, true, plotter.XY{X: 50, Y: 0.01}, plotter.XY{X: 500_000, Y: 1000})
	size := newPanel("Memory", "clients", "RSS, MiB", true, true, plotter.XY{X: 50, Y: 1}, plotter.XY{X: 10_000, Y: 200})
	cost.Legend.Left = false
	for _, s := range []struct {
		server server
		color  color.Color
	}{{player, blue}, {floor, gray}, {threads, red}} {
		for _, rt := range rates {
			var c1, c2, c3 plotter.XYs
			for _, clients := range []int{50, 500, 5000, 10000} {
				c := r.find(fmt.Sprintf("scale/%dx%dHz", clients, rt.hz))
				if len(c.of(s.server)) == 0 {
					continue
				}
				get := func(f func(run) float64) float64 { v, _ := c.median(s.server, f); return v }
				asked := float64(c.asked())
				c1 = append(c1, plotter.XY{X: asked, Y: get(cpuOfFrame)})
				c2 = append(c2, plotter.XY{X: asked, Y: max(millis(get(intervalP99)), late.Y.Min)})
				c3 = append(c3, plotter.XY{X: float64(clients), Y: get(rss) / mib})
			}
			name, drawn := string(s.server), look{s.color, thinCurve, false, true}
			if rt.hz == 10 { // one legend entry for the three rates
				size.curve(name, c3, drawn)
			} else {
				name, drawn.dashed = "", true
			}
			cost.curve(name, c1, drawn)
			late.curve(name, c2, drawn)
		}
	}
	return []*panel{cost, late, size}
}

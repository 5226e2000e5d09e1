package main

import (
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

const thinCurve = vg.Length(1.3)

var (
	solid  []vg.Length
	dashed = []vg.Length{vg.Points(4), vg.Points(3)}
)

// rates are the rates of the paper, each with its colour and width: on a full
// link the curves of 10 and 50 Hz lie on top of each other.
var rates = []struct {
	hz    int
	color color.Color
	width vg.Length
}{{1, green, 1.3}, {10, blue, 3.5}, {50, red, 1.3}}

// plots writes all plots.
func (r *results) plots(dir string) error {
	for name, draw := range map[string]func() ([]*plot.Plot, error){figure3: r.figure3, agePlot: r.age, scalePlot: r.scale} {
		panels, err := draw()
		if err == nil {
			err = tile(filepath.Join(dir, name), panels)
		}
		if err != nil {
			return fmt.Errorf("plot %s: %w", name, err)
		}
	}
	return nil
}

// tile draws panels side by side into a file.
func tile(path string, panels []*plot.Plot) error {
	const width, height = 9 * vg.Centimeter, 7.5 * vg.Centimeter
	c := vgsvg.New(width*vg.Length(len(panels)), height)
	tiles := draw.Tiles{Rows: 1, Cols: len(panels), PadX: vg.Millimeter * 4, PadTop: vg.Millimeter * 2, PadBottom: vg.Millimeter, PadLeft: vg.Millimeter, PadRight: vg.Millimeter * 2}
	canvas := draw.New(c)
	canvas.SetColor(color.White)
	canvas.Fill(canvas.Rectangle.Path())
	for i, p := range panels {
		p.Draw(tiles.At(canvas, i, 0))
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	if _, err := c.WriteTo(f); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}

// panel is an empty plot with logarithmic axes where asked for.
func panel(title, x, y string, logX, logY bool) *plot.Plot {
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = title, x, y
	p.Title.TextStyle.Font.Size, p.Legend.TextStyle.Font.Size = vg.Points(11), vg.Points(8)
	if logX {
		p.X.Scale, p.X.Tick.Marker = plot.LogScale{}, plot.LogTicks{Prec: -1}
	}
	if logY {
		p.Y.Scale, p.Y.Tick.Marker = plot.LogScale{}, plot.LogTicks{Prec: -1}
	}
	p.Legend.Top, p.Legend.Left = true, true
	grid := plotter.NewGrid()
	grid.Horizontal.Color, grid.Vertical.Color = color.Gray{225}, color.Gray{225}
	p.Add(grid)
	return p
}

// curve adds a curve; an empty one is left out. A log axis takes no zero.
func curve(p *plot.Plot, name string, points plotter.XYs, c color.Color, width vg.Length, dashes []vg.Length, marks bool) error {
	if len(points) == 0 {
		return nil
	}
	l, err := plotter.NewLine(points)
	if err != nil {
		return err
	}
	l.Color, l.Dashes, l.Width = c, dashes, width
	p.Add(l)
	if name != "" {
		p.Legend.Add(name, l)
	}
	if marks {
		s, err := plotter.NewScatter(points)
		if err != nil {
			return err
		}
		s.Color, s.Shape, s.Radius = c, draw.CircleGlyph{}, vg.Points(2)
		p.Add(s)
	}
	return nil
}

func millis(v float64) float64 { return v / float64(time.Millisecond) }

// figure3 redraws the paper's figure: the time between frames for 1, 10 and 50
// clients on 802.11.
func (r *results) figure3() ([]*plot.Plot, error) {
	var panels []*plot.Plot
	for _, clients := range []int{1, 10, 50} {
		p := panel(fmt.Sprintf("%d client(s), 807 bytes, 802.11", clients), "time between frames, ms", "share of frames", true, false)
		p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = 5, 2000, 0, 1
		for _, rt := range rates {
			c := r.find(fmt.Sprintf("paper/802.11/%dx%dHz/807", clients, rt.hz))
			if len(c.of(player)) == 0 {
				continue
			}
			period := time.Second / time.Duration(rt.hz)
			var points plotter.XYs
			last := 0.0
			for _, at := range c.of(player)[0].Load.Groups[0].IntervalCDF {
				x := max(millis(float64(at.Value+period)), p.X.Min)
				points = append(points, plotter.XY{X: x, Y: last}, plotter.XY{X: x, Y: at.Share})
				last = at.Share
			}
			if err := curve(p, fmt.Sprintf("%d Hz", rt.hz), points, rt.color, rt.width, solid, false); err != nil {
				return nil, err
			}
		}
		panels = append(panels, p)
	}
	return panels, nil
}

// age draws the age of the clients' data over their number, and its distribution
// for fifty clients.
func (r *results) age() ([]*plot.Plot, error) {
	over := panel("Age, 802.11, 807 bytes: mean, p99 dashed", "clients", "ms", true, true)
	over.X.Min, over.X.Max, over.Y.Min, over.Y.Max = 1, 60, 5, 2000
	spread := panel("Its distribution with 50 clients", "age, ms", "share of time", true, false)
	spread.X.Min, spread.X.Max, spread.Y.Min, spread.Y.Max = 5, 2000, 0, 1
	var floors plotter.XYs
	for _, rt := range rates {
		var mean, p99 plotter.XYs
		for _, clients := range []int{1, 10, 50} {
			c := r.find(fmt.Sprintf("paper/802.11/%dx%dHz/807", clients, rt.hz))
			if len(c.of(player)) == 0 {
				continue
			}
			m, _ := c.median(player, ageMean)
			q, _ := c.median(player, ageP99)
			mean = append(mean, plotter.XY{X: float64(clients), Y: max(millis(m), over.Y.Min)})
			p99 = append(p99, plotter.XY{X: float64(clients), Y: max(millis(q), over.Y.Min)})
			if !c.fits() {
				floors = append(floors, plotter.XY{X: float64(clients), Y: millis(float64(c.ageFloor()))})
			}
			if clients == 50 {
				var points plotter.XYs
				for _, at := range c.of(player)[0].Load.Groups[0].AgeCDF {
					points = append(points, plotter.XY{X: max(millis(float64(at.Value)), spread.X.Min), Y: at.Share})
				}
				if err := curve(spread, fmt.Sprintf("%d Hz", rt.hz), points, rt.color, rt.width, solid, false); err != nil {
					return nil, err
				}
			}
		}
		if err := curve(over, fmt.Sprintf("%d Hz", rt.hz), mean, rt.color, rt.width, solid, true); err != nil {
			return nil, err
		}
		if err := curve(over, "", p99, rt.color, rt.width, dashed, true); err != nil {
			return nil, err
		}
	}
	if len(floors) > 0 {
		s, err := plotter.NewScatter(floors)
		if err != nil {
			return nil, err
		}
		s.Color, s.Shape, s.Radius = gray, draw.CrossGlyph{}, vg.Points(4)
		over.Add(s)
		over.Legend.Add("floor of the mean", s)
	}
	return []*plot.Plot{over, spread}, nil
}

// scale draws CPU time, interval errors and memory over the load.
func (r *results) scale() ([]*plot.Plot, error) {
	cost := panel("CPU a frame (dashed: 1 and 50 Hz)", "frames/s asked", "us", true, false)
	late := panel("p99 interval error", "frames/s asked", "ms", true, true)
	size := panel("Memory", "clients", "RSS, MiB", true, true)
	cost.Legend.Left, cost.Y.Min = false, 0
	late.Y.Min, late.Y.Max, size.Y.Min, size.Y.Max = 0.01, 1000, 1, 200
	cost.X.Min, cost.X.Max, late.X.Min, late.X.Max, size.X.Min, size.X.Max = 50, 500_000, 50, 500_000, 50, 10_000
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
				c2 = append(c2, plotter.XY{X: asked, Y: max(millis(get(intervalP99)), 0.01)})
				c3 = append(c3, plotter.XY{X: float64(clients), Y: get(rss) / mib})
			}
			name, dashes := string(s.server), solid
			if rt.hz != 10 { // one legend entry for the three rates
				name, dashes = "", dashed
			}
			if err := curve(cost, name, c1, s.color, thinCurve, dashes, true); err != nil {
				return nil, err
			}
			if err := curve(late, name, c2, s.color, thinCurve, dashes, true); err != nil {
				return nil, err
			}
			if rt.hz == 10 {
				if err := curve(size, name, c3, s.color, thinCurve, solid, true); err != nil {
					return nil, err
				}
			}
		}
	}
	return []*plot.Plot{cost, late, size}, nil
}

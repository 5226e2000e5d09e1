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

// figure3 is the file with the paper's figure: the time between frames for 1, 10 and 50
// clients on 802.11.
const figure3 = "figure3.svg"

// rates are the rates of the paper, each with a colour that colour-blind readers can
// distinguish, and a width: on a full network the curves of 10 and 50 Hz lie on top of each other.
var rates = []struct {
	hz    int
	color color.Color
	width vg.Length
}{{1, color.RGBA{0, 158, 115, 255}, 1.3}, {10, color.RGBA{0, 114, 178, 255}, 3.5}, {50, color.RGBA{213, 94, 0, 255}, 1.3}}

// drawFigure3 redraws the figure, a panel for each number of clients.
func (r *results) drawFigure3(dir string) error {
	const width, height = 9 * vg.Centimeter, 7.5 * vg.Centimeter
	panels := []int{1, 10, 50}
	c := vgsvg.New(width*vg.Length(len(panels)), height)
	tiles := draw.Tiles{Rows: 1, Cols: len(panels), PadX: vg.Millimeter * 4, PadTop: vg.Millimeter * 2, PadBottom: vg.Millimeter, PadLeft: vg.Millimeter, PadRight: vg.Millimeter * 2}
	canvas := draw.New(c)
	canvas.SetColor(color.White)
	canvas.Fill(canvas.Rectangle.Path())
	for i, clients := range panels {
		p, err := r.panel(clients)
		if err != nil {
			return fmt.Errorf("plot %s: %w", figure3, err)
		}
		p.Draw(tiles.At(canvas, i, 0))
	}
	f, err := os.Create(filepath.Join(dir, figure3))
	if err != nil {
		return err
	}
	_, err = c.WriteTo(f)
	return errors.Join(err, f.Close())
}

// panel draws the distributions of the time between frames, one for each rate that was
// measured.
func (r *results) panel(clients int) (*plot.Plot, error) {
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = fmt.Sprintf("%d client(s), 807 bytes, 802.11", clients), "time between frames, ms", "share of frames"
	p.Title.TextStyle.Font.Size, p.Legend.TextStyle.Font.Size = vg.Points(11), vg.Points(8)
	p.X.Scale, p.X.Tick.Marker = plot.LogScale{}, plot.LogTicks{Prec: -1} // it takes no zero
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = 5, 2000, 0, 1
	p.Legend.Top, p.Legend.Left = true, true
	grid := plotter.NewGrid()
	grid.Horizontal.Color, grid.Vertical.Color = color.Gray{225}, color.Gray{225}
	p.Add(grid)
	for _, rate := range rates {
		runs := r.find(fmt.Sprintf("paper/802.11/%dx%dHz/807", clients, rate.hz)).of(player)
		if len(runs) == 0 {
			continue
		}
		line, err := plotter.NewLine(steps(runs[0].Load.Groups[0].IntervalCDF, time.Second/time.Duration(rate.hz), p.X.Min))
		if err != nil {
			return nil, err
		}
		line.Color, line.Width = rate.color, rate.width
		p.Add(line)
		p.Legend.Add(fmt.Sprintf("%d Hz", rate.hz), line)
	}
	return p, nil
}

// steps is the curve of a distribution of deviations from a period, in ms: it stays until
// the next point.
func steps(points []stats.Point, period time.Duration, least float64) (xy plotter.XYs) {
	last := 0.0
	for _, at := range points {
		x := max(float64(at.Value+period)/float64(time.Millisecond), least)
		xy = append(xy, plotter.XY{X: x, Y: last}, plotter.XY{X: x, Y: at.Share})
		last = at.Share
	}
	return xy
}

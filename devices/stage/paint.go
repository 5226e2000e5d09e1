package stage

import (
	"fmt"
	"slices"
)

// unpainted is the look of the world at its start. Parts, figures and pictures are constant, because cameras draw them in
// goroutines of their own: paint replaces them.
type unpainted struct {
	bodies   map[*body][]part
	scenery  []figure
	pictures []*picture
}

// Paint gives robots, things and fixtures another colour, each by its name: "#rrggbb" or the name of a colour, as in a
// world file. Either all are painted or none. The colour tracker reports them in the channel of that colour, unless the
// world file names another. Parts that are mounted on a thing keep their colours. Reset undoes it.
func (w *World) Paint(colors map[string]string) error {
	all, palette := slices.Concat(w.fixtures, w.bodies), shades()
	paints := map[string]shade{}
	for name, color := range colors {
		paint, err := palette.resolve(color)
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(all, func(b *body) bool { return b.name == name }) {
			return fmt.Errorf("there is no robot and no thing of the name %.40q", name)
		}
		paints[name] = paint
	}
	for _, b := range all {
		if paint, ok := paints[b.name]; ok {
			w.paint(b, paint)
		}
	}
	return nil
}

func (w *World) paint(b *body, paint shade) {
	if w.unpainted == nil {
		w.unpainted = &unpainted{map[*body][]part{}, w.scenery, w.pictures}
	}
	if _, painted := w.unpainted.bodies[b]; !painted {
		w.unpainted.bodies[b] = b.parts
	}
	before := b.parts
	b.parts = slices.Clone(before)
	for i := range b.parts[:b.own] {
		b.parts[i].paint(paint)
	}
	if i := slices.Index(w.fixtures, b); i >= 0 {
		w.scenery, w.pictures = slices.Clone(w.scenery), slices.Clone(w.pictures)
		w.scenery[i].parts = b.parts
		for k, p := range w.pictures {
			for i := range before {
				if p.part == &before[i] {
					w.pictures[k] = &picture{&b.parts[i], p.cells}
				}
			}
		}
	}
}

// paint changes the colour, and with it the channel unless that is kept.
func (m *material) paint(with shade) {
	if m.color = with.Color; !m.kept {
		m.channel = with.channel
	}
}

// unpaint gives everything the colour that it had at the start.
func (w *World) unpaint() {
	if w.unpainted == nil {
		return
	}
	for b, parts := range w.unpainted.bodies {
		b.parts = parts
	}
	w.scenery, w.pictures, w.unpainted = w.unpainted.scenery, w.unpainted.pictures, nil
}

package main

import (
	"cmp"
	_ "embed"
	"slices"

	"player/e2e/strangers"
)

// row is the subject of a line of a table: a server in a cell, perhaps one group of its
// clients.
type row struct {
	*cellResult
	results *results
	Name    string // the cell's, without the words that the whole table shares
	Label   string
	Server  server
	Group   int
	grouped bool // the clients' figures are of Group only
}

// row is one cell, without runs if it was not measured.
func (r *results) row(cell string) row {
	return row{cellResult: r.find(cell), results: r, Name: cell, Server: player}
}

// rows are the cells that were measured and whose names begin with a prefix.
func (r *results) rows(prefix string) (all []row) {
	for name := range r.measured(prefix) {
		all = append(all, r.row(prefix+name).named(name))
	}
	return all
}

func (w row) named(name string) row     { w.Name = name; return w }
func (w row) labelled(label string) row { w.Label = label; return w }
func (w row) at(s server) row           { w.Server = s; return w }

// ran are the rows whose cells were measured.
func ran(rows []row) []row {
	return slices.DeleteFunc(rows, func(w row) bool { return w.Runs == nil })
}

// byServer makes a row for each server of each row.
func byServer(rows []row) (all []row) {
	for _, w := range rows {
		for _, s := range w.servers() {
			all = append(all, w.at(s))
		}
	}
	return all
}

// byGroup makes a row for each group of clients of each row.
func byGroup(rows []row) (all []row) {
	for _, w := range rows {
		for w.Group = range w.Groups {
			w.grouped = true
			all = append(all, w)
		}
	}
	return all
}

// once is the name, empty below the cell's first row.
func (w row) once() string {
	if w.Group > 0 || w.Server != w.servers()[0] {
		return ""
	}
	return w.Name
}

// show writes the median of a figure, or its text.
func (w row) show(f figure) string {
	if f.text != nil {
		return f.text(w)
	}
	if v, ok := w.value(f); ok {
		return f.write(v)
	}
	return "-"
}

// has reports whether a figure was measured for the row.
func (w row) has(f figure) bool {
	_, ok := w.value(f)
	return ok
}

// value is the median of a figure over the runs of the row's server. ok is false if there are none, or if one of
// them has no number.
func (w row) value(f figure) (v float64, ok bool) {
	return w.median(w.Server, func(r run) float64 {
		if w.grouped {
			of := *r.Load
			of.Groups = of.Groups[w.Group : w.Group+1]
			r.Load = &of
		}
		return f.of(w, r)
	})
}

// ofEachViewer is the CPU time of the cell's strangers, each one's part of the increase
// that they cause.
func (w row) ofEachViewer() string {
	if w.Strangers == nobody {
		return ""
	}
	return w.show(ofEach(cpuShare))
}

// strangersIn is how many strangers do some work.
func strangersIn(work string) int {
	for _, p := range strangers.All() {
		if p.Name == work {
			return p.Count
		}
	}
	return 0
}

// runtime is the runtime of a client library's program.
func (w row) runtime() string {
	for _, r := range w.of(player) {
		return cmp.Or(r.Reader.Runtime, "-")
	}
	return "-"
}

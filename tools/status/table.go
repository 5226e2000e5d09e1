package status

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"
)

// server is what GET /status sends (docs/PROTOCOL.md), as far as it is shown.
type server struct {
	Version string  `json:"version"`
	Uptime  float64 `json:"uptime_s"`
	Robots  []robot `json:"robots"`
}

type robot struct {
	Name      string            `json:"name"`
	Port      int               `json:"port"`
	Commander *string           `json:"commander"` // address of a client; nil: none
	Stopped   bool              `json:"stopped"`
	Devices   map[string]device `json:"devices"` // by interface
	Clients   []client          `json:"clients"`
	Recorders map[string]struct {
		State    string `json:"state"`
		Error    string `json:"error"` // why it has failed; may be empty
		Messages int    `json:"messages"`
		Lost     int    `json:"lost"` // the disk was too slow
	} `json:"recorders"` // by the path of the log
}

type device struct {
	Driver  string   `json:"driver"`
	State   string   `json:"state"`
	Setups  uint64   `json:"setups"`
	Rate    float64  `json:"rate_hz"`
	Age     *float64 `json:"age_ms"` // nil: no data
	Errors  uint64   `json:"errors"`
	Retries uint64   `json:"retries"`
	Noise   uint64   `json:"noise"`
	Error   string   `json:"error"` // why the last setup failed; may be empty
}

type client struct {
	Address string            `json:"address"`
	Name    string            `json:"name"`
	Devices map[string]string `json:"devices"` // access by letter
	Rate    float64           `json:"rate"`    // that it asks for, in Hz
	Served  float64           `json:"served_hz"`
	Frames  uint64            `json:"frames"`
}

// write writes the table.
func (s server) write(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "%s, up %v\n", plain(s.Version), time.Duration(s.Uptime)*time.Second) // Flush returns errors
	for _, r := range s.Robots {
		stopped := ""
		if r.Stopped {
			stopped = ": EMERGENCY STOP, until released (player stop -release)"
		}
		fmt.Fprintf(w, "\n%s, port %d%s\n", plain(r.Name), r.Port, stopped)
		fmt.Fprintln(w, "  DEVICE\tDRIVER\tSTATE\tHZ\tAGE ms\tSETUPS\tRETRIES\tERRORS\tNOISE\t")
		for _, name := range slices.Sorted(maps.Keys(r.Devices)) {
			d := r.Devices[name]
			age := "-"
			if d.Age != nil {
				age = fmt.Sprintf("%.0f", *d.Age)
			}
			fmt.Fprintf(w, "  %s\t%s\t%s\t%.1f\t%s\t%d\t%d\t%d\t%d\t%s\n", plain(name), plain(d.Driver), plain(d.State), d.Rate, age, d.Setups, d.Retries, d.Errors, d.Noise, plain(d.Error))
		}
		if len(r.Recorders) > 0 {
			fmt.Fprintln(w, "  RECORDER\tSTATE\tMESSAGES\tLOST\t")
		}
		for _, file := range slices.Sorted(maps.Keys(r.Recorders)) {
			d := r.Recorders[file]
			fmt.Fprintf(w, "  %s\t%s\t%d\t%d\t%s\n", plain(file), plain(d.State), d.Messages, d.Lost, plain(d.Error))
		}
		if len(r.Clients) == 0 {
			fmt.Fprintln(w, "  no clients")
			continue
		}
		fmt.Fprintln(w, "  CLIENT\tNAME\tDEVICES\tASKS HZ\tGETS HZ\tFRAMES")
		for _, c := range r.Clients {
			name := plain(c.Name)
			if r.Commander != nil && *r.Commander == c.Address {
				name = strings.TrimSpace(name + " (drives)")
			}
			fmt.Fprintf(w, "  %s\t%s\t%s\t%.1f\t%.1f\t%d\n", plain(c.Address), name, c.devices(), c.Rate, c.Served, c.Frames)
		}
	}
	return w.Flush()
}

// devices returns the devices as a request: "lrpa".
func (c client) devices() string {
	var b strings.Builder
	for _, letter := range slices.Sorted(maps.Keys(c.Devices)) {
		b.WriteString(plain(letter + c.Devices[letter]))
	}
	return b.String()
}

// plain replaces what a terminal could obey: clients choose their names.
func plain(text string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, text)
}

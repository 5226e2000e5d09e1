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

	"player/status"
)

// write writes the table of what GET /status sends (docs/PROTOCOL.md).
func write(out io.Writer, s status.Status) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "%s, up %v\n", plain(s.Version), time.Duration(s.Uptime).Truncate(time.Second)) // Flush returns errors
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
				age = fmt.Sprintf("%.0f", float64(*d.Age)/float64(time.Millisecond))
			}
			fmt.Fprintf(w, "  %s\t%s\t%s\t%.1f\t%s\t%d\t%d\t%d\t%d\t%s\n", plain(name), plain(d.Driver), plain(string(d.State)), d.Rate, age, d.Setups, d.Retries, d.Errors, d.Noise, plain(d.Error))
		}
		if len(r.Recorders) > 0 {
			fmt.Fprintln(w, "  RECORDER\tSTATE\tMESSAGES\tLOST\t")
		}
		for _, file := range slices.Sorted(maps.Keys(r.Recorders)) {
			d := r.Recorders[file]
			fmt.Fprintf(w, "  %s\t%s\t%d\t%d\t%s\n", plain(file), plain(string(d.State)), d.Messages, d.Lost, plain(d.Error))
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
			fmt.Fprintf(w, "  %v\t%s\t%s\t%.1f\t%.1f\t%d\n", c.Address, name, plain(string(c.Devices)), c.Rate, c.Served, c.Frames)
		}
	}
	return w.Flush()
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

package status

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"player/codec/peertext"
	"player/server/status"
)

// write writes the answer to GET /status (docs/PROTOCOL.md) as a table.
func write(out io.Writer, s status.Status) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "%s, up %v\n", peertext.Line(s.Version), time.Duration(s.Uptime).Truncate(time.Second)) // Flush returns errors
	for _, r := range s.Robots {
		stopped := ""
		if r.Stopped {
			stopped = ": EMERGENCY STOP, until released (player stop -release)"
		}
		fmt.Fprintf(w, "\n%s, port %d%s\n", peertext.Line(r.Name), r.Port, stopped)
		fmt.Fprintln(w, "  DEVICE\tDRIVER\tSTATE\tHZ\tAGE ms\tSETUPS\tRETRIES\tERRORS\tNOISE\t")
		for _, name := range slices.Sorted(maps.Keys(r.Devices)) {
			d := r.Devices[name]
			age := "-"
			if d.Age != nil {
				age = fmt.Sprintf("%.0f", float64(*d.Age)/float64(time.Millisecond))
			}
			fmt.Fprintf(w, "  %s\t%s\t%s\t%.1f\t%s\t%d\t%d\t%d\t%d\t%s\n", peertext.Line(name), peertext.Line(d.Driver), peertext.Line(string(d.State)), d.Rate, age, d.Setups, d.Retries, d.Errors, d.Noise, peertext.Line(d.Error))
		}
		if len(r.Recorders) > 0 {
			fmt.Fprintln(w, "  RECORDER\tSTATE\tMESSAGES\tLOST\t")
		}
		for _, file := range slices.Sorted(maps.Keys(r.Recorders)) {
			d := r.Recorders[file]
			fmt.Fprintf(w, "  %s\t%s\t%d\t%d\t%s\n", peertext.Line(file), peertext.Line(string(d.State)), d.Messages, d.Lost, peertext.Line(d.Error))
		}
		if len(r.Clients) == 0 {
			fmt.Fprintln(w, "  no clients")
			continue
		}
		fmt.Fprintln(w, "  CLIENT\tNAME\tDEVICES\tASKS HZ\tGETS HZ\tFRAMES")
		for _, c := range r.Clients {
			name := peertext.Line(c.Name)
			if r.Commander != nil && *r.Commander == c.Address {
				name = strings.TrimSpace(name + " (drives)")
			}
			fmt.Fprintf(w, "  %v\t%s\t%s\t%.1f\t%.1f\t%d\n", c.Address, name, peertext.Line(string(c.Devices)), c.Rate, c.Served, c.Frames)
		}
	}
	return w.Flush()
}

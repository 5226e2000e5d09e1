// Package latency is player latency: how often, how evenly and how old a robot's
// data arrives here.
package latency

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"slices"
	"strings"
	"time"

	"player/client"
	"player/tools"
)

const (
	// trips is how many round trips are measured before: the shortest one counts.
	trips = 10
	// reportPeriod is the time between two lines during the measurement.
	reportPeriod = time.Second
	// barWidth is the longest bar of a histogram, in characters.
	barWidth = 40
	// binFactor is how much longer the values of one bin are than the previous bin's;
	// leastBin is the bound of the first bin, shorter than the latency of any network.
	binFactor = 1.03
	leastBin  = 10 * time.Microsecond
	// maxBins is how many bins fit on a screen. If more have values, bins are joined.
	maxBins = 40
)

// Command is the subcommand.
func Command() tools.Command {
	return tools.Command{Name: "latency", Args: "[flags] HOST[:PORT] [DEVICES]", Summary: "rate, jitter, age from here", Run: run}
}

func run(ctx context.Context, args []string, stdout io.Writer, _ *os.File) error {
	flags := tools.NewFlags("latency")
	limit := flags.Duration("for", 10*time.Second, "")
	rate := flags.Int("rate", 10, "")
	raw := flags.Bool("json", false, "")
	rest, err := tools.ParseSome(flags, args, 1, 2, "a host: player latency localhost")
	switch {
	case err != nil:
		return err
	case *limit <= 0:
		return fmt.Errorf("-for %v: must be positive", *limit)
	}
	devices := append(rest, "pr")[1]
	if err := tools.CheckDevices(devices); err != nil {
		return err
	}
	ctx, stop := tools.UntilSignal(ctx)
	defer stop()
	c, err := tools.Dial(ctx, rest[0], "latency", *rate)
	if err != nil {
		return err
	}
	defer c.Close()
	trip, err := shortestTrip(ctx, c, rest[0])
	if err != nil {
		return tools.Failure{Err: err}
	}
	chosen, err := tools.Choose(ctx, c, devices)
	if err != nil {
		return err
	}
	aged, err := tools.Open(ctx, c, tools.Pairs(chosen))
	if err != nil {
		return err
	}
	if !aged {
		return errors.New("this server sends no ages")
	}
	lines := stdout
	if *raw {
		lines = io.Discard
	}
	fmt.Fprintf(lines, "round trip %.3f ms\n", ms(trip))
	limited, cancel := context.WithTimeout(ctx, *limit)
	defer cancel()
	m, err := measure(limited, c, chosen, lines)
	if err != nil {
		return tools.Failure{Err: err}
	}
	if len(m.rounds) < 2 {
		return tools.Failure{Err: errors.New("no data came")}
	}
	if *raw {
		return json.NewEncoder(stdout).Encode(m.result(trip))
	}
	_, err = io.WriteString(stdout, m.report(trip))
	return err
}

// shortestTrip returns the shortest of some round trips of an empty request.
func shortestTrip(ctx context.Context, c *client.Client, address string) (time.Duration, error) {
	var all []time.Duration
	for range trips {
		begin := time.Now()
		if err := tools.Answer(ctx, c, address); err != nil {
			return 0, err
		}
		all = append(all, time.Since(begin))
	}
	return slices.Min(all), nil
}

// round is one round of data: when it was made, in the server's time, and when it
// arrived, both since some moment, and the age of its newest data when it was made.
type round struct{ made, arrived, age time.Duration }

// measurement has the rounds that have arrived.
type measurement struct{ rounds []round }

// measure measures until ctx ends, and reports each second.
func measure(ctx context.Context, c *client.Client, devices []tools.Device, stdout io.Writer) (m measurement, err error) {
	begin := time.Now()
	reported, first := time.Duration(0), 0
	for {
		err := c.Read(ctx)
		switch {
		case ctx.Err() != nil:
			return m, nil
		case err != nil:
			return m, err
		}
		r := round{made: c.ServerTime(), arrived: time.Since(begin)}
		dated := false
		for _, d := range devices {
			if age, ok := c.Age(d.Code); ok && (!dated || age < r.age) {
				r.age, dated = age, true
			}
		}
		if !dated { // the devices have no data yet
			continue
		}
		m.rounds = append(m.rounds, r)
		if r.arrived-reported >= reportPeriod && len(m.rounds)-first > 1 {
			second := measurement{m.rounds[first:]}
			rate, jitter := second.evenness()
			fmt.Fprintf(stdout, "%4.0f s  %6.1f Hz  jitter %.3f ms  age %.1f ms\n", r.arrived.Seconds(), rate, ms(jitter), ms(r.age))
			reported, first = r.arrived, len(m.rounds)-1
		}
	}
}

// intervals returns the times between rounds.
func (m measurement) intervals() (all []time.Duration) {
	for i := 1; i < len(m.rounds); i++ {
		all = append(all, m.rounds[i].arrived-m.rounds[i-1].arrived)
	}
	return all
}

// evenness returns the rate in Hz, and the mean distance of an interval from the
// mean interval. There are at least two rounds.
func (m measurement) evenness() (rate float64, jitter time.Duration) {
	intervals := m.intervals()
	mean := (m.rounds[len(m.rounds)-1].arrived - m.rounds[0].arrived) / time.Duration(len(intervals))
	for _, i := range intervals {
		jitter += (i - mean).Abs()
	}
	return 1 / mean.Seconds(), jitter / time.Duration(len(intervals))
}

// ages returns the age of each round's data at its arrival. The clocks of the two computers
// differ by an unknown time: the fastest round is assumed to have needed half of the round
// trip.
func (m measurement) ages(trip time.Duration) (all []time.Duration) {
	fastest := m.rounds[0].arrived - m.rounds[0].made
	for _, r := range m.rounds {
		fastest = min(fastest, r.arrived-r.made)
	}
	for _, r := range m.rounds {
		all = append(all, r.age+trip/2+r.arrived-r.made-fastest)
	}
	return all
}

// report returns the result of at least two rounds.
func (m measurement) report(trip time.Duration) string {
	var b strings.Builder
	rate, jitter := m.evenness()
	fmt.Fprintf(&b, "\n%d rounds, %.2f Hz, jitter %.3f ms\n", len(m.rounds), rate, ms(jitter))
	histogram(&b, "time between rounds", m.intervals())
	histogram(&b, "age of the newest data, as seen from here", m.ages(trip))
	return b.String()
}

// result is the report for programs. All times are ms.
type result struct {
	Trip      float64            `json:"round_trip_ms"`
	Rounds    int                `json:"rounds"`
	Rate      float64            `json:"rate_hz"`
	Jitter    float64            `json:"jitter_ms"`
	Intervals map[string]float64 `json:"interval_ms"` // by p1 to p99.9, and max
	Ages      map[string]float64 `json:"age_ms"`      // the same
}

func (m measurement) result(trip time.Duration) result {
	rate, jitter := m.evenness()
	return result{ms(trip), len(m.rounds), rate, ms(jitter), percentiles(m.intervals()), percentiles(m.ages(trip))}
}

// percentiles returns the percentiles of values, in ms, and the longest one.
func percentiles(values []time.Duration) map[string]float64 {
	slices.Sort(values)
	all := map[string]float64{"max": ms(values[len(values)-1])}
	for _, p := range percents {
		all[fmt.Sprintf("p%g", p)] = ms(percentile(values, p))
	}
	return all
}

// percentile returns the longest of the shortest p % of sorted values.
func percentile(values []time.Duration, p float64) time.Duration {
	return values[int(math.Ceil(float64(len(values))*p/100))-1]
}

// percents are the percentiles in the report.
var percents = [...]float64{1, 5, 25, 50, 75, 95, 99, 99.9}

// histogram writes percentiles, and the numbers of values in bins that are 3 % wide: smaller
// differences do not matter to a robot. Ranges without values are left out.
func histogram(b *strings.Builder, what string, values []time.Duration) {
	slices.Sort(values)
	last := values[len(values)-1]
	fmt.Fprintf(b, "\n%s:\n", what)
	for _, p := range percents {
		fmt.Fprintf(b, "%6g %% up to %10.3f ms\n", p, ms(percentile(values, p)))
	}
	fmt.Fprintf(b, "   longest      %10.3f ms\n\n", ms(last))
	counts := map[int]int{}
	for _, v := range values {
		counts[binOf(v)]++
	}
	bins := slices.Sorted(maps.Keys(counts))
	for wide := 2; len(bins) > maxBins; wide++ { // the values are spread: wider bins
		clear(counts)
		for _, v := range values {
			counts[binOf(v)/wide*wide+wide-1]++
		}
		bins = slices.Sorted(maps.Keys(counts))
	}
	most := slices.Max(slices.Collect(maps.Values(counts)))
	for _, bin := range bins {
		n := counts[bin]
		bar := (n*barWidth + most - 1) / most // one count has a bar of one, at least
		fmt.Fprintf(b, "%18.3f ms %7d %s\n", ms(min(boundOf(bin), last)), n, strings.Repeat("#", bar))
	}
}

// binOf returns the bin of a value: bin 0 has the values up to leastBin, and the bound of
// each other bin is binFactor times the bound of the bin before.
func binOf(v time.Duration) int {
	if v <= leastBin {
		return 0
	}
	return int(math.Ceil(math.Log(float64(v)/float64(leastBin)) / math.Log(binFactor)))
}

// boundOf returns the longest value of a bin.
func boundOf(bin int) time.Duration {
	return time.Duration(float64(leastBin) * math.Pow(binFactor, float64(bin)))
}

// ms returns d in ms, to the microsecond.
func ms(d time.Duration) float64 { return float64(d.Round(time.Microsecond).Microseconds()) / 1000 }

package stats

import "time"

// Age is the age of information at one receiver: at every moment, how long ago
// the newest data that it has was taken. Between arrivals it grows with time
// and falls at each arrival, a sawtooth; mean and quantiles are over time, not
// over arrivals, so a long silence counts with its whole length. The zero
// value is empty.
type Age struct {
	span   time.Duration // time covered
	area   float64       // integral of the age over it, ns^2
	starts Histogram     // ages at the feet of the teeth
	ends   Histogram     // and at their tips
}

// Tooth adds a time of length d that began with the given age.
func (a *Age) Tooth(age, d time.Duration) {
	if d <= 0 {
		return
	}
	a.span += d
	a.area += float64(age)*float64(d) + float64(d)*float64(d)/2
	a.starts.Add(age)
	a.ends.Add(age + d)
}

// Merge adds the time of another receiver.
func (a *Age) Merge(o *Age) {
	a.span += o.span
	a.area += o.area
	a.starts.Merge(&o.starts)
	a.ends.Merge(&o.ends)
}

// Mean is the mean age over time.
func (a *Age) Mean() time.Duration {
	if a.span == 0 {
		return 0
	}
	return time.Duration(a.area / float64(a.span))
}

// Quantile returns the age that is not exceeded for a share q of the time, to
// 3 %. The time spent at age x is as many nanoseconds as teeth cover x, which
// is the number that started at or below x less the number that ended there.
func (a *Age) Quantile(q float64) time.Duration {
	points := a.CDF()
	for i, p := range points {
		if p.Share >= q {
			if i == 0 {
				return p.Value
			}
			before := points[i-1]
			into := (q - before.Share) / (p.Share - before.Share)
			return before.Value + time.Duration(into*float64(p.Value-before.Value))
		}
	}
	return 0
}

// CDF returns the cumulative distribution of the age over time.
func (a *Age) CDF() []Point {
	// Below zero there are only clock errors; they count as age zero.
	cover := 0.0
	for _, n := range a.starts.below {
		cover += float64(n)
	}
	for _, n := range a.ends.below {
		cover -= float64(n)
	}
	var points []Point
	total := 0.0
	for i := range buckets {
		opened, closed := float64(a.starts.above[i]), float64(a.ends.above[i])
		// Teeth that start or end within a bucket cover half of it on average.
		if c := cover + (opened-closed)/2; c > 0 {
			total += c * float64(edge(i+1)-edge(i))
			points = append(points, Point{edge(i + 1), total})
		}
		cover += opened - closed
	}
	for i := range points {
		points[i].Share /= total
	}
	return points
}

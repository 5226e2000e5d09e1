package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

const ms = time.Millisecond

// near reports whether got is within 4 % of want: half a bucket and some.
func near(got, want time.Duration) bool {
	return math.Abs(float64(got-want)) <= 0.04*math.Abs(float64(want))+1500
}

func TestBucketsTile(t *testing.T) {
	for i := range buckets {
		if bucket(edge(i)) != i || bucket(edge(i+1)-1) != i {
			t.Fatalf("bucket %d is [%d, %d), its ends are in %d and %d", i, edge(i), edge(i+1), bucket(edge(i)), bucket(edge(i+1)-1))
		}
	}
	if edge(buckets) < 137*time.Second {
		t.Fatalf("the last bucket ends at %v", edge(buckets))
	}
	if bucket(time.Hour) != buckets-1 {
		t.Fatal("a value beyond the last bucket is not in it")
	}
}

// The histogram against the sorted values.
func TestHistogramAgainstSorting(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var whole, half Histogram
	var values, magnitudes []time.Duration
	var sum float64
	for i := range 10000 {
		v := time.Duration(math.Exp(rng.Float64()*20)) - time.Duration(math.Exp(rng.Float64()*18))
		values, magnitudes = append(values, v), append(magnitudes, max(v, -v))
		sum += float64(v)
		if i%2 == 0 {
			whole.Add(v)
		} else {
			half.Add(v)
		}
	}
	whole.Merge(&half)
	whole.Merge(&Histogram{})
	slices.Sort(values)
	slices.Sort(magnitudes)
	cdf := whole.CDF()
	for _, q := range []float64{0.001, 0.01, 0.1, 0.3, 0.5, 0.9, 0.99, 0.999, 1} {
		i := int(math.Ceil(q*10000)) - 1
		at := slices.IndexFunc(cdf, func(p Point) bool { return p.Share >= q })
		if got := cdf[at].Value; !near(got, values[i]) {
			t.Errorf("the distribution reaches %g at %v, want %v", q, got, values[i])
		}
		if got := whole.AbsQuantile(q); !near(got, magnitudes[i]) {
			t.Errorf("quantile %g of magnitudes is %v, want %v", q, got, magnitudes[i])
		}
	}
	if whole.Count != 10000 || whole.Min != values[0] || whole.Max != values[9999] || whole.AbsMax() != magnitudes[9999] {
		t.Error("count or extremes are wrong")
	}
	if want := time.Duration(sum / 10000); !near(whole.Mean(), want) {
		t.Errorf("mean %v, want %v", whole.Mean(), want)
	}
	if last := cdf[len(cdf)-1].Share; last != 1 {
		t.Errorf("the distribution ends at %g", last)
	}
	if !slices.IsSortedFunc(cdf, func(a, b Point) int { return int(a.Value - b.Value) }) {
		t.Error("the distribution is not in order")
	}
}

func TestMean(t *testing.T) {
	var h Histogram
	for _, v := range []time.Duration{2, 4, 4, 4, 5, 5, 7, 9} {
		h.Add(v * ms)
	}
	if h.Mean() != 5*ms {
		t.Fatalf("mean %v, want 5ms", h.Mean())
	}
}

func TestEmptyHistogram(t *testing.T) {
	var h Histogram
	if h.Mean() != 0 || h.AbsQuantile(0.99) != 0 || h.CDF() != nil {
		t.Fatal("an empty histogram has figures")
	}
}

func TestHistogramAllocatesNothing(t *testing.T) {
	var h Histogram
	var a Age
	if n := testing.AllocsPerRun(100, func() { h.Add(3 * ms); a.Tooth(ms, 2*ms) }); n != 0 {
		t.Fatalf("%g allocations a frame", n)
	}
}

// A regular sawtooth: every frame 10 ms old on arrival, one each 100 ms. The
// age is uniform between 10 and 110 ms.
func TestAgeOfRegularFrames(t *testing.T) {
	var a Age
	for range 1000 {
		a.Tooth(10*ms, 100*ms)
	}
	if a.Mean() != 60*ms {
		t.Errorf("mean %v, want 60ms", a.Mean())
	}
	for q, want := range map[float64]time.Duration{0.01: 11 * ms, 0.25: 35 * ms, 0.5: 60 * ms, 0.99: 109 * ms} {
		if got := a.Quantile(q); !near(got, want) {
			t.Errorf("quantile %g is %v, want %v", q, got, want)
		}
	}
}

// Age against sampling the sawtooth every 0.1 ms.
func TestAgeAgainstSampling(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	var a, b Age
	var samples []time.Duration
	for i := range 500 {
		foot, d := time.Duration(rng.IntN(300))*ms, time.Duration(1+rng.IntN(200))*ms
		if i%2 == 0 {
			a.Tooth(foot, d)
		} else {
			b.Tooth(foot, d)
		}
		for x := 50 * time.Microsecond; x < d; x += 100 * time.Microsecond {
			samples = append(samples, foot+x)
		}
	}
	a.Merge(&b)
	slices.Sort(samples)
	var sum float64
	for _, s := range samples {
		sum += float64(s)
	}
	if want := time.Duration(sum / float64(len(samples))); !near(a.Mean(), want) {
		t.Errorf("mean %v, want %v", a.Mean(), want)
	}
	for _, q := range []float64{0.1, 0.5, 0.9, 0.99} {
		if want := samples[int(q*float64(len(samples)))]; !near(a.Quantile(q), want) {
			t.Errorf("quantile %g is %v, want %v", q, a.Quantile(q), want)
		}
	}
}

// A receiver that is cut off ages as long as nothing comes.
func TestAgeOfSilence(t *testing.T) {
	var a Age
	a.Tooth(0, 10*time.Second)
	if a.Mean() != 5*time.Second || !near(a.Quantile(0.99), 9900*ms) {
		t.Fatalf("mean %v p99 %v, want 5s and 9.9s", a.Mean(), a.Quantile(0.99))
	}
	if (&Age{}).Mean() != 0 || (&Age{}).Quantile(0.5) != 0 {
		t.Fatal("no time has an age")
	}
}

func TestJain(t *testing.T) {
	for _, c := range []struct {
		shares []float64
		want   float64
	}{
		{[]float64{5, 5, 5, 5}, 1},
		{[]float64{1, 0, 0, 0}, 0.25},
		{[]float64{1, 2, 3}, 36.0 / 42},
		{[]float64{0, 0}, 1},
		{nil, 1},
	} {
		if got := Jain(c.shares); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("Jain(%v) = %g, want %g", c.shares, got, c.want)
		}
	}
}

func TestMedian(t *testing.T) {
	for _, c := range []struct {
		values []float64
		want   float64
	}{{[]float64{3, 1, 2}, 2}, {[]float64{4, 1, 3, 2}, 2.5}, {nil, 0}} {
		if got := Median(c.values); got != c.want {
			t.Errorf("Median(%v) = %g, want %g", c.values, got, c.want)
		}
	}
}

package stats

import "slices"

// Jain is the fairness index of Jain, Chiu and Hawe: 1 when all shares are
// equal, 1/n when one has everything. It is 1 for no shares, or none above
// zero: all have the same.
func Jain(shares []float64) float64 {
	var sum, squares float64
	for _, x := range shares {
		sum += x
		squares += x * x
	}
	if squares == 0 {
		return 1
	}
	return sum * sum / (float64(len(shares)) * squares)
}

// Median returns the middle value, the mean of the two middle ones if their
// number is even, and zero of none.
func Median(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	v := slices.Sorted(slices.Values(values))
	return (v[(len(v)-1)/2] + v[len(v)/2]) / 2
}

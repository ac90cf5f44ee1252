package report

import "slices"

// Spread is what many measurements of the same thing come to.
type Spread struct {
	Median, Min, Max float64
	N                int
}

// spread summarizes; of nothing it is zero.
func spread(values []float64) Spread {
	if len(values) == 0 {
		return Spread{}
	}
	sorted := slices.Sorted(slices.Values(values))
	middle := len(sorted) / 2
	median := sorted[middle]
	if len(sorted)%2 == 0 {
		median = (sorted[middle-1] + sorted[middle]) / 2
	}
	return Spread{Median: median, Min: sorted[0], Max: sorted[len(sorted)-1], N: len(sorted)}
}

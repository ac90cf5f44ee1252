package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Timeline is where the time of a program goes: the requests of the run whose
// creation time was the median.
func Timeline(s Section, program string) string {
	var runs []Sample
	for _, sample := range s.Samples {
		if sample.Program == program {
			runs = append(runs, sample)
		}
	}
	if len(runs) == 0 {
		return ""
	}
	slices.SortFunc(runs, func(a, b Sample) int { return cmp.Compare(a.Values[Created], b.Values[Created]) })
	typical := runs[len(runs)/2]
	var out strings.Builder
	fmt.Fprintf(&out, "%s, %s, the median run (> is the longest row of requests that wait for each other)\n", program,
		s.Title)
	mark := func(at float64, what Metric) { fmt.Fprintf(&out, "  %8.1f            ── %s\n", at*1000, what) }
	marks := []Metric{Created, Ready, Whole}
	for _, line := range typical.Timeline {
		for len(marks) > 0 && typical.Values[marks[0]] <= line.From {
			mark(typical.Values[marks[0]], marks[0])
			marks = marks[1:]
		}
		sign, to := " ", "    open"
		if line.Chain {
			sign = ">"
		}
		if line.To > 0 {
			to = fmt.Sprintf("%8.1f", line.To*1000)
		}
		fmt.Fprintf(&out, "%s %8.1f %s  %s\n", sign, line.From*1000, to, line.What)
	}
	for _, m := range marks {
		mark(typical.Values[m], m)
	}
	return out.String()
}

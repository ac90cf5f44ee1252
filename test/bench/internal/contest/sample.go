package contest

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/berthdev/berth/test/bench/internal/process"
	"github.com/berthdev/berth/test/bench/internal/record"
	"github.com/berthdev/berth/test/bench/internal/report"
)

// sample reads the metrics of one run from what was seen of it.
func sample(program string, objects int, usage process.Usage, ready time.Time,
	requests []record.Request,
) (report.Sample, error) {
	created, ok := record.Created(requests, objects)
	if !ok {
		return report.Sample{}, fmt.Errorf("%s did not create %d objects, one a request: %s", program, objects,
			listed(requests))
	}
	since := func(t time.Time) float64 { return t.Sub(usage.Started).Seconds() }
	all := record.Begun(requests, usage.Exited)
	chain := record.Chain(requests, created)
	s := report.Sample{Program: program, Values: map[report.Metric]float64{
		report.Requests:     float64(len(record.Begun(requests, created))),
		report.AllRequests:  float64(len(all)),
		report.RoundTrips:   float64(len(chain)),
		report.FirstRequest: since(all[0].Arrived),
		report.Created:      since(created),
		report.Ready:        since(ready),
		report.AfterReady:   usage.Exited.Sub(ready).Seconds(),
		report.Whole:        since(usage.Exited),
		report.CPU:          usage.CPU.Seconds(),
		report.Memory:       float64(usage.MaxRSS) / (1 << 20),
	}}
	for _, r := range all {
		line := report.Line{From: since(r.Arrived), Chain: slices.Contains(chain, r), What: describe(r)}
		if at, ok := r.Done(); ok {
			line.To = since(at)
		}
		s.Timeline = append(s.Timeline, line)
	}
	return s, nil
}

func describe(r record.Request) string {
	method := r.Method
	if r.IsWatch() {
		method = "WATCH"
	}
	words := []string{fmt.Sprintf("%-5s", method), r.Path}
	query, _ := url.ParseQuery(r.Query)
	for _, selector := range []string{"fieldSelector", "labelSelector"} {
		if value := query.Get(selector); value != "" {
			words = append(words, value)
		}
	}
	words = append(words, fmt.Sprintf("(%d)", r.Status))
	return strings.Join(words, " ")
}

func listed(requests []record.Request) string {
	var text strings.Builder
	for _, r := range requests {
		text.WriteString("\n  " + describe(r))
	}
	return text.String()
}

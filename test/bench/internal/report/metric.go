// Package report makes of many measurements a table that can be judged. Nothing
// here has effects.
package report

import (
	"fmt"
	"time"
)

// Metric is something that is measured of a command.
type Metric string

// What is measured. Times are seconds, memory is MiB.
const (
	Requests     Metric = "requests until everything is created"
	AllRequests  Metric = "requests in all"
	NoWatches    Metric = "requests but for watches"
	RoundTrips   Metric = "dependent round trips until then"
	FirstRequest Metric = "start to first request"
	Created      Metric = "start to everything created"
	Ready        Metric = "start to pod ready"
	AfterReady   Metric = "pod ready to exit"
	Whole        Metric = "start to exit"
	CPU          Metric = "processor time"
	Memory       Metric = "memory"
	Start        Metric = "start time"
)

// metrics is the order of the rows.
func metrics() []Metric {
	return []Metric{
		Requests, RoundTrips, AllRequests, NoWatches, FirstRequest, Created, Ready, AfterReady, Whole, Start,
		CPU, Memory,
	}
}

// format writes a value in the metric's unit.
func (m Metric) format(v float64) string {
	switch m {
	case Requests, AllRequests, NoWatches, RoundTrips:
		return fmt.Sprintf("%.0f", v)
	case Memory:
		return fmt.Sprintf("%.0f MiB", v)
	}
	d := time.Duration(v * float64(time.Second))
	if d.Abs() < time.Second {
		return fmt.Sprintf("%.1f ms", float64(d)/float64(time.Millisecond))
	}
	return fmt.Sprintf("%.2f s", v)
}

// The programs, in the order of the columns.
const (
	Berth   = "berth"
	Helm    = "helm"
	Kubectl = "kubectl"
)

func programs() []string { return []string{Berth, Helm, Kubectl} }

// Sample is one measurement of one program.
type Sample struct {
	Program string             `json:"program"`
	Values  map[Metric]float64 `json:"values"`
	// Timeline is what the program asked of the API server, where it did.
	Timeline []Line `json:"timeline,omitempty"`
}

// Line is one request of a timeline, in seconds from the program's start.
type Line struct {
	From  float64 `json:"from"`
	To    float64 `json:"to,omitempty"`
	Chain bool    `json:"chain"` // part of the longest row of dependent requests
	What  string  `json:"what"`
}

// Subject is what the programs do in a section: each has aims of its own.
type Subject string

// What is measured of the programs.
const (
	Workspace   Subject = "workspace"
	Bundle      Subject = "bundle"
	BundleAgain Subject = "bundle again"
	Starting    Subject = "starting"
)

// Section is everything measured under the same conditions.
type Section struct {
	Title   string        `json:"title"`
	Subject Subject       `json:"subject"`
	Delay   time.Duration `json:"delayNanoseconds"`
	Objects int           `json:"objects,omitempty"`
	Samples []Sample      `json:"samples"`
}

// of are the values of one metric of one program.
func (s Section) of(program string, metric Metric) (values []float64) {
	for _, sample := range s.Samples {
		if v, ok := sample.Values[metric]; ok && sample.Program == program {
			values = append(values, v)
		}
	}
	return values
}

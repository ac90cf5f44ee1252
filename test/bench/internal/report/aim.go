package report

import "fmt"

// Aim is what a row is meant to come to.
type Aim struct {
	Section string `json:"section"`
	Metric  Metric `json:"metric"`
	Text    string `json:"aim"`
	Met     bool   `json:"met"`
}

// What berth has promised.
const (
	extraRequests = 10  // beyond one an object
	roundTrips    = 5   // that depend on each other
	createdFaster = 3.0 // than helm
	waitPart      = 20  // of helm's wait after Ready
	startPart     = 0.6 // of kubectl's start time
)

// aim judges one row by the medians of its programs; false if nothing is aimed
// at there.
func aim(s Section, metric Metric) (Aim, bool) {
	median := func(program string) float64 { return spread(s.of(program, metric)).Median }
	own := median(Berth)
	a := Aim{Section: s.Title, Metric: metric}
	switch metric {
	case Requests:
		a.Text, a.Met = fmt.Sprintf("≤ %d+%d", s.Objects, extraRequests), own <= float64(s.Objects+extraRequests)
	case RoundTrips:
		a.Text, a.Met = fmt.Sprintf("≤ %d", roundTrips), own <= roundTrips
		if s.Delay == 0 {
			return a, false // without a delay chance decides what comes after what
		}
	case Created:
		a.Text, a.Met = fmt.Sprintf("helm ≥ %.0f×", createdFaster), median(Helm) >= createdFaster*own
	case AfterReady:
		a.Text, a.Met = fmt.Sprintf("helm ≥ %d×", waitPart), median(Helm) >= waitPart*own
	case Start:
		a.Text, a.Met = fmt.Sprintf("≤ %.1f of kubectl", startPart), own <= startPart*median(Kubectl)
	default:
		return a, false
	}
	return a, true
}

// Aims are all aims and whether they are met.
func Aims(sections []Section) (aims []Aim) {
	for _, s := range sections {
		for _, metric := range metrics() {
			if len(s.of(Berth, metric)) == 0 {
				continue
			}
			if a, ok := aim(s, metric); ok {
				aims = append(aims, a)
			}
		}
	}
	return aims
}

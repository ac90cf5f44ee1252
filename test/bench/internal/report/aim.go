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

	manyExtra  = 20  // requests beyond one an object of a bundle
	manyFaster = 3.0 // than helm and kubectl, where a request takes time
	againMost  = 10  // requests but for watches, if nothing has changed
)

// aim judges one row by the medians of its programs; false if nothing is aimed
// at there.
func aim(s Section, metric Metric) (Aim, bool) {
	median := func(program string) float64 { return spread(s.of(program, metric)).Median }
	a := Aim{Section: s.Title, Metric: metric}
	judge := map[Subject]func(*Aim, Section, func(string) float64) bool{
		Workspace: ofWorkspace, Bundle: ofBundle, BundleAgain: ofBundleAgain, Starting: ofStarting,
	}[s.Subject]
	return a, judge != nil && judge(&a, s, median)
}

func ofWorkspace(a *Aim, s Section, median func(string) float64) bool {
	own := median(Berth)
	switch a.Metric {
	case Requests:
		a.Text, a.Met = fmt.Sprintf("≤ %d+%d", s.Objects, extraRequests), own <= float64(s.Objects+extraRequests)
	case RoundTrips:
		a.Text, a.Met = fmt.Sprintf("≤ %d", roundTrips), own <= roundTrips
		return s.Delay > 0 // without a delay chance decides what comes after what
	case Created:
		a.Text, a.Met = fmt.Sprintf("helm ≥ %.0f×", createdFaster), median(Helm) >= createdFaster*own
	case AfterReady:
		a.Text, a.Met = fmt.Sprintf("helm ≥ %d×", waitPart), median(Helm) >= waitPart*own
	default:
		return false
	}
	return true
}

func ofBundle(a *Aim, s Section, median func(string) float64) bool {
	own := median(Berth)
	switch a.Metric {
	case AllRequests:
		a.Text, a.Met = fmt.Sprintf("≤ %d+%d", s.Objects, manyExtra), own <= float64(s.Objects+manyExtra)
	case Whole:
		a.Text, a.Met = fmt.Sprintf("both ≥ %.0f×", manyFaster), min(median(Helm), median(Kubectl)) >= manyFaster*own
	default:
		return false
	}
	return true
}

func ofBundleAgain(a *Aim, _ Section, median func(string) float64) bool {
	a.Text, a.Met = fmt.Sprintf("≤ %d", againMost), median(Berth) <= againMost
	return a.Metric == NoWatches
}

func ofStarting(a *Aim, _ Section, median func(string) float64) bool {
	a.Text, a.Met = fmt.Sprintf("≤ %.1f of kubectl", startPart), median(Berth) <= startPart*median(Kubectl)
	return a.Metric == Start
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

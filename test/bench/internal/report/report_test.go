package report

import (
	"slices"
	"strings"
	"testing"
)

func TestSpread(t *testing.T) {
	for _, test := range []struct {
		values []float64
		want   Spread
	}{
		{nil, Spread{}},
		{[]float64{2}, Spread{2, 2, 2, 1}},
		{[]float64{9, 1, 2}, Spread{2, 1, 9, 3}},
		{[]float64{4, 1, 2, 9}, Spread{3, 1, 9, 4}},
	} {
		if got := spread(test.values); got != test.want {
			t.Errorf("spread of %v is %+v, want %+v", test.values, got, test.want)
		}
	}
}

func section() Section {
	s := Section{Title: "40 ms added", Subject: Workspace, Delay: 40e6, Objects: 6}
	add := func(program string, requests, trips, created, after float64) {
		s.Samples = append(s.Samples, Sample{Program: program, Values: map[Metric]float64{
			Requests: requests, RoundTrips: trips, Created: created, Ready: created + 1, AfterReady: after,
			Whole: created +
				1 + after,
		}})
	}
	for _, jitter := range []float64{0, 0.02, -0.02} {
		add(Berth, 16, 5, 0.3+jitter, 0.06)
		add(Helm, 40, 20, 1.2+jitter, 1.1)
		add(Kubectl, 25, 15, 1+jitter, 0.01)
	}
	s.Samples[0].Timeline = []Line{
		{From: 0.02, To: 0.06, Chain: true, What: "GET pods"},
		{From: 0.02, What: "WATCH pods"},
		{From: 1.4, To: 1.41, What: "DELETE lease"},
	}
	return s
}

func TestAims(t *testing.T) {
	met := map[Metric]bool{}
	for _, a := range Aims([]Section{section()}) {
		met[a.Metric] = a.Met
	}
	want := map[Metric]bool{Requests: true, RoundTrips: true, Created: true, AfterReady: false}
	if len(met) != len(want) {
		t.Errorf("aims are %v", met)
	}
	for metric, is := range want {
		if met[metric] != is {
			t.Errorf("%s: met is %v, want %v", metric, met[metric], is)
		}
	}
	undelayed := section()
	undelayed.Delay = 0
	if _, ok := aim(undelayed, RoundTrips); ok {
		t.Error("round trips are judged although nothing keeps them apart")
	}
}

// A bundle has aims of its own: requests, and both of the others.
func TestAimsOfBundles(t *testing.T) {
	section := func(subject Subject, berth, helm, kubectl, requests float64) Section {
		s := Section{Title: string(subject), Subject: subject, Objects: 500}
		for program, took := range map[string]float64{Berth: berth, Helm: helm, Kubectl: kubectl} {
			s.Samples = append(s.Samples, Sample{
				Program: program,
				Values:  map[Metric]float64{Whole: took, AllRequests: requests, NoWatches: requests},
			})
		}
		return s
	}
	for name, c := range map[string]struct {
		section Section
		met     []bool
	}{
		"as promised":             {section(Bundle, 1, 3, 3, 520), []bool{true, true}},
		"one of the two is close": {section(Bundle, 1, 9, 2.9, 520), []bool{true, false}},
		"too many requests":       {section(Bundle, 1, 3, 3, 521), []bool{false, true}},
		"the same again":          {section(BundleAgain, 9, 1, 1, 10), []bool{true}},
		"the same again, asking":  {section(BundleAgain, 1, 9, 9, 11), []bool{false}},
	} {
		var met []bool
		for _, a := range Aims([]Section{c.section}) {
			met = append(met, a.Met)
		}
		if !slices.Equal(met, c.met) {
			t.Errorf("%s: %v, want %v", name, met, c.met)
		}
	}
}

func TestTable(t *testing.T) {
	table := Table(section())
	for _, want := range []string{
		"40 ms added", "helm/berth", "300.0 ms", "1.20 s", "4.0×", "280.0 ms – 320.0 ms",
		"✔ ≤ 6+10", "✔ ≤ 5", "✔ helm ≥ 3×", "✘ helm ≥ 20×", "0.2×",
	} {
		if !strings.Contains(table, want) {
			t.Errorf("%q is not in\n%s", want, table)
		}
	}
	if strings.Contains(table, string(Start)) {
		t.Errorf("a row for what was not measured:\n%s", table)
	}
}

func TestTimeline(t *testing.T) {
	text := Timeline(section(), Berth)
	lines := strings.Split(strings.TrimSpace(text), "\n")
	if len(lines) != 7 || !strings.HasPrefix(lines[1], ">") || !strings.Contains(lines[2], "open") {
		t.Fatalf("the timeline is\n%s", text)
	}
	for i, want := range map[int]string{3: "everything created", 4: "pod ready", 5: "exit", 6: "DELETE"} {
		if !strings.Contains(lines[i], want) {
			t.Errorf("line %d is %q, want %q in it", i, lines[i], want)
		}
	}
	if Timeline(Section{}, Berth) != "" {
		t.Error("a timeline of nothing")
	}
}

package contest

import (
	"bytes"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/berthdev/berth/test/bench/internal/process"
	"github.com/berthdev/berth/test/bench/internal/record"
	"github.com/berthdev/berth/test/bench/internal/report"
	"github.com/berthdev/berth/test/bench/internal/tools"
)

const manifest = `---
# Source: chart/templates/configmaps.yaml
apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
---
# Source: chart/templates/nothing.yaml
---
apiVersion: v1
kind: Pod
metadata: {name: alice-1}
`

func TestRead(t *testing.T) {
	objects, pod, err := read(manifest)
	if err != nil || objects != 2 || pod != "alice-1" {
		t.Errorf("read gives %d objects, pod %q, %v", objects, pod, err)
	}
	if _, _, err := read("kind: ConfigMap\n"); err == nil {
		t.Error("a manifest without a pod is accepted")
	}
}

func TestSample(t *testing.T) {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	at := func(ms int) time.Time { return start.Add(time.Duration(ms) * time.Millisecond) }
	call := func(method, path string, from, to int) record.Request {
		return record.Request{
			Method: method, Path: path, Status: 201, Arrived: at(from), Answered: at(to),
			Ended: at(to),
		}
	}
	requests := []record.Request{
		call(http.MethodGet, "/api/v1/namespaces/ns/secrets", 50, 60),
		call(http.MethodPost, "/api/v1/namespaces/ns/configmaps", 70, 80),
		call(http.MethodPost, "/api/v1/namespaces/ns/pods", 90, 100),
		call(http.MethodPut, "/api/v1/namespaces/ns/secrets/x", 110, 120),
		call(http.MethodGet, "/late", 900, 910),
	}
	usage := process.Usage{Started: start, Exited: at(520), CPU: 80 * time.Millisecond, MaxRSS: 50 << 20}
	s, err := sample(report.Berth, 2, usage, at(500), requests)
	if err != nil {
		t.Fatal(err)
	}
	for metric, want := range map[report.Metric]float64{
		report.Requests: 3, report.AllRequests: 4, report.RoundTrips: 3, report.FirstRequest: 0.05, report.Created: 0.1,
		report.Ready: 0.5, report.AfterReady: 0.02, report.Whole: 0.52, report.CPU: 0.08, report.Memory: 50,
	} {
		if got := s.Values[metric]; got != want {
			t.Errorf("%s is %v, want %v", metric, got, want)
		}
	}
	if len(s.Timeline) != 4 || !s.Timeline[0].Chain || s.Timeline[3].Chain {
		t.Errorf("the timeline is %+v", s.Timeline)
	}
	if _, err := sample(report.Berth, 3, usage, at(500), requests); err == nil {
		t.Error("a run that did not create everything is measured")
	}
}

func TestEveryProgramWorksInTheNamespaceOfItsRun(t *testing.T) {
	for _, p := range Programs(tools.Paths{Berth: "berth", Helm: "helm", Kubectl: "kubectl"},
		Subject{Release: "r", Pod: "r"}) {
		for _, argv := range p.Commands("ns-1") {
			found := false
			for i, arg := range argv {
				found = found || arg == "--namespace" && argv[i+1] == "ns-1"
			}
			if !found {
				t.Errorf("%s: %v", p.Name, argv)
			}
		}
	}
}

// All install the same: every object once, in the bundle and in the chart.
func TestMany(t *testing.T) {
	m, err := NewMany(t.TempDir(), 25)
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	text, err := os.ReadFile(filepath.Join(m.Bundle, "manifests", "all.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for document := range strings.SplitSeq(strings.TrimPrefix(string(text), "---\n"), "---\n") {
		var object struct {
			Kind     string `json:"kind"`
			Metadata struct {
				Name string `json:"name"`
			} `json:"metadata"`
		}
		if err := yaml.UnmarshalStrict([]byte(document), new(map[string]any)); err != nil {
			t.Fatal(err)
		}
		if err := yaml.Unmarshal([]byte(document), &object); err != nil {
			t.Fatal(err)
		}
		names[object.Kind+"/"+object.Metadata.Name] = true
	}
	if len(names) != m.Objects {
		t.Errorf("%d objects, want %d: %v", len(names), m.Objects, names)
	}
	chart, err := os.ReadFile(filepath.Join(m.Chart, "templates", "all.yaml"))
	if err != nil || !bytes.Equal(chart, text) {
		t.Errorf("the chart has something else: %v", err)
	}
}

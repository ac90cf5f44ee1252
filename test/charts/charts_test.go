package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// write writes the charts of testdata, each of one peculiarity that real ones have, which its description says.
func write(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no charts", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := unpack(text, dir); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
	}
	return dir
}

func newTestRenderers(t *testing.T) *renderers {
	t.Helper()
	both, err := newRenderers(options{release: "rel", namespace: "space", kubeVersion: defaultKubeVersion})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(both.close)
	return both
}

// refused are the charts, with the values, that neither of the two takes.
var refused = []string{
	"badvalue with ci/text-values.yaml", "ignoredall", "infinite", "lacking", "nilpointer", "nokind",
	"notyaml with ci/broken-values.yaml", "nullkey", "onlylibrary", "required", "required with ci/bad-values.yaml",
	"required with ci/empty-values.yaml", "schema with ci/bad-values.yaml", "schema with ci/condition-values.yaml",
	"schema with ci/sub-values.yaml", "syntax", "tooold", "twins", "undefined with ci/on-values.yaml",
}

// TestCharts compares what berth and Helm make of each chart.
func TestCharts(t *testing.T) {
	dir := write(t)
	cases, charts, err := find([]string{dir})
	if err != nil || charts < 50 {
		t.Fatal(charts, err)
	}
	both := newTestRenderers(t)
	for _, c := range cases {
		name := strings.TrimPrefix(strings.TrimPrefix(c.String(), dir), "/")
		t.Run(name, func(t *testing.T) {
			r := both.compare(t.Context(), c)
			for _, difference := range r.differences {
				t.Error(difference)
			}
			if (r.refused != nil) != slices.Contains(refused, name) {
				t.Errorf("refused by both: %v", r.refused)
			}
		})
	}
}

// Every chart says which peculiarity it is of.
func TestDescribed(t *testing.T) {
	dirs, err := chartsIn(write(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range dirs {
		text, err := os.ReadFile(filepath.Join(dir, "Chart.yaml"))
		if err != nil || !bytes.Contains(text, []byte("\ndescription: ")) {
			t.Errorf("%s is of no peculiarity: %v", filepath.Base(dir), err)
		}
	}
}

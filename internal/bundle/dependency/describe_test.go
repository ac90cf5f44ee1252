package dependency

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"testing"
	"testing/fstest"

	"github.com/berthdev/berth/internal/bundle/content"
	"github.com/berthdev/berth/internal/fault"
)

// late is an archive that has its Chart.yaml after so many bytes.
func late(t *testing.T, before int) []byte {
	t.Helper()
	var b bytes.Buffer
	compressed := gzip.NewWriter(&b)
	w := tar.NewWriter(compressed)
	for _, file := range []struct{ name, text string }{
		{"db/x", string(make([]byte, before))}, {"db/Chart.yaml", "name: db\nversion: 1.0.0\n"},
	} {
		if err := w.WriteHeader(&tar.Header{Name: file.name, Mode: 0o644, Size: int64(len(file.text))}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(file.text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := compressed.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// The archives of all charts of a gathering may inflate to so many bytes together. What is not read for that is an
// error, and no chart that is missing.
func TestInflatedTogether(t *testing.T) {
	files := fstest.MapFS{
		"Chart.yaml": {
			Data: []byte("apiVersion: v2\nname: app\nversion: 1.0.0\ndependencies:\n- {name: db, version: '*'}\n"),
		},
		"charts/db.tgz": {Data: late(t, 100<<10)},
	}
	for name, test := range map[string]struct {
		left   int64
		charts int // that are read before it is used up
	}{
		"nothing":            {0, 0},
		"less than for one":  {50 << 10, 0},
		"for one":            {150 << 10, 1},
		"for two and a half": {260 << 10, 2},
	} {
		t.Run(name, func(t *testing.T) {
			left := test.left
			for i := range test.charts + 1 {
				chart, err := describe(t.Context(), &node{files: files, dir: "."}, &left)
				if i == test.charts {
					if fault.ReasonOf(err) != content.ReasonTooLarge ||
						notAChart(err) != err { //nolint:errorlint // itself
						t.Errorf("of chart %d: %v", i+1, err)
					}
					continue
				}
				if err != nil || !chart.isWhole() {
					t.Errorf("of chart %d: %v, %v", i+1, chart, err)
				}
			}
		})
	}
}

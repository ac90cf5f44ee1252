package dependency_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/berthdev/berth/api/bundle/v1alpha1"
	"github.com/berthdev/berth/internal/bundle/dependency"
	"github.com/berthdev/berth/internal/chart"
	"github.com/berthdev/berth/internal/fault"
)

// What a chart depends on comes into its content, the newest that fits, from wherever it is: with what it depends on
// in its turn. What the chart has is not fetched.
func TestDependencies(t *testing.T) {
	s := newServer(t)
	for _, version := range []string{"1.0.0", "1.10.0", "1.9.0", "2.0.0-rc.1"} {
		s.add(t, "db", version, chartOf("db", version))
	}
	s.add(t, "web", "1.0.0", chartOf("web", "1.0.0", s.repository("db", "~1.9")))
	for name, test := range map[string]struct {
		chart files
		want  string // files beside those of app itself
		asked string
	}{
		"none": {chart: chartOf("app", "1.0.0")},
		"of a repository": {
			chart: chartOf("app", "1.0.0", s.repository("db", "^1")),
			want:  "charts/db-1.10.0/Chart.yaml", asked: "/charts/index.yaml /charts/db-1.10.0.tgz",
		},
		"of a registry, a range": {
			chart: chartOf("app", "1.0.0", s.registry("db", "^1")), want: "charts/db-1.10.0/Chart.yaml",
			asked: "/v2/oci/db/tags/list /v2/oci/db/manifests/1.10.0 /v2/oci/db/blobs",
		},
		"of a registry, a version": {
			chart: chartOf("app", "1.0.0", s.registry("db", "1.9.0")), want: "charts/db-1.9.0/Chart.yaml",
			asked: "/v2/oci/db/manifests/1.9.0 /v2/oci/db/blobs",
		},
		"of itself": {
			chart: chartOf("app", "1.0.0", "name: lib, version: '*', repository: 'file://parts/lib'").
				with("parts/lib", chartOf("lib", "0.1.0", "name: low, version: 0.1.0, repository: 'file://../low'")).
				with("parts/low", chartOf("low", "0.1.0")),
			want: "charts/lib-0.1.0/Chart.yaml charts/lib-0.1.0/charts/low-0.1.0/Chart.yaml parts/lib/Chart.yaml " +
				"parts/low/Chart.yaml",
		},
		"of one that is fetched": {
			chart: chartOf("app", "1.0.0", s.repository("web", "1.x"), s.repository("db", "1.0.0")),
			want: "charts/db-1.0.0/Chart.yaml charts/web-1.0.0/Chart.yaml " +
				"charts/web-1.0.0/charts/db-1.9.0/Chart.yaml",
			asked: "/charts/index.yaml /charts/web-1.0.0.tgz /charts/db-1.9.0.tgz /charts/db-1.0.0.tgz",
		},
		"the same under two names": {
			chart: chartOf("app", "1.0.0", s.repository("db", "1.0.0")+", alias: one",
				s.repository("db", "1.0.0")+", alias: two", s.repository("db", "1.9.0")+", alias: three"),
			want:  "charts/db-1.0.0/Chart.yaml charts/db-1.9.0/Chart.yaml",
			asked: "/charts/index.yaml /charts/db-1.0.0.tgz /charts/db-1.9.0.tgz",
		},
		"a directory that is there": {
			chart: chartOf("app", "1.0.0", s.repository("db", "^1")).with("charts/x", chartOf("db", "0.1.0")),
			want:  "charts/x/Chart.yaml",
		},
		"an archive that is there": {
			chart: chartOf("app", "1.0.0", s.repository("db", "^1"), s.repository("web", "*")).
				with("charts", files{"db.tgz": string(chartOf("db", "1.0.0").archive(t, "db"))}),
			want:  "charts/db.tgz charts/web-1.0.0/Chart.yaml charts/web-1.0.0/charts/db-1.9.0/Chart.yaml",
			asked: "/charts/index.yaml /charts/web-1.0.0.tgz /charts/db-1.9.0.tgz",
		},
		"what is switched off": {
			chart: chartOf("app", "1.0.0", s.repository("db", "1.0.0")+", condition: db.enabled").
				with("", files{"values.yaml": "db: {enabled: false}"}),
			want: "charts/db-1.0.0/Chart.yaml values.yaml", asked: "/charts/index.yaml /charts/db-1.0.0.tgz",
		},
		"with what is ignored": {
			chart: chartOf("app", "1.0.0", s.repository("db", "1.0.0")).
				with("", files{".helmignore": "*.md\ntemplates/\n", "README.md": "x"}),
			want: ".helmignore charts/db-1.0.0/Chart.yaml", asked: "/charts/index.yaml /charts/db-1.0.0.tgz",
		},
		"of Helm 2": {
			chart: files{"Chart.yaml": "name: app\nversion: 1.0.0\n", "requirements.yaml": "dependencies:\n- {" +
				s.repository("db", "1.0.0") + "}\n"},
			want:  "charts/db-1.0.0/Chart.yaml requirements.yaml",
			asked: "/charts/index.yaml /charts/db-1.0.0.tgz",
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFetcher(t)
			s.requests()
			c, err := ofDirectory(t.Context(), t, f, test.chart)
			if err != nil {
				t.Fatal(fault.From(err).Problems, err)
			}
			defer c.Close()
			want := strings.Fields("Chart.yaml " + test.want)
			slices.Sort(want)
			if got := strings.Fields(names(t, c)); !slices.Equal(got, want) {
				t.Errorf("%s, not %s", got, want)
			}
			var asked []string
			for path := range strings.FieldsSeq(s.requests()) {
				path, _, _ = strings.Cut(path, "/sha256:")
				asked = append(asked, path)
			}
			if got := strings.Join(asked, " "); got != test.asked {
				t.Errorf("requests %s, not %s", got, test.asked)
			}
			if err := chart.Check(t.Context(), c.FS(), chart.Options{}); err != nil {
				t.Error(err)
			}
			again, err := ofDirectory(t.Context(), t, newFetcher(t), test.chart)
			if err != nil {
				t.Fatal(err)
			}
			defer again.Close()
			if again.Digest != c.Digest {
				t.Errorf("the same source has the digests %s and %s", c.Digest, again.Digest)
			}
		})
	}
}

// The chart of a source, in a directory of its archive, is pinned twice: by what the source was resolved to, and by the
// digest of all of it, which is another one once a dependency without a lock has moved.
func TestDependenciesOfASource(t *testing.T) {
	s := newServer(t)
	s.add(t, "db", "1.0.0", chartOf("db", "1.0.0"))
	s.add(t, "app", "1.0.0", chartOf("app", "1.0.0", s.repository("db", "^1")))
	from := v1alpha1.Source{
		Type: v1alpha1.SourceChart, Chart: &v1alpha1.ChartSource{Repository: s.url + "/charts", Name: "app"},
	}
	f := newFetcher(t)
	c, resolved, err := dependency.Fetch(t.Context(), f, from)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if got := names(t, c); got != "app/Chart.yaml app/charts/db-1.0.0/Chart.yaml" {
		t.Error(got)
	}
	again, _, err := dependency.Fetch(t.Context(), newFetcher(t), resolved)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if again.Digest != c.Digest || resolved.HTTP.Digest == c.Digest {
		t.Errorf("%s, then %s, of an archive %s", c.Digest, again.Digest, resolved.HTTP.Digest)
	}
	s.add(t, "db", "1.1.0", chartOf("db", "1.1.0"))
	moved, to, err := dependency.Fetch(t.Context(), newFetcher(t), resolved)
	if err != nil {
		t.Fatal(err)
	}
	defer moved.Close()
	if moved.Digest == c.Digest || to.HTTP.Digest != resolved.HTTP.Digest {
		t.Errorf("%s is the digest with another dependency", moved.Digest)
	}
	pinned, _, err := dependency.Pinned{"db 1.0.0"}.Fetch(t.Context(), newFetcher(t), resolved)
	if err != nil {
		t.Fatal(err)
	}
	defer pinned.Close()
	if pinned.Digest != c.Digest {
		t.Errorf("with the versions that are pinned it has %s", names(t, pinned))
	}
}

// Charts of one directory depend on each other by their paths: with DIRECTORY//CHART they are found in the directory,
// and nowhere else.
func TestSiblings(t *testing.T) {
	const lib = "name: lib, version: '*', repository: 'file://../lib'"
	tree := files{"README.md": "x", "other/x.yaml": "x"}.
		with("charts/app", chartOf("app", "1.0.0", lib)).
		with("charts/lib", chartOf("lib", "0.1.0", "name: low, version: '*', repository: 'file://../../low'")).
		with("low", chartOf("low", "0.2.0")).
		with("charts/out", chartOf("out", "1.0.0", "name: x, version: '*', repository: 'file://../../../x'")).
		with("charts/ring", chartOf("ring", "1.0.0", "name: back, version: '*', repository: 'file://../back'")).
		with("charts/back", chartOf("back", "1.0.0", "name: ring, version: '*', repository: 'file://../ring'")).
		with("charts/link", chartOf("link", "1.0.0", "name: away, version: '*', repository: 'file://../away'"))
	dir := tree.write(t)
	outside := chartOf("away", "1.0.0").write(t)
	if err := os.Symlink(outside, filepath.Join(dir, "charts", "away")); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct{ source, want, refused string }{
		"beside and above": {
			source: "//charts/app",
			want:   "Chart.yaml charts/lib-0.1.0/Chart.yaml charts/lib-0.1.0/charts/low-0.2.0/Chart.yaml",
		},
		"not above what is named":  {source: "/charts//app", refused: "file://../../low is outside of the content"},
		"not without a part":       {source: "/charts/app", refused: "file://../lib is outside of the content"},
		"not outside of all":       {source: "//charts/out", refused: "file://../../../x is outside of the content"},
		"in a circle":              {source: "//charts/ring", refused: "a chart cannot depend on itself"},
		"by a link that leads out": {source: "//charts/link", refused: "away"},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := ofPath(t, newFetcher(t), dir+test.source)
			if test.refused != "" {
				if err == nil || !strings.Contains(err.Error(), test.refused) {
					t.Errorf("%v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			if got := names(t, c); got != test.want {
				t.Error(got)
			}
			if err := chart.Check(t.Context(), c.FS(), chart.Options{}); err != nil {
				t.Error(err)
			}
		})
	}
}

// A pin counts for the chart of its place alone, and only in the range that is asked for.
func TestPinned(t *testing.T) {
	s := newServer(t)
	for _, version := range []string{"1.0.0", "1.1.0", "2.0.0"} {
		s.add(t, "db", version, chartOf("db", version))
	}
	s.add(t, "web", "1.0.0", chartOf("web", "1.0.0", s.repository("db", "^1")))
	s.add(t, "app", "1.0.0", chartOf("app", "1.0.0", s.repository("db", "^2"), s.repository("web", "^1")))
	from := v1alpha1.Source{
		Type: v1alpha1.SourceChart, Chart: &v1alpha1.ChartSource{Repository: s.url + "/charts", Name: "app"},
	}
	const inApp = "app/Chart.yaml app/charts/db-2.0.0/Chart.yaml app/charts/web-1.0.0/Chart.yaml " +
		"app/charts/web-1.0.0/charts/db-"
	for name, test := range map[string]struct {
		pins dependency.Pinned
		want string
	}{
		"none":                       {nil, inApp + "1.1.0/Chart.yaml"},
		"of its place":               {dependency.Pinned{"db 2.0.0", "web/db 1.0.0"}, inApp + "1.0.0/Chart.yaml"},
		"of another one":             {dependency.Pinned{"db 1.0.0"}, inApp + "1.1.0/Chart.yaml"},
		"one that is not in range":   {dependency.Pinned{"web/db 2.0.0"}, inApp + "1.1.0/Chart.yaml"},
		"which is no version at all": {dependency.Pinned{"web/db", "web/db x"}, inApp + "1.1.0/Chart.yaml"},
	} {
		c, _, err := test.pins.Fetch(t.Context(), newFetcher(t), from)
		if err != nil {
			t.Fatal(name, err)
		}
		if got := names(t, c); got != test.want {
			t.Errorf("%s: %s", name, got)
		}
		_ = c.Close()
	}
}

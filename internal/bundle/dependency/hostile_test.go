package dependency_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/berthdev/berth/internal/bundle/content"
	"github.com/berthdev/berth/internal/fault"
)

// What cannot be fetched is refused by name, all of it together.
func TestRefused(t *testing.T) {
	s := newServer(t)
	s.add(t, "db", "1.0.0", chartOf("db", "1.0.0"))
	s.add(t, "liar", "1.0.0", chartOf("db", "1.0.0"))
	s.add(t, "old", "1.0.0", chartOf("old", "0.9.0"))
	s.add(t, "none", "1.0.0", files{"README.md": "x"})
	s.add(t, "self", "1.0.0", chartOf("self", "1.0.0", s.repository("self", "1.0.0")))
	s.add(t, "one", "1.0.0", chartOf("one", "1.0.0", s.repository("two", "1.0.0")))
	s.add(t, "two", "1.0.0", chartOf("two", "1.0.0", s.repository("one", "1.0.0")))
	s.add(t, "stale", "1.0.0", chartOf("stale", "1.0.0", s.repository("db", "^1")).with("", files{"Chart.lock": "{}"}))
	s.add(t, "needy", "1.0.0", chartOf("needy", "1.0.0", s.repository("gone", "1.0.0")))
	local := func(path string) string { return "name: lib, version: '*', repository: 'file://" + path + "'" }
	at := func(repository string) string { return "name: db, version: '*', repository: '" + repository + "'" }
	for name, test := range map[string]struct {
		on   []string
		code fault.Code
		says []string
	}{
		"one that is gone": {
			[]string{s.repository("gone", "^1")},
			fault.NotFound,
			[]string{"chart app depends on gone ^1 of " + s.url + "/charts: ", `has no chart "gone"`},
		},
		"no version that fits": {
			[]string{s.repository("db", "^2")}, fault.NotFound, []string{`has no version "^2"; the newest are 1.0.0`},
		},
		"no range": {
			[]string{s.repository("db", "new")},
			fault.InvalidArgument,
			[]string{`"new" is neither a version nor a range`},
		},
		"no version": {
			[]string{s.repository("db", "")}, fault.InvalidArgument, []string{`"" is neither a version nor a range`},
		},
		"no repository": {
			[]string{"name: db, version: '*'"},
			fault.InvalidArgument,
			[]string{"it names no repository, and charts/ does not have it"},
		},
		"not of a registry": {
			[]string{s.registry("gone", "1.0.0")}, fault.NotFound, []string{"/oci/gone:1.0.0 not found"},
		},
		"another chart": {
			[]string{s.repository("liar", "1.0.0")},
			fault.InvalidArgument,
			[]string{`what is there is the chart "db"`},
		},
		"another version": {
			[]string{s.repository("old", "1.0.0")},
			fault.InvalidArgument,
			[]string{"what is there has the version 0.9.0"},
		},
		"no chart": {
			[]string{s.repository("none", "1.0.0")},
			fault.InvalidArgument,
			[]string{"what is there is not a valid chart"},
		},
		"of itself": {
			[]string{s.repository("self", "1.0.0")},
			fault.InvalidArgument,
			[]string{"a chart cannot depend on itself: self → self"},
		},
		"in a circle": {
			[]string{s.repository("one", "1.0.0")},
			fault.InvalidArgument,
			[]string{"a chart cannot depend on itself: one → two → one"},
		},
		"of one that is there": {
			[]string{s.repository("needy", "1.0.0")}, fault.NotFound, []string{"chart needy depends on gone 1.0.0"},
		},
		"the chart around it": {
			[]string{"name: app, version: '*', repository: 'file://.'"},
			fault.InvalidArgument,
			[]string{"a chart cannot depend on itself: app → app"},
		},
		"outside": {
			[]string{local("../lib")}, fault.InvalidArgument, []string{"file://../lib is outside of the content"},
		},
		"far outside": {
			[]string{local("a/../../../etc")}, fault.InvalidArgument, []string{"outside of the content"},
		},
		"absolute": {
			[]string{local("/etc")}, fault.InvalidArgument, []string{"file:///etc is outside of the content"},
		},
		"not there": {[]string{local("lib")}, fault.NotFound, []string{"lib of the content is no chart"}},
		"a name of helm": {
			[]string{at("@stable")}, fault.InvalidArgument, []string{"helm knows no repository @stable"},
		},
		"an alias of helm": {
			[]string{at("alias:stable")}, fault.InvalidArgument, []string{"helm knows no repository alias:stable"},
		},
		"a name alone": {
			[]string{at("stable")},
			fault.InvalidArgument,
			[]string{`its repository "stable" is not one to fetch from`},
		},
		"another scheme": {
			[]string{at("git+https://git.example.com/x")},
			fault.InvalidArgument,
			[]string{"is not one to fetch from"},
		},
		"another scheme, with a login": {
			[]string{at("git+https://user:hunter2@git.example.com/x")},
			fault.InvalidArgument,
			[]string{`its repository "git+https://…" is not one to fetch from`},
		},
		"another scheme, with a query": {
			[]string{at("s3://bucket/x?token=hunter2")},
			fault.InvalidArgument,
			[]string{`its repository "s3://…" is not one to fetch from`},
		},
		"no scheme, with a login": {
			[]string{at("user:hunter2@git.example.com:x")},
			fault.InvalidArgument,
			[]string{`its repository "…" is not one to fetch from`},
		},
		"a registry, with a query": {
			[]string{at("oci://charts.example.com/x?token=hunter2")},
			fault.InvalidArgument,
			[]string{"its repository has a part after ? or #"},
		},
		"a login in it": {
			[]string{at("https://user:hunter2@charts.example.com")},
			fault.InvalidArgument,
			[]string{"without a login in it"},
		},
		"a login in a registry": {
			[]string{at("oci://user:hunter2@charts.example.com")},
			fault.InvalidArgument,
			[]string{"without a login in it"},
		},
		"several": {
			[]string{
				s.repository("gone", "^1"), s.repository("db", "1.0.0"), local("../lib"), s.repository("needy", "*"),
				s.repository("stale", "*"),
			},
			fault.NotFound,
			[]string{
				"chart app lacks 4 charts that it depends on", "\nchart app depends on gone ^1 of " + s.url,
				"\nchart app depends on lib *: file://../lib is outside", "\nchart needy depends on gone 1.0.0 of",
				"\nthe lock file (Chart.lock) of chart stale is out of sync",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := ofDirectory(t.Context(), t, newFetcher(t), chartOf("app", "1.0.0", test.on...))
			if err == nil {
				_ = c.Close()
			}
			if !says(err, test.code, test.says...) || strings.Contains(err.Error(), "hunter2") {
				t.Errorf("%s: %v %q", fault.CodeOf(err), err, fault.From(err).Problems)
			}
		})
	}
}

// What is hostile takes bounded requests, bytes and time.
func TestHostile(t *testing.T) {
	s := newServer(t)
	s.add(t, "db", "1.0.0", chartOf("db", "1.0.0"))
	many := func(n int) (all []string) {
		for i := range n {
			all = append(all, s.repository(fmt.Sprintf("x%d", i), "1.0.0"))
		}
		return all
	}
	for i := range 20 {
		below := []string{s.repository(fmt.Sprintf("deep%d", i+1), "1.0.0")}
		s.add(t, fmt.Sprintf("deep%d", i), "1.0.0", chartOf(fmt.Sprintf("deep%d", i), "1.0.0", below...))
		wide := []string{
			s.repository(fmt.Sprintf("also%d", i+1), "1.0.0"), s.repository(fmt.Sprintf("wide%d", i+1), "1.0.0"),
		}
		s.add(t, fmt.Sprintf("wide%d", i), "1.0.0", chartOf(fmt.Sprintf("wide%d", i), "1.0.0", wide...))
		s.add(t, fmt.Sprintf("also%d", i), "1.0.0", chartOf(fmt.Sprintf("also%d", i), "1.0.0", wide...))
	}
	s.add(t, "large", "1.0.0", chartOf("large", "1.0.0").with("", files{"x": strings.Repeat("x", 600<<10)}))
	s.add(t, "large", "2.0.0", chartOf("large", "2.0.0").with("", files{"x": strings.Repeat("y", 600<<10)}))
	small := content.Limits{Compressed: 1 << 20, Unpacked: 1 << 20, File: 1 << 20, Files: 200, Ratio: 200}
	for name, test := range map[string]struct {
		chart    files
		says     string
		requests int
	}{
		"more than a hundred": {chartOf("app", "1.0.0", many(101)...), "depends on more than 100 charts", 0},
		"ten thousand":        {chartOf("app", "1.0.0", many(10_000)...), "depends on more than 100 charts", 0},
		"deep": {
			chartOf("app", "1.0.0", s.repository("deep0", "1.0.0")), "more than 10 charts in each other: app → deep0",
			12,
		},
		"wide": {
			chartOf("app", "1.0.0", s.repository("wide0", "1.0.0")), "depends on more than 100 charts", 42,
		},
		"large together": {
			chartOf("app", "1.0.0", s.repository("large", "1.0.0"), s.repository("large", "2.0.0")+", alias: x"),
			"chart app depends on large 2.0.0", 3,
		},
		"a bomb for a parser": {chartOf("app", "1.0.0", s.repository("bomb", "1.0.0")), "is not a valid chart", 2},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFetcher(t)
			f.Limits = small
			s.requests()
			s.add(t, "bomb", "1.0.0", files{"Chart.yaml": "a: &a [x,x,x,x,x,x,x,x,x]\n" +
				"b: &b [*a,*a,*a,*a,*a,*a,*a,*a]\n" +
				"c: &c [*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c]\ne: &e [*d,*d,*d,*d,*d,*d,*d,*d]\n" +
				"f: &f [*e,*e,*e,*e,*e,*e,*e,*e]\ng: [*f,*f,*f,*f,*f,*f,*f,*f]\nname: bomb\nversion: 1.0.0\n"})
			c, err := ofDirectory(t.Context(), t, f, test.chart)
			if err == nil {
				_ = c.Close()
			}
			if err == nil || !strings.Contains(err.Error(), test.says) {
				t.Errorf("%v", err)
			}
			if n := len(strings.Fields(s.requests())); n > test.requests {
				t.Errorf("%d requests, more than %d", n, test.requests)
			}
		})
	}
}

// A lock, or a Chart.yaml, that cannot be read is nobody's: what reads the chart says what is wrong with it.
func TestBroken(t *testing.T) {
	s := newServer(t)
	for name, broken := range map[string]files{
		"a lock":         {"Chart.lock": "{"},
		"a lock's time":  {"Chart.lock": "generated: tomorrow"},
		"a large lock":   {"Chart.lock": "a: " + strings.Repeat("x", 2<<20)},
		"a Chart.yaml":   {"Chart.yaml": "name: ["},
		"a null":         {"Chart.yaml": "apiVersion: v2\nname: app\nversion: 1.0.0\ndependencies: [null]\n"},
		"a name":         {"Chart.yaml": "apiVersion: v2\nname: ../app\nversion: 1.0.0\ndependencies: [{name: a}]\n"},
		"an archive":     {"charts/a.tgz": "\x1f\x8bno"},
		"a requirements": {"requirements.yaml": "- a"},
	} {
		all := chartOf("app", "1.0.0", s.repository("db", "*")).with("", broken)
		c, err := ofDirectory(t.Context(), t, newFetcher(t), all)
		if name == "an archive" {
			if !says(err, fault.NotFound, "depends on db") {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		_ = c.Close()
	}
}

// What a repository sends that is no repository is an error that names it; a login goes along with no redirect; and all
// that is fetched has one time.
func TestHostileRepository(t *testing.T) {
	var sent []string
	elsewhere := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sent = append(sent, r.Header.Get("Authorization"))
		_, _ = w.Write([]byte("entries:\n  db:\n  - version: 1.0.0\n    urls: [x.tgz]\n"))
	}))
	t.Cleanup(elsewhere.Close)
	for name, test := range map[string]struct {
		answer func(w http.ResponseWriter, r *http.Request)
		says   string
	}{
		"garbage": {
			func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("\x00\xff\x00")) }, "has no entries",
		},
		"a page": {
			func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>")) }, "has no entries",
		},
		"a failure": {
			func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) }, "502 Bad Gateway",
		},
		"a circle": {
			func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, r.URL.Path, http.StatusFound) },
			"5 redirects",
		},
		"redirected": {
			func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, elsewhere.URL, http.StatusFound) },
			"x.tgz",
		},
		"silence": {
			func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
			"what the chart depends on was not fetched within",
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newServer(t)
			s.mislead = func(w http.ResponseWriter, r *http.Request) bool { test.answer(w, r); return true }
			f := newFetcher(t)
			getenv := f.Getenv
			known := "repositories:\n- {name: x, url: '" + s.url + "/charts', username: u, password: p}\n"
			config := files{"repositories.yaml": known}.write(t)
			f.Getenv = func(name string) string {
				if name == "HELM_CONFIG_HOME" {
					return config
				}
				return getenv(name)
			}
			f.Time = time.Minute
			if name == "silence" {
				f.Time = 100 * time.Millisecond
			}
			c, err := ofDirectory(t.Context(), t, f, chartOf("app", "1.0.0", s.repository("db", "*")))
			if err == nil {
				_ = c.Close()
			}
			if err == nil || !strings.Contains(err.Error(), test.says) || name != "silence" &&
				!strings.Contains(err.Error(), "chart app depends on db * of "+s.url) {
				t.Errorf("%v", err)
			}
		})
	}
	if len(sent) == 0 || strings.Join(sent, "") != "" {
		t.Errorf("%q was sent elsewhere", sent)
	}
}

// Nothing is left behind, and nothing is fetched once the caller has given up.
func TestCanceled(t *testing.T) {
	s := newServer(t)
	s.add(t, "db", "1.0.0", chartOf("db", "1.0.0"))
	ctx, cancel := context.WithCancel(t.Context())
	s.mislead = func(http.ResponseWriter, *http.Request) bool { cancel(); return false }
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	if c, err := ofDirectory(ctx, t, newFetcher(t), chartOf("app", "1.0.0", s.repository("db", "*"))); err == nil {
		_ = c.Close()
		t.Error("it was fetched")
	}
	left, err := os.ReadDir(temporary)
	if err != nil || len(left) > 0 && strings.HasPrefix(left[0].Name(), "berth-index") {
		t.Errorf("%v %v", left, err)
	}
}

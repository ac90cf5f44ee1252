package dependency_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	helmchart "helm.sh/helm/v3/pkg/chart"
	"sigs.k8s.io/yaml"

	"github.com/berthdev/berth/internal/fault"
)

// locked is the chart with a lock as helm writes it.
func (f files) locked(t *testing.T, versions ...string) files {
	t.Helper()
	var meta helmchart.Metadata
	if err := yaml.Unmarshal([]byte(f["Chart.yaml"]), &meta); err != nil {
		t.Fatal(err)
	}
	var lock helmchart.Lock
	for i, d := range meta.Dependencies {
		lock.Dependencies = append(lock.Dependencies,
			&helmchart.Dependency{Name: d.Name, Repository: d.Repository, Version: versions[i]})
	}
	text, err := json.Marshal([2][]*helmchart.Dependency{meta.Dependencies, lock.Dependencies})
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(text)
	lock.Digest = "sha256:" + hex.EncodeToString(sum[:])
	if text, err = yaml.Marshal(lock); err != nil {
		t.Fatal(err)
	}
	return f.with("", files{"Chart.lock": string(text)})
}

// A lock says which version is taken, if it is for the dependencies that the chart has.
func TestLock(t *testing.T) {
	s := newServer(t)
	for _, version := range []string{"1.0.0", "1.1.0"} {
		s.add(t, "db", version, chartOf("db", version))
	}
	db, low := s.repository("db", "^1"), s.registry("db", "^1")+", alias: low"
	inSync := chartOf("app", "1.0.0", db).locked(t, "1.0.0")
	lock := func(text string) files { return chartOf("app", "1.0.0", db).with("", files{"Chart.lock": text}) }
	with := func(old, now string) files { return lock(strings.Replace(inSync["Chart.lock"], old, now, 1)) }
	const outOfSync = "the lock file (Chart.lock) of chart app is out of sync"
	for name, test := range map[string]struct {
		chart files
		want  string
		says  string
		code  fault.Code
	}{
		"none":          {chart: chartOf("app", "1.0.0", db), want: "charts/db-1.1.0"},
		"one":           {chart: inSync, want: "charts/db-1.0.0"},
		"of a registry": {chart: chartOf("app", "1.0.0", low).locked(t, "1.0.0"), want: "charts/db-1.0.0"},
		"another range since": {
			chart: chartOf("app", "1.0.0", s.repository("db", "~1")).
				with("", files{"Chart.lock": inSync["Chart.lock"]}),
			says: outOfSync,
		},
		"another dependency since": {
			chart: chartOf("app", "1.0.0", db, low).with("", files{"Chart.lock": inSync["Chart.lock"]}),
			says:  outOfSync,
		},
		"another version":    {chart: with("1.0.0", "1.1.0"), says: outOfSync},
		"another name":       {chart: with("name: db", "name: web"), says: outOfSync},
		"another repository": {chart: with("/charts", "/evil"), says: outOfSync},
		"another digest":     {chart: with("sha256:", "sha256:0"), says: outOfSync},
		"empty":              {chart: lock("{}"), says: outOfSync},
		"null":               {chart: lock("dependencies: [null]\n"), says: outOfSync},
		"a version that is gone": {
			chart: chartOf("app", "1.0.0", db).locked(t, "1.0.7"), code: fault.NotFound,
			says: `chart app depends on db 1.0.7 of ` + s.url + `/charts: chart db of ` + s.url +
				`/charts/ has no version "1.0.7"`,
		},
		"a version out of range": {
			chart: chartOf("app", "1.0.0", s.repository("db", "~1.1")).locked(t, "1.0.0"),
			says:  "what is there has the version 1.0.0",
		},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := ofDirectory(t.Context(), t, newFetcher(t), test.chart)
			if test.says != "" {
				if test.code == "" {
					test.code = fault.InvalidArgument
				}
				if !says(err, test.code, test.says) {
					t.Errorf("%s: %v", fault.CodeOf(err), err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			if got := names(t, c); !strings.Contains(got, test.want+"/") {
				t.Errorf("%s, not %s", got, test.want)
			}
		})
	}
}

// The digests of locks are those that helm has written, for charts of both of its versions.
func TestLockOfHelm(t *testing.T) {
	const lock = "dependencies:\n- name: lib\n  repository: file://parts/lib\n  version: 0.1.0\n" +
		"digest: sha256:%s\ngenerated: \"2026-11-27T14:56:40.204141491Z\"\n"
	v2 := chartOf("app", "1.0.0", "name: lib, version: ^0.1, repository: 'file://parts/lib', alias: x, "+
		"condition: x.on, tags: [a], import-values: [data, {child: a, parent: b}]")
	v2["Chart.lock"] = fmt.Sprintf(lock, "9c57e5b6cdc7b70eda635fba4273900761fdec2c1954d38a7def6a5782b257aa")
	v1 := files{
		"Chart.yaml":        "apiVersion: v1\nname: app\nversion: 1.0.0\n",
		"requirements.yaml": "dependencies:\n- {name: lib, version: ^0.1, repository: 'file://parts/lib'}\n",
		"requirements.lock": fmt.Sprintf(lock, "7678c4371def25f497378295966f48a61a64e7ce9d05731480d2ec5bda831827"),
	}
	for name, all := range map[string]files{"v2": v2, "v1": v1} {
		c, err := ofDirectory(t.Context(), t, newFetcher(t), all.with("parts/lib", chartOf("lib", "0.1.0")))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		_ = c.Close()
	}
}

package dependency

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"

	helmchart "helm.sh/helm/v3/pkg/chart"

	"github.com/berthdev/berth/internal/fault"
)

// wanted is a dependency with where it is and which version of it.
type wanted struct {
	name, repository string
	version          string // that of the lock, or a range
	within           string // the range that it has to be in
}

// wanted are the missing dependencies of a chart, with the versions of its lock if it has one. Names that helm has for
// repositories become URLs: those that helm knows, or those in the lock.
func (d *description) wanted(named func(string) (string, error)) ([]wanted, error) {
	resolved := make([]*helmchart.Dependency, len(d.meta.Dependencies))
	for i, asked := range d.meta.Dependencies {
		copied := *asked
		if name := alias(asked.Repository); name != "" {
			url, err := named(name)
			if err != nil {
				return nil, err
			}
			if url == "" && d.lock != nil && i < len(d.lock.Dependencies) && d.lock.Dependencies[i] != nil {
				url = d.lock.Dependencies[i].Repository
			}
			if url != "" {
				copied.Repository = url
			}
		}
		resolved[i] = &copied
	}
	if d.lock != nil && !d.inSync(resolved) {
		return nil, fault.New(fault.InvalidArgument, "the lock file (%s) of chart %s is out of sync with its "+
			"dependencies", d.lockFile, d.meta.Name).
			WithHint("run `helm dependency update` in the chart, and commit or pack the lock that it writes")
	}
	var all []wanted
	for i, asked := range d.meta.Dependencies {
		if slices.Contains(d.has, asked.Name) {
			continue
		}
		w := wanted{asked.Name, resolved[i].Repository, asked.Version, asked.Version}
		if d.lock != nil {
			w.version = d.lock.Dependencies[i].Version
		}
		all = append(all, w)
	}
	return all, nil
}

// alias is the name that helm has for a repository; empty for a URL.
func alias(repository string) string {
	for _, prefix := range []string{"@", "alias:"} {
		if name, ok := strings.CutPrefix(repository, prefix); ok {
			return name
		}
	}
	return ""
}

// inSync says whether a lock is for these dependencies, by its digest, as Helm makes it: of both. A lock of Helm 2 has
// another one.
func (d *description) inSync(resolved []*helmchart.Dependency) bool {
	locked := d.lock.Dependencies
	if len(locked) != len(resolved) {
		return false
	}
	for i, l := range locked {
		if l == nil || l.Name != resolved[i].Name || l.Repository != resolved[i].Repository &&
			l.Repository != d.meta.Dependencies[i].Repository {
			return false
		}
	}
	return d.lock.Digest == digestOf([2][]*helmchart.Dependency{resolved, locked}) ||
		d.meta.APIVersion == helmchart.APIVersionV1 &&
			d.lock.Digest == digestOf(map[string][]*helmchart.Dependency{"dependencies": d.meta.Dependencies})
}

func digestOf(what any) string {
	text, err := json.Marshal(what)
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(text)
	return "sha256:" + hex.EncodeToString(sum[:])
}

//go:build e2e

package e2e

import (
	"maps"
	"slices"
	"strings"
	"testing"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/rbac"
)

// Where the configuration requires signatures, what is signed is installed, upgraded and rolled back. All else is
// refused with what was found before anything is written, and what is installed stays.
func TestBundlesSigned(t *testing.T) {
	for name, of := range map[string]func(*world) signedPublication{
		"Image": signedImage, "OCIChart": signedChart, "Archive": signedArchive, "Repository": signedRepository,
		"PushedProvenance": signedPush,
	} {
		t.Run(name, func(t *testing.T) {
			w := newBundles(t)
			w.onlySigned(of(w))
		})
	}
}

func (w *world) onlySigned(p signedPublication) {
	w.Helper()
	config := w.write(w.TempDir(), "config.yaml", "bundles: {verify: required, "+p.config+"}\n")
	direct := w.kubeconfig
	recorded := func(do func()) (writing []rbac.Access) {
		to := &asked{}
		w.kubeconfig = w.record(to, "")
		do()
		w.kubeconfig = direct
		return slices.DeleteFunc(to.list(), func(a rbac.Access) bool { return !writes(a) })
	}
	run := func(status int, verb string, args ...string) result {
		w.Helper()
		cmd := w.command(append([]string{"bundle", verb, w.instance(), "--system-namespace", w.namespace}, args...)...)
		cmd.Env = append(cmd.Env, "BERTH_CONFIG="+config)
		r := w.finish(cmd)
		r.mustBe(w, status)
		return r
	}
	refused := func(version, text string) {
		w.Helper()
		for _, as := range slices.Sorted(maps.Keys(p.refused)) {
			p.publish(version, configMap("a", text), as)
			writing := recorded(func() {
				for _, verb := range []string{"install", "diff"} {
					w.contains(run(3, verb, p.source(version)...).stderr, append(p.refused[as], "hint:")...)
				}
			})
			if len(writing) > 0 {
				w.Errorf("%s: %q, and nothing was to be written", as, writing)
			}
		}
	}
	refused("1.0.0", "of mallory")
	w.bundle(7, "status")

	p.publish("1.1.0", configMap("a", "one"), signed)
	writing := recorded(func() {
		i := decode[v1.BundleInstallation](w, run(0, "install", append(p.source("1.1.0"), "-o", "json")...))
		if !i.Healthy || !strings.HasPrefix(i.Content.SignedBy, "key ") {
			w.Errorf("%+v", i)
		}
	})
	if len(writing) == 0 {
		w.Error("nothing is seen of what is written")
	}
	w.text("a", "one")

	refused("1.2.0", "of mallory")
	w.hasInstalled("one")
	if got, want := w.history(), []string{"1 deployed"}; !slices.Equal(got, want) {
		w.Errorf("%q, want %q", got, want)
	}

	p.publish("1.3.0", configMap("a", "two"), signed)
	run(0, "install", p.source("1.3.0")...)
	w.hasInstalled("two")
	run(0, "rollback")
	w.hasInstalled("one")
	w.uninstalled()
}

// writes is true for what changes something on the cluster.
func writes(a rbac.Access) bool {
	return !slices.Contains([]string{"get", "list", "watch"}, a.Verb)
}

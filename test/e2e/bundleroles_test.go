//go:build e2e

package e2e

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/berthdev/berth/internal/rbac"
)

// bundling are the commands about bundles, with uses of which each has a world of its
// own. The system namespace is that of the world.
func bundling() []duty {
	command := func(before func(*world), args ...string) use {
		return use{args: append([]string{"bundle"}, append(args, "--system-namespace", "NAMESPACE")...), before: before}
	}
	nothing := func(*world) {}
	installed := func(w *world) { w.bundle(0, "install", "testdata/bundles/one") }
	interrupted := func(w *world) {
		installed(w)
		killed("POST", "secrets", "bundle", "install", w.instance(), "testdata/bundles/two", "--system-namespace",
			w.namespace)(w)
	}
	upgraded := func(w *world) {
		installed(w)
		w.bundle(0, "install", "testdata/bundles/two")
	}
	directory := filepath.Join(os.TempDir(), "content-NAMESPACE")
	written := func(w *world) {
		installed(w)
		w.Cleanup(func() { _ = os.RemoveAll(w.words().Replace(directory)) })
	}
	reading := []use{
		command(installed, "list"), command(installed, "status", "b-NAMESPACE"),
		command(installed, "diff", "b-NAMESPACE", "testdata/bundles/two"), command(installed, "history", "b-NAMESPACE"),
		command(written, "content", "b-NAMESPACE", directory),
	}
	uninstalling := command(installed, "uninstall", "b-NAMESPACE")
	writing := []use{
		command(nothing, "install", "b-NAMESPACE", "testdata/bundles/one"),
		command(installed, "install", "b-NAMESPACE", "testdata/bundles/two"),
		command(interrupted, "install", "b-NAMESPACE", "testdata/bundles/two"), uninstalling,
		command(upgraded, "rollback", "b-NAMESPACE"),
	}
	unseen := uninstalling.telling("is not looked for")
	definitions := map[string]string{ // no bundle here has custom resources
		"get customresourcedefinitions.apiextensions.k8s.io": "TestInstallOfWhatNoUpgradeCouldApply",
	}
	listed := map[string]string{
		"list customresourcedefinitions.apiextensions.k8s.io": "it is used before Kubernetes 1.34",
		"list persistentvolumeclaims":                         "it is used before Kubernetes 1.34",
	}
	maps.Copy(listed, definitions)
	without := map[string]use{
		"watch customresourcedefinitions.apiextensions.k8s.io": unseen,
		"watch persistentvolumeclaims":                         unseen,
	}
	contents := rbac.Command{Rules: []rbac.Rule{{
		Resource: "configmaps",
		Verbs:    []string{"create", "get", "list", "watch", "patch", "delete"},
	}}}
	created := rbac.Command{Rules: []rbac.Rule{{
		Resource: "configmaps",
		Verbs:    []string{"create", "list", "watch"},
	}}}
	ofConfigMaps := command(func(w *world) { w.immutable("content", configMap("a", "one")) }, "install", "b-NAMESPACE",
		"configmap/content=manifests")
	waiting := func(w *world) {
		w.bundle(5, "install", "testdata/bundles/waiting", "--timeout", "15s")
	}
	looking, following := command(waiting, "status", "b-NAMESPACE"),
		command(nothing, "install", "b-NAMESPACE", "testdata/bundles/waiting", "--timeout", "40s")
	following.status = 5
	deployed := rbac.Command{Rules: []rbac.Rule{{
		Group: "apps", Resource: "deployments",
		Verbs: []string{"create", "get", "list", "watch", "patch", "delete"},
	}}}
	unread := map[string]use{}
	for _, resource := range []string{"pods", "events", "replicasets.apps", "persistentvolumeclaims"} {
		unread["list "+resource], unread["watch "+resource] = looking.telling("not seen in full"),
			following.telling("not seen in full")
	}
	ofASecret := command(nothing, "install", "b-NAMESPACE", "https://localhost/none.tgz", "--source-secret", "none")
	ofASecret.status = 7
	return []duty{
		{
			command: rbac.Named(rbac.BundleStatus), with: []rbac.Command{
				rbac.Named(rbac.BundleStatusInSystem),
				contents,
			},
			uses: reading, elsewhere: definitions,
		},
		{
			command: rbac.Named(rbac.BundleStatusInSystem), with: []rbac.Command{contents},
			withAll: []rbac.Command{rbac.Named(rbac.BundleStatus)},
			uses:    []use{reading[2], reading[0], reading[1], reading[3]},
		}, // the others do without
		{
			command: rbac.Named(rbac.BundleInstall), with: []rbac.Command{
				rbac.Named(rbac.BundleInstallInSystem),
				contents,
			},
			uses: writing, without: without, elsewhere: listed,
		},
		{
			command: rbac.Named(rbac.BundleInstallInSystem), with: []rbac.Command{contents},
			withAll: []rbac.Command{rbac.Named(rbac.BundleInstall)}, uses: writing,
			without:   map[string]use{"delete leases.coordination.k8s.io": writing[0]},
			elsewhere: map[string]string{"create configmaps": "it is among what the bundle contains"},
		},
		{
			command: rbac.Named(rbac.BundleSources), with: []rbac.Command{
				rbac.Named(rbac.BundleInstallInSystem),
				created,
			},
			withAll: []rbac.Command{rbac.Named(rbac.BundleInstall)}, uses: []use{ofConfigMaps, ofASecret},
		},
		{
			command: rbac.Named(rbac.BundleCauses), with: []rbac.Command{
				rbac.Named(rbac.BundleInstallInSystem),
				deployed,
			},
			withAll: []rbac.Command{rbac.Named(rbac.BundleInstall), rbac.Named(rbac.BundleStatus)},
			uses:    []use{looking, following}, without: unread,
			elsewhere: map[string]string{
				"list persistentvolumeclaims":  "the Role to install has it, too",
				"watch persistentvolumeclaims": "the Role to install has it, too",
			},
		},
	}
}

// The Roles of the commands about bundles are enough for them, all of them is used, and
// what is missing is named.
func TestRolesOfBundles(t *testing.T) {
	t.Parallel()
	for _, d := range bundling() {
		t.Run(d.command.Name, func(t *testing.T) {
			t.Parallel()
			all := make([]*asked, len(d.uses))
			t.Run("with its Role", func(t *testing.T) {
				for i, u := range d.uses {
					t.Run(strings.Join(u.args[1:3], " "), func(t *testing.T) {
						w := newBundles(t)
						u.before(w)
						all[i] = w.as(w.grants(d, d.command.PolicyRules())...).asks(d, u, w.words())
					})
				}
			})
			if t.Failed() {
				return
			}
			for a, u := range (&world{T: t}).used(d, all) {
				if slices.Contains(d.command.All(), a) && d.elsewhere[a.String()] == "" {
					t.Run("without "+a.String(), func(t *testing.T) { refused(t, d, u, a) })
				}
			}
		})
	}
}

// refused runs a use without a permission. What is named is where the bundle's work has
// ended; that is recorded on its instance, so that something may be left.
func refused(t *testing.T, d duty, u use, a rbac.Access) {
	w := newBundles(t)
	lesser, optional := d.without[a.String()]
	if optional {
		u = lesser
	}
	u.before(w)
	r := w.as(w.grants(d, without(d.command, a))...).run(u, nil, w.words())
	if optional {
		r.mustBe(w, u.status)
		w.contains(r.stdout+r.stderr, u.says)
		return
	}
	r.mustBe(w, 4)
	w.contains(r.stderr, "PERMISSION_DENIED")
	w.names(r.stderr, a)
}

package bundle_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/berthdev/berth/api/bundle/v1alpha1"
	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/bundle/content"
	"github.com/berthdev/berth/internal/bundle/controller"
	"github.com/berthdev/berth/internal/bundle/instance"
	"github.com/berthdev/berth/internal/bundle/source"
	"github.com/berthdev/berth/internal/commands/cmdtest"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/kubetest"
	"github.com/berthdev/berth/internal/serve"
	"github.com/berthdev/berth/internal/waittest"
)

// hooked is a chart whose hooks make ConfigMaps that say of which version they are, beside one of its values.
func hooked(version string) release {
	hook := func(event string) string {
		return "{apiVersion: v1, kind: ConfigMap, metadata: {name: " + event + "-" + version +
			", annotations: {helm.sh/hook: " + event + "}}}"
	}
	return release{args: []string{"--set", "name=of-" + version}, files: map[string]string{
		"Chart.yaml":       "{apiVersion: v2, name: web, version: " + version + "}",
		"values.yaml":      "{also: default}",
		"templates/a.yaml": "{apiVersion: v1, kind: ConfigMap, metadata: {name: {{ .Values.name }}}}",
		"templates/h.yaml": hook("pre-upgrade") + "\n---\n" + hook("post-upgrade") + "\n---\n" +
			hook("pre-rollback") + "\n---\n" + hook("post-install"),
	}}
}

// watching is an operator that is to watch a namespace.
func watching(version, namespace string) release {
	return release{args: []string{"--watch-namespaces", namespace}, files: map[string]string{
		"metadata/annotations.yaml": "annotations: {operators.operatorframework.io.bundle.package.v1: web}\n",
		"manifests/web.yaml": strings.NewReplacer("web.v1", "web.v"+version, "version: 1.0.0",
			"version: "+version+".0.0").Replace(webhookOperator),
	}}
}

// A rollback is an upgrade to what a revision had: its content by the digest, its values, what its operator watched,
// and the hooks of an upgrade, of that version. It has a revision of its own, and what it replaces stays in the
// history.
func TestWhatARollbackIs(t *testing.T) {
	for name, test := range map[string]struct {
		first, second release
		has           string // ConfigMaps, those of hooks included
		config        string // of the instance
	}{
		"plain manifests": {first: plainly("one"), second: plainly("two"), has: "one", config: `{"namespace":"team"}`},
		"a chart": {
			first: hooked("1.0.0"), second: hooked("2.0.0"), config: `{"namespace":"team","values":"name: of-1.0.0\n"}`,
			has: "of-1.0.0 post-install-1.0.0 post-upgrade-1.0.0 post-upgrade-2.0.0 pre-upgrade-1.0.0 " +
				"pre-upgrade-2.0.0",
		},
		"an operator": {
			first: watching("1", "shop,team"), second: watching("2", "stage,team"),
			config: `{"namespace":"team","watchNamespaces":["shop","team"]}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			first, second := test.first, test.second
			if strings.HasPrefix(name, "an operator") { // of which no pod ever runs here
				first.args, second.args = append(first.args, "--no-wait"), append(second.args, "--no-wait")
			}
			server := installing(t, first, second)
			out, _ := cmdtest.Must(t, 0, "bundle", "rollback", "shop", "--no-wait", "-o", "json")
			i := decoded[v1.BundleInstallation](t, out)
			if i.Revision != 3 || i.RolledBackTo != 1 || i.Action != v1.BundleUpgraded {
				t.Errorf("%+v", i)
			}
			out, _ = cmdtest.Must(t, 0, "bundle", "history", "shop", "-o", "json")
			items := decoded[v1.BundleHistory](t, out).Items
			var statuses []string
			for _, r := range items {
				statuses = append(statuses, r.Status)
			}
			if !slices.Equal(statuses, []string{"deployed", "superseded", "superseded"}) {
				t.Fatal(statuses)
			}
			if now, then := items[0], items[2]; now.Digest != then.Digest || now.Digest == items[1].Digest ||
				now.Source != then.Source || now.Version != then.Version || i.Content.Digest != then.Digest {
				t.Errorf("%+v is not as %+v", now, then)
			}
			in := server.Get("/apis/core.rukpak.io/v1alpha1/bundleinstances/shop")
			spec, _ := in.Object["spec"].(map[string]any)
			if got := encoded(t, spec["config"]); got != test.config {
				t.Errorf("the instance has %s", got)
			}
			if got := has(server); got != test.has {
				t.Errorf("it has %s", got)
			}
		})
	}
}

// What applies an instance again and again would undo a rollback: it is refused, unless that is known.
func TestRollbackUnderGitOps(t *testing.T) {
	server := installing(t, plainly("one"), plainly("two"))
	const at = "/apis/core.rukpak.io/v1alpha1/bundleinstances/shop"
	in := server.Get(at).DeepCopy()
	in.SetLabels(map[string]string{"kustomize.toolkit.fluxcd.io/name": "apps"})
	server.Put(at, in)
	for _, test := range []struct {
		args   []string
		status int
		says   string // on standard error
		has    string // what is installed then
	}{
		{status: 6, says: "Flux (kustomize apps) applies bundle shop", has: "two"},
		{args: []string{"--dry-run=client"}, has: "two"},
		{args: []string{"--ignore-gitops"}, has: "one"},
	} {
		args := append([]string{"bundle", "rollback", "shop"}, test.args...)
		_, stderr := cmdtest.Must(t, test.status, args...)
		if !strings.Contains(stderr, test.says) || has(server) != test.has {
			t.Errorf("%q: %s, %s", test.args, stderr, has(server))
		}
	}
}

// serving runs what `berth serve bundles` does, over a cluster, with a cache of its own.
func serving(t *testing.T, url string) {
	t.Helper()
	core, dynamic, config := kubetest.Clients(t, url)
	sending, err := rest.HTTPClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	kept := t.TempDir()
	t.Cleanup(func() { // a fetch outlives the server that has begun it
		waittest.Until(t, "nothing is fetched any more", func() bool { return os.RemoveAll(kept) == nil })
	})
	client := &kube.Client{Interface: core, Dynamic: dynamic, Config: config, HTTP: sending}
	work := &controller.Controller{
		Client: dynamic, Classes: []string{v1alpha1.ClassPlain, v1alpha1.ClassHelm}, Workers: 1, Period: time.Hour,
		Timeout: time.Minute, Log: slog.New(slog.DiscardHandler),
		Reconciler: instance.NewBackend(instance.Reconciler{
			Own: client, Installs: client, System: instance.DefaultSystem, Now: time.Now, Fetcher: source.Fetcher{
				Cache: content.NewCache(kept, 1<<20), Limits: content.DefaultLimits(),
				Cluster: &source.Cluster{Client: core.CoreV1(), Namespace: instance.DefaultSystem},
			},
		}),
	}
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() {
		work.Run(ctx, controller.Election{
			Leases: core.CoordinationV1(), Namespace: instance.DefaultSystem, Identity: "server",
			Metrics: serve.NewMetrics(), Health: &serve.Health{},
		})
	})
	t.Cleanup(running.Wait)
	t.Cleanup(stop)
}

// A server that works on the instance carries a rollback out, and keeps to it: it has the content of the revision, of
// the machine that asks, with its values.
func TestRollbackUnderAServer(t *testing.T) {
	for name, test := range map[string]struct{ first, second release }{
		"plain manifests": {plainly("one"), plainly("two")},
		"a chart":         {charted("one"), charted("two")},
	} {
		t.Run(name, func(t *testing.T) {
			server := installing(t, test.first, test.second)
			serving(t, server.URL)
			leads(t, server)
			out, _ := cmdtest.Must(t, 0, "bundle", "rollback", "shop", "-o", "json")
			i := decoded[v1.BundleInstallation](t, out)
			if i.Action != v1.BundleRequested {
				t.Errorf("%+v", i)
			}
			waittest.Until(t, "the server installs the first", func() bool { return has(server) == "one" })
			waittest.Until(t, "another pass, once the server is not at it", func() bool {
				status, _, _ := cmdtest.Run(t, "", "bundle", "reconcile")
				return status == 0
			})
			out, _ = cmdtest.Must(t, 0, "bundle", "history", "shop", "-o", "json")
			items := decoded[v1.BundleHistory](t, out).Items
			if len(items) != 3 || items[0].Digest != items[2].Digest || has(server) != "one" {
				t.Errorf("%+v, %s", items, has(server))
			}
		})
	}
}

// leads waits until a server leads the classes.
func leads(t *testing.T, server *kubetest.Server) {
	t.Helper()
	waittest.Until(t, "a server leads", func() bool {
		held := 0
		for _, at := range server.Names("leases") {
			lease := server.Get("/apis/coordination.k8s.io/v1/namespaces/berth-system/leases/" + filepath.Base(at))
			if lease == nil || !strings.Contains(at, "leader") {
				continue
			}
			if spec, _ := lease.Object["spec"].(map[string]any); spec["holderIdentity"] != "" {
				held++
			}
		}
		return held == 2
	})
}

// A record that cannot be read is named, and neither passed over nor guessed at.
func TestUnreadableRevisions(t *testing.T) {
	const second = "/api/v1/namespaces/berth-system/secrets/sh.helm.release.v1.shop.v2"
	for name, test := range map[string]struct {
		damaged string
		args    string
		refusal string
		want    string
	}{
		"it may be what is meant": {damaged: "2", want: "three", refusal: "revision 2 of bundle shop may be"},
		"it is named":             {damaged: "2", args: "2", want: "three", refusal: "cannot be read"},
		"another one is named":    {damaged: "2", args: "1", want: "one"},
		"an older one":            {damaged: "1", want: "two"},
		"the newest":              {damaged: "3", args: "1", want: "three", refusal: "cannot be read"},
	} {
		t.Run(name, func(t *testing.T) {
			home, _ := os.Getwd()
			server := installing(t, plainly("one"), plainly("two"), plainly("three"))
			at := strings.TrimSuffix(second, "2") + test.damaged
			secret := server.Get(at).DeepCopy()
			secret.Object["data"] = map[string]any{"release": "bm9uc2Vuc2U="}
			server.Put(at, secret)
			out, _ := cmdtest.Must(t, 0, "bundle", "history", "shop", "-o", "json")
			h := decoded[v1.BundleHistory](t, out)
			if len(h.Items) != 2 || len(h.Warnings) != 1 ||
				!strings.Contains(h.Warnings[0], "revision "+test.damaged+" is not listed") {
				t.Errorf("%+v", h)
			}
			if out, _ := cmdtest.Must(t, 0, "bundle", "history", "shop"); !strings.Contains(out, "is not listed") {
				t.Error(out)
			}
			status, _, stderr := cmdtest.Run(t, "", append([]string{"bundle", "rollback", "shop"},
				strings.Fields(test.args)...)...)
			if (status == 0) != (test.refusal == "") || !strings.Contains(stderr, test.refusal) {
				t.Errorf("%d, %s", status, stderr)
			}
			if got := has(server); got != test.want {
				t.Errorf("it has %s", got)
			}
			t.Chdir(home)
		})
	}
}

func encoded(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// depending is a chart with what it depends on, of this version.
func depending(version string) release {
	return release{files: map[string]string{
		"Chart.yaml":               "{apiVersion: v2, name: web, version: 1.0.0}",
		"templates/a.yaml":         "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}",
		"charts/x/Chart.yaml":      "{apiVersion: v2, name: db, version: " + version + "}",
		"charts/x/templates/b.yml": "{apiVersion: v1, kind: ConfigMap, metadata: {name: db-" + version + "}}",
	}}
}

// An upgrade says which charts moved that the chart depends on, and the history has the versions of each revision.
func TestWhatAChartDependsOnMoves(t *testing.T) {
	installing(t, depending("1.0.0"), depending("1.1.0"))
	_, stderr := cmdtest.Must(t, 0, "bundle", "rollback", "shop")
	if !strings.Contains(stderr, "what the chart depends on: db 1.1.0 → 1.0.0") {
		t.Error(stderr)
	}
	out, _ := cmdtest.Must(t, 0, "bundle", "history", "shop", "-o", "json")
	var got []string
	for _, r := range decoded[v1.BundleHistory](t, out).Items {
		got = append(got, strings.Join(r.Dependencies, ","))
	}
	if want := []string{"db 1.0.0", "db 1.1.0", "db 1.0.0"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

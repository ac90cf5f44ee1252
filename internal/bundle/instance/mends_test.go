package instance_test

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/rest"

	"github.com/berthdev/berth/api/bundle/v1alpha1"
	"github.com/berthdev/berth/internal/bundle/content"
	"github.com/berthdev/berth/internal/bundle/controller"
	"github.com/berthdev/berth/internal/bundle/instance"
	"github.com/berthdev/berth/internal/bundle/resource"
	"github.com/berthdev/berth/internal/bundle/source"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/kubetest"
	"github.com/berthdev/berth/internal/serve"
	"github.com/berthdev/berth/internal/waittest"
)

// mending is a server of bundles whose period is an hour, and the API server that it works with.
type mending struct {
	*kubetest.Server
	t       *testing.T
	objects resource.Objects

	mu     sync.Mutex
	writes map[string]int // by path
}

// writesOf is how often something was written.
func (m *mending) writesOf(path string) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.writes[path]
}

func startMending(t *testing.T) *mending {
	t.Helper()
	m := &mending{t: t, writes: map[string]int{}}
	m.Server = kubetest.Start(t, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			r.URL.Path = strings.TrimSuffix(r.URL.Path, "/status") // each object is replaced as a whole
			if r.Method != http.MethodGet && r.Header.Get("By-Hand") == "" {
				m.mu.Lock()
				m.writes[r.URL.Path]++
				m.mu.Unlock()
			}
			next.ServeHTTP(w, r)
		})
	})
	m.Managed = true
	core, dynamic, config := kubetest.Clients(t, m.URL)
	sending, err := rest.HTTPClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	client := &kube.Client{Interface: core, Dynamic: dynamic, Config: config, HTTP: sending}
	m.objects = resource.Objects{Client: dynamic}
	work := &controller.Controller{
		Client: dynamic, Classes: []string{v1alpha1.ClassPlain}, Workers: 2, Period: time.Hour, Timeout: time.Minute,
		Log: slog.New(slog.DiscardHandler), Reconciler: instance.NewBackend(instance.Reconciler{
			Own: client, Installs: client, System: "team", Now: time.Now, Fetcher: source.Fetcher{
				Cache: content.NewCache(t.TempDir(), 1<<20), Limits: content.DefaultLimits(),
				Cluster: &source.Cluster{Client: core.CoreV1(), Namespace: "team"},
			},
		}),
	}
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() {
		work.Run(ctx, controller.Election{
			Leases: core.CoordinationV1(), Namespace: "team", Identity: "server", Metrics: serve.NewMetrics(),
			Health: &serve.Health{},
		})
	})
	t.Cleanup(running.Wait)
	t.Cleanup(stop)
	return m
}

// byHand sends a request as somebody else does.
func (m *mending) byHand(method, path, kind, body string) {
	m.t.Helper()
	r, err := http.NewRequestWithContext(m.t.Context(), method, m.URL+path, strings.NewReader(body))
	if err != nil {
		m.t.Fatal(err)
	}
	r.Header.Set("Content-Type", kind)
	r.Header.Set("By-Hand", "true")
	answer, err := http.DefaultClient.Do(r)
	if err != nil || answer.StatusCode >= http.StatusBadRequest {
		m.t.Fatal(answer, err)
	}
	answer.Body.Close()
}

// healthy is the condition of the instance.
func (m *mending) healthy() string {
	in, err := m.objects.Instance(m.t.Context(), "shop")
	if err != nil || in == nil {
		return ""
	}
	c := meta.FindStatusCondition(in.Status.Conditions, v1alpha1.ConditionHealthy)
	if c == nil {
		return ""
	}
	return string(c.Status)
}

const (
	configMaps = "/api/v1/namespaces/team/configmaps/"
	deployment = "/apis/apps/v1/namespaces/team/deployments/web"
	manifests  = `
{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {text: one}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: b}, data: {text: two}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 1
  selector: {matchLabels: {app: web}}
  template: {metadata: {labels: {app: web}}, spec: {containers: [{name: web, image: web}]}}
`
)

// available is the Deployment with a status of its controller, or that of one that has no pod.
func (m *mending) available(replicas int64) {
	o := m.Get(deployment).DeepCopy()
	status := "False"
	if replicas > 0 {
		status = "True"
	}
	o.SetGeneration(1)
	o.Object["status"] = map[string]any{
		"observedGeneration": int64(1), "replicas": int64(1), "updatedReplicas": int64(1),
		"readyReplicas": replicas, "availableReplicas": replicas,
		"conditions": []any{map[string]any{"type": "Available", "status": status, "reason": "Some", "message": "some"}},
	}
	m.Put(deployment, o)
}

// Nobody but the server looks, and the period is an hour: what is deleted or edited is back within seconds, what has
// become of health is on the instance, and what is as it should be is not written again.
func TestServerMends(t *testing.T) {
	m := startMending(t)
	from := &kubetest.Object{Object: map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "immutable": true, "data": map[string]any{"all.yaml": manifests},
	}}
	m.Put(configMaps+"content", from)
	in := &kubetest.Object{Object: map[string]any{
		"apiVersion": v1alpha1.GroupVersion().String(), "kind": v1alpha1.KindInstance, "spec": map[string]any{
			"provisionerClassName": v1alpha1.ClassPlain, "config": map[string]any{"namespace": "team"},
			"template": map[string]any{"metadata": map[string]any{}, "spec": map[string]any{
				"provisionerClassName": v1alpha1.ClassPlain, "source": map[string]any{
					"type": "configMaps", "configMaps": []any{map[string]any{
						"configMap": map[string]any{"name": "content"}, "path": "manifests",
					}},
				},
			}},
		},
	}}
	in.SetGeneration(1)
	m.Put("/apis/core.rukpak.io/v1alpha1/bundleinstances/shop", in)
	waittest.Until(t, "it is installed", func() bool { return m.Get(deployment) != nil && m.healthy() == "False" })
	m.available(1)
	waittest.Until(t, "it is healthy", func() bool { return m.healthy() == "True" })
	b, web := m.writesOf(configMaps+"b"), m.writesOf(deployment)

	says := func() string {
		if a := m.Get(configMaps + "a"); a != nil {
			data, _ := a.Object["data"].(map[string]any)
			text, _ := data["text"].(string)
			return a.GetLabels()[v1alpha1.LabelOwnerName] + " " + text
		}
		return ""
	}
	written := func() int { return m.writesOf(configMaps+"a") + m.writesOf(strings.TrimSuffix(configMaps, "/")) }
	const patch = "application/merge-patch+json"
	for what, do := range map[string]func(){
		"deleted": func() { m.byHand(http.MethodDelete, configMaps+"a", "", "") },
		"edited": func() {
			m.byHand(http.MethodPatch, configMaps+"a?fieldManager=me", patch, `{"data": {"text": "another"}}`)
		},
		"taken out of its labels": func() {
			m.byHand(http.MethodPatch, configMaps+"a?fieldManager=me", patch, `{"metadata": {"labels": {"`+
				v1alpha1.LabelOwnerName+`": null, "`+v1alpha1.LabelOwnerKind+`": null}}}`)
		},
	} {
		before := written()
		do()
		waittest.Until(t, "what was "+what+" is back",
			func() bool { return written() > before && says() == "shop one" })
	}

	m.available(0)
	waittest.Until(t, "the instance says that it is not healthy", func() bool { return m.healthy() == "False" })
	m.available(1)
	waittest.Until(t, "the instance says that it is again", func() bool { return m.healthy() == "True" })
	if now := m.writesOf(configMaps + "b"); now != b {
		t.Errorf("what nobody has changed was written %d times", now-b)
	}
	if now := m.writesOf(deployment); now != web {
		t.Errorf("what has another status alone was written %d times", now-web)
	}
}

package observe

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"

	"github.com/berthdev/berth/api/bundle/v1alpha1"
	"github.com/berthdev/berth/internal/apply/live"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/kubetest"
	"github.com/berthdev/berth/internal/waittest"
)

// world is a server with watches that run, and what they have said and asked for.
type world struct {
	*kubetest.Server
	*Watches
	t *testing.T

	mu      sync.Mutex
	looked  map[string]int // by instance
	open    map[string]int // watches, by path
	refuses map[string]bool
	log     strings.Builder
}

func (w *world) Write(line []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.log.Write(line)
}

func start(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, looked: map[string]int{}, open: map[string]int{}, refuses: map[string]bool{}}
	w.Server = kubetest.Start(t, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(to http.ResponseWriter, r *http.Request) {
			w.mu.Lock()
			refused := w.refuses[r.URL.Path]
			if r.URL.Query().Get("watch") != "" && !refused {
				w.open[r.URL.Path]++
				defer func() {
					w.mu.Lock()
					defer w.mu.Unlock()
					w.open[r.URL.Path]--
				}()
			}
			w.mu.Unlock()
			if refused {
				http.Error(to, "no", http.StatusForbidden)
				return
			}
			next.ServeHTTP(to, r)
		})
	})
	w.Watches = New(slog.New(slog.NewTextHandler(w, nil)))
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() {
		w.Run(ctx, func(instance string) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.looked[instance]++
		})
	})
	t.Cleanup(running.Wait)
	t.Cleanup(stop)
	return w
}

// watch has these kinds watched for an instance.
func (w *world) watch(instance string, kinds ...string) {
	set := Set{Client: func() (metadata.Interface, error) {
		return metadata.NewForConfig(&rest.Config{Host: w.URL, QPS: -1})
	}}
	for _, kind := range kinds {
		set.Scopes = append(set.Scopes, live.Scope{Namespace: "team", Resource: kube.Resource{
			GroupVersionResource: schema.GroupVersionResource{Version: "v1", Resource: kind}, Namespaced: true,
		}})
	}
	w.Begin(instance)
	w.End(instance, set, false)
}

func (w *world) times(instance string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.looked[instance]
}

// after does something, and waits until an instance is looked at because of it.
func (w *world) after(what, instance string, do func()) {
	w.t.Helper()
	before := w.times(instance)
	do()
	waittest.Until(w.t, what, func() bool { return w.times(instance) > before })
}

func (w *world) opened(kind string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.open["/api/v1/namespaces/team/"+kind]
}

const at = "/api/v1/namespaces/team/"

// put makes an object of an instance what the cluster has.
func (w *world) put(kind, name, instance string, generation int64) {
	o := &kubetest.Object{Object: map[string]any{"apiVersion": "v1", "kind": kind, "status": map[string]any{"a": "b"}}}
	o.SetNamespace("team")
	o.SetGeneration(generation)
	o.SetLabels(map[string]string{
		v1alpha1.LabelOwnerKind: v1alpha1.KindInstance, v1alpha1.LabelOwnerName: instance,
	})
	w.Put(at+strings.ToLower(kind)+"s/"+name, o)
}

func (w *world) remove(path string) {
	w.t.Helper()
	r, err := http.NewRequestWithContext(w.t.Context(), http.MethodDelete, w.URL+at+path, http.NoBody)
	if err != nil {
		w.t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		w.t.Fatal(err)
	}
	answer.Body.Close()
}

// An instance is looked at after each change of what it has installed, and no other one. One watch a kind is enough for
// all, which ends with the last instance that has it.
func TestWatches(t *testing.T) {
	w := start(t)
	w.put("ConfigMap", "a", "web", 0)
	w.put("Service", "a", "web", 1)
	w.put("ConfigMap", "b", "shop", 0)
	w.after("the first look, as what has changed before it is not known", "web", func() {
		w.watch("web", "configmaps", "services")
	})
	w.after("the same for the other", "shop", func() { w.watch("shop", "configmaps") })
	if n := w.opened("configmaps"); n != 1 {
		t.Errorf("%d watches are open of one kind", n)
	}
	shop := w.times("shop")
	w.after("an object is edited", "web", func() { w.put("ConfigMap", "a", "web", 0) })
	w.after("a status", "web", func() { w.put("Service", "a", "web", 1) })
	w.after("an object is deleted", "web", func() { w.remove("configmaps/a") })
	w.after("an object is given away", "web", func() { w.put("Service", "a", "other", 1) })
	if n := w.times("shop"); n != shop {
		t.Errorf("another instance is looked at %d times", n-shop)
	}

	w.watch("web", "configmaps")
	waittest.Until(t, "the watch of a kind that no instance has any more",
		func() bool { return w.opened("services") == 0 })
	web := w.times("web")
	w.Drop("web")
	w.put("ConfigMap", "a", "web", 0)
	w.remove("configmaps/a")
	w.after("the other goes on", "shop", func() { w.put("ConfigMap", "b", "shop", 0) })
	if n := w.times("web"); n != web || w.opened("configmaps") != 1 {
		t.Errorf("an instance that is gone is looked at %d times", n-web)
	}
	w.Drop("shop")
	waittest.Until(t, "the last watch", func() bool { return w.opened("configmaps") == 0 })
}

// A kind that may not be watched is said once, and all others are watched.
func TestRefused(t *testing.T) {
	w := start(t)
	w.refuses[at+"secrets"] = true
	w.put("ConfigMap", "a", "web", 0)
	w.after("the first look", "web", func() { w.watch("web", "configmaps", "secrets") })
	said := func() int {
		w.mu.Lock()
		defer w.mu.Unlock()
		return strings.Count(w.log.String(), "is not watched")
	}
	waittest.Until(t, "that is said", func() bool { return said() > 0 })
	w.watch("web", "configmaps", "secrets")
	w.after("an object is edited", "web", func() { w.put("ConfigMap", "a", "web", 0) })
	if n := said(); n != 1 || !strings.Contains(w.log.String(), "resource=secrets") {
		t.Errorf("it is said %d times: %s", n, w.log.String())
	}
}

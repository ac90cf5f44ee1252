package fleet

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/kubetest"
	"github.com/berthdev/berth/internal/provision/inventory"
	"github.com/berthdev/berth/internal/waittest"
	"github.com/berthdev/berth/internal/watch/cause"
	"github.com/berthdev/berth/internal/watch/watchtest"
)

// world is an API server in memory, and a reader of it a minute after the pods were made.
type world struct {
	inventory.Reader
	t        *testing.T
	server   *kubetest.Server
	requests *kubetest.Refusals
}

func newWorld(t *testing.T, objects ...runtime.Object) *world {
	t.Helper()
	w := &world{t: t, requests: &kubetest.Refusals{}}
	w.server = kubetest.Start(t, w.requests.Wrap)
	typed, untyped, config := kubetest.Clients(t, w.server.URL)
	w.Reader = inventory.Reader{
		Client: &kube.Client{
			Interface: typed, Dynamic: untyped, Config: config, HTTP: http.DefaultClient,
			Namespace: "dev",
		},
		Policy: cause.DefaultPolicy(), Now: func() time.Time { return watchtest.After(time.Minute) },
	}
	for _, object := range objects {
		w.put(object)
	}
	return w
}

// put puts an object there.
func (w *world) put(object runtime.Object) {
	w.t.Helper()
	kinds, _, err := scheme.Scheme.ObjectKinds(object)
	if err != nil {
		w.t.Fatal(err)
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		w.t.Fatal(err)
	}
	o := &kubetest.Object{Object: content}
	o.SetGroupVersionKind(kinds[0])
	if before := w.server.Get(at(o)); before != nil {
		o.SetUID(before.GetUID())
	}
	w.server.Put(at(o), o)
}

// at is the path of an object.
func at(o *kubetest.Object) string {
	api := "/apis/" + o.GetAPIVersion()
	if o.GroupVersionKind().Group == "" {
		api = "/api/v1"
	}
	return fmt.Sprintf("%s/namespaces/%s/%ss/%s", api, o.GetNamespace(), strings.ToLower(o.GetKind()), o.GetName())
}

// several are workspaces that have to be read in every way: one that runs, one that waits for a
// claim, and one in a workload.
func several(t *testing.T) []runtime.Object {
	t.Helper()
	id := idOf(t)
	claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "dev", Name: "data"}}
	release := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{
		Namespace: "dev", Name: "sh.helm.release.v1.bob-1234567.v1",
		Labels: map[string]string{
			"owner": "helm", "status": "deployed", "name": "bob-1234567",
		},
	}}
	chart := release.DeepCopy()
	chart.Name, chart.Labels["name"] = "sh.helm.release.v1.web.v1", "web"
	return []runtime.Object{
		named("alice-1", watchtest.OnNode, watchtest.AppReady).Pod, named("carol-1", mounts).Pod, claim, release, chart,
		deployment(id), replicaSet(id, "new", "1", 1),
		replica(id, "web-new-1", "new", watchtest.OnNode, watchtest.AppReady), replica(id, "web-new-2", "new"),
	}
}

// reads are the ways to read many, and what they read of several.
func reads(t *testing.T) map[string]struct {
	read func(ctx context.Context, w *world) ([]v1.Workspace, error)
	want []string
} {
	t.Helper()
	list := func(read func(context.Context, inventory.Reader, Query) (*v1.WorkspaceList,
		error),
	) func(ctx context.Context, w *world) ([]v1.Workspace, error) {
		return func(ctx context.Context, w *world) ([]v1.Workspace, error) {
			list, err := read(ctx, w.Reader, Query{Namespace: "dev"})
			if err != nil {
				return nil, err
			}
			return list.Items, nil
		}
	}
	return map[string]struct {
		read func(ctx context.Context, w *world) ([]v1.Workspace, error)
		want []string
	}{
		"a list": {list(List), []string{"alice-1 Running", idOf(t) + " Scheduling", "carol-1 Scheduling"}},
		"names":  {list(Names), []string{"alice-1 Unknown", idOf(t) + " Unknown", "carol-1 Unknown"}},
		"installed": {func(ctx context.Context, w *world) ([]v1.Workspace, error) {
			b, err := ReadRecords(ctx, w.Reader, "dev")
			if err != nil {
				return nil, err
			}
			return b.Deployed(), nil
		}, []string{"bob-1234567 "}},
	}
}

// Many are read in a list, each once.
func TestReadMany(t *testing.T) {
	for name, test := range reads(t) {
		got, err := test.read(t.Context(), newWorld(t, several(t)...))
		if !slices.Equal(stagesOf(got), test.want) || err != nil {
			t.Errorf("%s: %q, %v; want %q", name, stagesOf(got), err, test.want)
		}
	}
}

// A list that cannot be read whole because the API server fails is an error; what may not be
// read beside the pods and the events is left out.
func TestEachRequestOfAListFails(t *testing.T) {
	optional := []string{"get deployments", "list replicasets", "list persistentvolumeclaims"}
	for name, test := range reads(t) {
		for code, want := range map[int]fault.Code{
			http.StatusInternalServerError: fault.Unavailable,
			http.StatusForbidden:           fault.PermissionDenied,
		} {
			for n, more := 0, true; more; n++ {
				var refused string
				more = false
				w := newWorld(t, several(t)...)
				w.requests.Set(code, func(i int, request string) bool {
					if i == n {
						more, refused = true, request
					}
					return i == n
				})
				got, err := test.read(t.Context(), w)
				left := code == http.StatusForbidden && slices.Contains(optional, refused) || !more
				if left && (err != nil || len(got) != len(test.want)) || !left && fault.CodeOf(err) != want {
					t.Errorf("%s without %s (%d): %q, %v", name, refused, code, stagesOf(got), err)
				}
			}
		}
	}
}

// What cannot be a query is an error before anything is asked.
func TestInvalidQuery(t *testing.T) {
	w := newWorld(t)
	q := Query{Labels: "a in (b"}
	_, listErr := List(t.Context(), w.Reader, q)
	_, namesErr := Names(t.Context(), w.Reader, q)
	for name, err := range map[string]error{
		"a list": listErr, "names": namesErr,
		"a watch": Watch(t.Context(), w.Reader, q, nil),
	} {
		if fault.CodeOf(err) != fault.InvalidArgument {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// told is what a watch says.
type told struct {
	mu   sync.Mutex
	all  map[string]string // how each workspace was read last
	says []error
}

func (h *told) Changed(all []v1.Workspace) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, w := range all {
		h.all[w.ID] = stagesOf([]v1.Workspace{w})[0]
	}
}

func (h *told) Interrupted(err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.says = append(h.says, err)
}

func (h *told) is(id string) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.all[id]
}

// A watch tells of all that there is and of every change, of those in workloads of any kind,
// too, and ends with its context.
func TestWatch(t *testing.T) {
	for _, q := range []Query{{Namespace: "dev"}, {Namespace: "dev", Claims: true}, {Namespace: "dev", ID: "carol-1"}} {
		w := newWorld(t, several(t)...)
		ctx, end := context.WithCancel(t.Context())
		h, over := &told{all: map[string]string{}}, make(chan error)
		go func() { over <- Watch(ctx, w.Reader, q, h) }()
		until := func(id, want string) {
			t.Helper()
			if q.ID == "" || q.ID == id {
				waittest.Until(t, fmt.Sprintf("%+v: %s is %q", q, id, want), func() bool { return h.is(id) == id+want })
			}
		}
		until("alice-1", " Running")
		until("carol-1", " Scheduling")
		until(idOf(t), " Scheduling")
		w.put(named("carol-1", mounts, watchtest.OnNode, watchtest.AppReady).Pod)
		until("carol-1", " Running")
		w.put(named("dave-1", watchtest.OnNode, watchtest.AppReady).Pod)
		until("dave-1", " Running")
		for _, pod := range w.server.Names("pods") {
			request, err := http.NewRequestWithContext(t.Context(), http.MethodDelete, w.server.URL+pod, http.NoBody)
			if err != nil {
				t.Fatal(err)
			}
			answer, err := http.DefaultClient.Do(request)
			if err != nil {
				t.Fatal(err)
			}
			_ = answer.Body.Close()
		}
		until("alice-1", " Unknown gone")
		until("carol-1", " Unknown gone")
		until(idOf(t), " Unknown gone")
		end()
		if err := <-over; !errors.Is(err, context.Canceled) || len(h.says) > 0 {
			t.Errorf("%+v: it ends with %v, and said %v", q, err, h.says)
		}
	}
}

// What cannot be watched at first ends a watch; what cannot be watched later is told, and comes
// back.
func TestWatchIsInterrupted(t *testing.T) {
	for _, request := range []string{"watch pods", "watch events", "watch persistentvolumeclaims"} {
		w := newWorld(t, several(t)...)
		_, refused, _ := strings.Cut(request, " ")
		w.requests.Set(http.StatusForbidden, func(_ int, request string) bool {
			return strings.HasSuffix(request,
				refused)
		})
		if err := Watch(t.Context(), w.Reader, Query{Namespace: "dev", Claims: true},
			&told{all: map[string]string{}}); fault.CodeOf(err) != fault.PermissionDenied {
			t.Errorf("%s: it ends with %v", request, err)
		}
	}
}

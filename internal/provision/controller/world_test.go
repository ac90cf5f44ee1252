package controller

import (
	"context"
	"log/slog"
	"net/http"
	"path"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/blueprint/catalog"
	"github.com/berthdev/berth/internal/event"
	"github.com/berthdev/berth/internal/identity"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/kubetest"
	"github.com/berthdev/berth/internal/lifecycle"
	"github.com/berthdev/berth/internal/provision"
	"github.com/berthdev/berth/internal/provision/inventory"
	"github.com/berthdev/berth/internal/userstring"
	"github.com/berthdev/berth/internal/watch/cause"
)

// world is an API server in memory, and a controller of its namespace, team.
type world struct {
	t *testing.T
	*Controller
	server   *kubetest.Server
	requests *kubetest.Refusals
	lines    *lines
}

// lines is a log that is read while it is written.
type lines struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *lines) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(line)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// everybody knows every user.
type everybody struct{}

func (everybody) Resolve(_ context.Context, name string) (identity.User, error) {
	return identity.User{Username: name, Blueprints: []string{"*"}}, nil
}

func (everybody) Caller(context.Context) (string, error) { return "alice", nil }

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, requests: &kubetest.Refusals{}, lines: &lines{}}
	w.server = kubetest.Start(t, w.requests.Wrap)
	typed, untyped, config := kubetest.Clients(t, w.server.URL)
	client := &kube.Client{
		Interface: typed, Dynamic: untyped, Config: config, HTTP: http.DefaultClient,
		Namespace: "team",
	}
	w.Controller = &Controller{
		Provisioner: &provision.Provisioner{Environment: provision.Environment{
			Reader: inventory.Reader{Client: client, Policy: cause.DefaultPolicy(), Now: time.Now},
			Users:  everybody{}, DefaultBlueprint: "default", States: lifecycle.Place{Client: client},
			Blueprints: func(context.Context) (*catalog.Set, error) { return catalog.Load("") },
		}},
		Namespace: "team", Workers: 1, Timeout: time.Minute, Log: slog.New(slog.NewTextHandler(w.lines, nil)),
		Limits: func(lifecycle.Record) lifecycle.Limits { return lifecycle.Limits{} },
	}
	return w
}

// made are the objects of workspaces that were provisioned, by their users: what a
// provisioning makes is made once.
var made sync.Map

// provision puts the workspace of a user on the cluster, whose pod runs and which has no
// record, and returns its ID.
func (w *world) provision(user string) (id string) {
	w.t.Helper()
	u, err := userstring.Parse(user)
	if err != nil {
		w.t.Fatal(err)
	}
	if objects, ok := made.Load(user); ok {
		for at, object := range objects.(map[string]*kubetest.Object) {
			w.server.Put(at, object.DeepCopy())
		}
		return u.ID()
	}
	if _, err := w.Provisioner.Provision(w.t.Context(), u, event.NewStream(u.ID(), time.Now)); err != nil {
		w.t.Fatal(err)
	}
	objects := map[string]*kubetest.Object{}
	for _, resource := range []string{"configmaps", "secrets", "services", "pods"} {
		for _, at := range w.server.Names(resource) {
			objects[at] = w.server.Get(at)
		}
	}
	made.Store(user, objects)
	return u.ID()
}

func (w *world) records() lifecycle.Records { return w.Provisioner.States.Of("team") }

// change writes a record as others do. One that does not exist is adopted as running before.
func (w *world) change(id string, change func(lifecycle.Record) (lifecycle.Record, error)) {
	w.t.Helper()
	_, err := w.records().Change(w.t.Context(), id, func(r lifecycle.Record) (lifecycle.Record, error) {
		if r.ID == "" {
			r = recordOf(id, v1.DesiredRunning, v1.ActualRunning)
		}
		return change(r)
	})
	if err != nil {
		w.t.Fatal(err)
	}
}

// want records the desired state of a workspace.
func (w *world) want(id string, desired v1.DesiredState) {
	w.t.Helper()
	w.change(id, func(r lifecycle.Record) (lifecycle.Record, error) { return r.Set(desired, time.Now().UTC()) })
}

// record is what is recorded of a workspace; empty if nothing is.
func (w *world) record(id string) lifecycle.Record {
	w.t.Helper()
	r, err := w.records().Get(w.t.Context(), id)
	if err != nil {
		w.t.Fatal(err)
	}
	return r
}

// deletePod deletes the pod of a workspace.
func (w *world) deletePod(id string) {
	w.t.Helper()
	request, err := http.NewRequestWithContext(w.t.Context(), http.MethodDelete, w.server.URL+
		"/api/v1/namespaces/team/pods/"+id, http.NoBody)
	if err != nil {
		w.t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		w.t.Fatal(err)
	}
	_ = answer.Body.Close()
}

// endPod makes the pod of a workspace one that is over.
func (w *world) endPod(id string, phase corev1.PodPhase, reason string) {
	w.t.Helper()
	at := "/api/v1/namespaces/team/pods/" + id
	pod := w.server.Get(at).DeepCopy()
	for field, value := range map[string]string{"phase": string(phase), "reason": reason} {
		if err := unstructured.SetNestedField(pod.Object, value, "status", field); err != nil {
			w.t.Fatal(err)
		}
	}
	w.server.Put(at, pod)
}

// pods are the names of the pods that there are.
func (w *world) pods() (names []string) {
	for _, at := range w.server.Names("pods") {
		names = append(names, path.Base(at))
	}
	return names
}

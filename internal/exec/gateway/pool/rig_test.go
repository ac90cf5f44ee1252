package pool

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/client-go/kubernetes"

	"github.com/berthdev/berth/internal/exec/machine"
	"github.com/berthdev/berth/internal/kubetest"
)

// The paths of what is written.
const (
	poolPath  = "/apis/compute.ironcore.dev/v1alpha1/machinepools/east"
	leasePath = "/apis/coordination.k8s.io/v1/namespaces/ironcore-machinepool-lease/leases/east"
	classPath = "/apis/compute.ironcore.dev/v1alpha1/machineclasses/"
)

// world is an API server with the pool east and the classes small and large, at a time of its own.
type world struct {
	*testing.T
	api      *kubetest.Server
	refusals kubetest.Refusals
	typed    kubernetes.Interface
	log      lines

	mu       sync.Mutex
	at       time.Time
	requests []string
}

// lines is a log.
type lines struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{T: t, at: time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)}
	w.api = kubetest.Start(t, func(next http.Handler) http.Handler {
		subresource := http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			r.URL.Path = strings.TrimSuffix(r.URL.Path, "/status")
			next.ServeHTTP(rw, r)
		})
		refused := w.refusals.Wrap(subresource)
		return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			w.mu.Lock()
			w.requests = append(w.requests, r.Method+" "+r.URL.Path)
			w.mu.Unlock()
			refused.ServeHTTP(rw, r)
		})
	})
	w.api.Put(poolPath, &kubetest.Object{Object: map[string]any{
		"apiVersion": "compute.ironcore.dev/v1alpha1", "kind": "MachinePool",
		"spec": map[string]any{"providerID": "berth://east"},
	}})
	for _, name := range []string{"small", "large"} {
		w.api.Put(classPath+name, &kubetest.Object{Object: map[string]any{
			"apiVersion": "compute.ironcore.dev/v1alpha1", "kind": "MachineClass",
		}})
	}
	w.typed, _, _ = kubetest.Clients(t, w.api.URL)
	return w
}

func report() Report {
	return Report{
		Pool: "east", Port: 12319, Addresses: []machine.Address{{Type: machine.InternalDNS, Address: "gw.svc"}},
		Classes: []Class{{Name: "small", Capacity: 20, Allocatable: 18}, {Name: "large", Capacity: 2, Allocatable: 2}},
	}
}

func (w *world) reporter(identity string) *Reporter {
	w.Helper()
	typed, untyped, _ := kubetest.Clients(w, w.api.URL)
	return &Reporter{
		Report: report(), Objects: untyped, Leases: typed.CoordinationV1(), Identity: identity, Now: w.now,
		Log: slog.New(slog.NewTextHandler(&w.log, nil)),
	}
}

func (w *world) now() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.at
}

func (w *world) passes(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.at = w.at.Add(d)
}

// writes are the requests that change something, since they were asked for last.
func (w *world) writes() (all []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, request := range w.requests {
		if !strings.HasPrefix(request, http.MethodGet) {
			all = append(all, request)
		}
	}
	w.requests = nil
	return all
}

// reports is one pass of a reporter, noted as Run does.
func (w *world) reports(r *Reporter) error {
	w.Helper()
	other, err := r.pass(context.Background())
	r.note(other, err)
	return err
}

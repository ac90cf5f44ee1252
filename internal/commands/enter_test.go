package commands_test

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/berthdev/berth/internal/commands/cmdtest"
	"github.com/berthdev/berth/internal/kubetest"
)

// A workspace whose pod runs and is not ready is not entered but waited for, and refused with
// --no-wait. A container that is named is entered as soon as it runs.
func TestExecOfWhatStarts(t *testing.T) {
	cmdtest.Offline(t)
	var server *kubetest.Server
	var pod *kubetest.Object // as it runs; it does so once it is watched
	var watched atomic.Bool
	server = kubetest.Start(t, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if pod != nil && r.URL.Query().Get("watch") != "" && strings.HasSuffix(r.URL.Path, "/pods") &&
				watched.CompareAndSwap(false, true) {
				server.Put(server.Names("pods")[0], pod)
			}
			next.ServeHTTP(w, r)
		})
	})
	cmdtest.Cluster(t, server.URL)
	cmdtest.Must(t, 0, "provision", "alice~default")
	at := server.Names("pods")[0]
	runs := server.Get(at)
	starts := runs.DeepCopy()
	statuses, _, _ := unstructured.NestedSlice(starts.Object, "status", "containerStatuses")
	for _, s := range statuses {
		if status, ok := s.(map[string]any); ok {
			status["ready"] = false
		}
	}
	_ = unstructured.SetNestedSlice(starts.Object, statuses, "status", "containerStatuses")
	_ = unstructured.SetNestedSlice(starts.Object, nil, "status", "conditions")
	server.Put(at, starts)

	if _, stderr := cmdtest.Must(t, 125, "exec", "alice~default", "--no-wait", "--", "true"); !strings.Contains(stderr,
		"still Starting: container k8shell-main is not ready") {
		t.Error(stderr)
	}
	cmdtest.Must(t, 0, "exec", "alice~default", "--no-wait", "--container", "k8shell-main", "--", "true")
	pod = runs
	stdout, stderr := cmdtest.Must(t, 0, "exec", "alice~default", "--", "true")
	if !watched.Load() || stdout != server.Log || !strings.Contains(stderr, "stage Running") {
		t.Errorf("watched: %t; %q\n%s", watched.Load(), stdout, stderr)
	}
}

// A command that ends because its pod was deleted meanwhile says so.
func TestExecInADeletedPod(t *testing.T) {
	cmdtest.Offline(t)
	var server *kubetest.Server
	server = kubetest.Start(t, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !strings.HasSuffix(r.URL.Path, "/exec") {
				next.ServeHTTP(w, r)
				return
			}
			at := server.Names("pods")[0]
			deleted := server.Get(at).DeepCopy()
			deleted.SetDeletionTimestamp(&metav1.Time{Time: time.Now()})
			server.Put(at, deleted)
			http.Error(w, "error dialing backend: EOF", http.StatusInternalServerError)
		})
	})
	cmdtest.Cluster(t, server.URL)
	cmdtest.Must(t, 0, "provision", "alice~default")
	_, stderr := cmdtest.Must(t, 137, "exec", "alice~default", "--", "true")
	if !strings.Contains(stderr, "was deleted") || !strings.Contains(stderr, "berth start id/alice-") {
		t.Error(stderr)
	}
}

package commands_test

import (
	"net/http"
	"path"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/streaming/pkg/httpstream"

	"github.com/berthdev/berth/internal/commands/cmdtest"
	"github.com/berthdev/berth/internal/commands/cmdutil"
	"github.com/berthdev/berth/internal/kubetest"
)

// Anyone who presses Tab waits for some seconds at most, no matter what does not answer, and sees no error.
func TestCompletionEnds(t *testing.T) {
	for name, silent := range map[string]func(http.ResponseWriter, *http.Request) bool{
		"API server": func(http.ResponseWriter, *http.Request) bool { return true },
		"program in the pod": func(w http.ResponseWriter, r *http.Request) bool {
			if path.Base(r.URL.Path) != "exec" {
				return false
			}
			kubetest.Exec(w, r, func(map[string]httpstream.Stream) {})
			return true
		},
	} {
		t.Run(name, func(t *testing.T) {
			cmdtest.Offline(t)
			over := make(chan struct{})
			server := kubetest.Start(t, func(next http.Handler) http.Handler {
				return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if silent(w, r) {
						<-over
						return
					}
					next.ServeHTTP(w, r)
				})
			})
			t.Cleanup(func() { close(over) })
			cmdtest.Cluster(t, server.URL)
			server.Put("/api/v1/namespaces/berth-volumes/pods/driver", &kubetest.Object{Object: map[string]any{
				"metadata": map[string]any{"labels": map[string]any{
					"app.kubernetes.io/name":      "berth",
					"app.kubernetes.io/component": "volumes",
				}},
				"spec":   map[string]any{"nodeName": "one", "containers": []any{map[string]any{"name": "volumes"}}},
				"status": map[string]any{"phase": "Running"},
			}})
			var all sync.WaitGroup
			defer all.Wait()
			for _, args := range []string{
				"volume restore ", "volume purge csi-", "volume purge csi-1234 ",
				"volume list --node ", "volume restore x --into ", "diagnose deployment/", "status ",
			} {
				all.Go(func() {
					begun := time.Now()
					_, _, stderr := cmdtest.Run(t, "", append([]string{"__complete"}, strings.Split(args, " ")...)...)
					if took := time.Since(begun); took > 5*cmdutil.CompletionTimeout {
						t.Errorf("berth %s: Tab takes %s", args, took)
					}
					if strings.Contains(stderr, "rror:") {
						t.Errorf("berth %s: %s", args, stderr)
					}
				})
			}
		})
	}
}

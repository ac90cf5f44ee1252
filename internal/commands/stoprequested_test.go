package commands_test

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/berthdev/berth/internal/commands/cmdtest"
	"github.com/berthdev/berth/internal/kubetest"
)

// A pod that is stopped says so before it is deleted, for programs that see it end; one that is deleted
// does not.
func TestStopIsRequestedOnThePod(t *testing.T) {
	cmdtest.Offline(t)
	var mu sync.Mutex
	var said []string // what was done to the pod
	server := kubetest.Start(t, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if strings.HasSuffix(r.URL.Path, "/pods/alice-a975fae") && r.Method != http.MethodGet {
				body, _ := io.ReadAll(r.Body)
				r.Body = io.NopCloser(bytes.NewReader(body))
				what := r.Method
				if strings.Contains(string(body), `"annotations":{"k8shell.io/stop-requested":"true"}`) {
					what += " stop-requested"
				}
				mu.Lock()
				said = append(said, what)
				mu.Unlock()
			}
			next.ServeHTTP(w, r)
		})
	})
	cmdtest.Cluster(t, server.URL)
	cmdtest.Must(t, 0, "provision", "alice")
	for _, c := range []struct{ command, want string }{
		{"stop", "PATCH stop-requested, DELETE"},
		{"start", ""},
		{"delete", "DELETE"},
	} {
		mu.Lock()
		said = nil
		mu.Unlock()
		cmdtest.Must(t, 0, c.command, "alice")
		mu.Lock()
		if got := strings.Join(said, ", "); got != c.want {
			t.Errorf("berth %s: %s, want %q", c.command, got, c.want)
		}
		mu.Unlock()
	}
}

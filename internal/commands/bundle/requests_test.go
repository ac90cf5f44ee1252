package bundle_test

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/commands/cmdtest"
	"github.com/berthdev/berth/internal/kubetest"
)

// noting notes what is asked, but for watches and renewals of leases, of a cluster that has berth's definitions: what
// it does not have is no bundle, and not a kind that is missing.
type noting struct {
	*kubetest.Server

	mu    sync.Mutex
	asked []string
}

func newNoting(t *testing.T) *noting {
	t.Helper()
	n := &noting{}
	n.Server = kubetest.Start(t, func(next http.Handler) http.Handler {
		next = cluster(next)
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if counted(r) {
				n.mu.Lock()
				n.asked = append(n.asked, r.Method+" "+r.URL.Path)
				n.mu.Unlock()
			}
			if r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/bundleinstances/shop") &&
				n.Get(r.URL.Path) == nil {
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(http.StatusNotFound)
				_, _ = io.WriteString(w, `{"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": 404, `+
					`"reason": "NotFound", "details": {"name": "shop", "kind": "bundleinstances"}}`)
				return
			}
			next.ServeHTTP(w, r)
		})
	})
	n.Managed = true
	cmdtest.Cluster(t, n.URL)
	return n
}

// counted says whether a request is one of the work itself. How often a lease is renewed depends on how long the work
// takes: on a busy machine, once more.
func counted(r *http.Request) bool {
	renewal := r.Method == http.MethodPut && strings.Contains(r.URL.Path, "/leases/")
	return !renewal && r.URL.Query().Get("watch") == ""
}

// installed installs the bundle, and says what was asked.
func (n *noting) installed(t *testing.T) (i v1.BundleInstallation, asked []string) {
	t.Helper()
	n.mu.Lock()
	n.asked = nil
	n.mu.Unlock()
	out, _ := cmdtest.Must(t, 0, "bundle", "install", "shop", "./shop", "--system-namespace", "team", "--no-wait", "-o",
		"json")
	n.mu.Lock()
	defer n.mu.Unlock()
	return decoded[v1.BundleInstallation](t, out), slices.Clone(n.asked)
}

// What a bundle takes beside one request for each of its objects does not grow with them: 16 to install it into the
// system namespace, as the benchmark does, one more to look for another namespace, and 9 in all if nothing has changed.
func TestRequestsOfABundle(t *testing.T) {
	const objects, beside, unchanged = 500, 16, 9
	var manifests strings.Builder
	for i := range objects {
		fmt.Fprintf(&manifests, "---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: m%d}, data: {a: b}}\n", i)
	}
	there(t, map[string]string{"manifests/all.yaml": manifests.String()})
	n := newNoting(t)
	i, asked := n.installed(t)
	if i.Objects.Created != objects || len(asked) > objects+beside {
		others := slices.DeleteFunc(asked, func(one string) bool { return strings.HasSuffix(one, "/configmaps") })
		t.Errorf("%+v with %d requests, among them %q", i.Objects, len(asked), others)
	}
	i, asked = n.installed(t)
	if i.Action != v1.BundleUnchanged || len(asked) > unchanged {
		t.Errorf("%s with %d requests: %q", i.Action, len(asked), asked)
	}
}

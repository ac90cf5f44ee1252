//go:build e2e

package e2e

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/berthdev/berth/internal/rbac"
)

// asked is what berth asks of the API server, as rules name it.
type asked struct {
	mu    sync.Mutex
	count map[rbac.Access]int
}

// mood is what an API server has that not all have.
type mood string

const (
	// An old one knows nothing of a watch that begins with a list: before
	// Kubernetes 1.34 not every one does.
	old mood = "old"
	// A forgetful one ends the first watch of everything, and says of the second that
	// it is too old.
	forgetful mood = "forgetful"
)

// record returns a kubeconfig for a proxy to the API server that records what is
// asked.
func (w *world) record(to *asked, m mood) (kubeconfig string) {
	w.Helper()
	return w.between(func(out http.ResponseWriter, r *http.Request, next http.Handler) {
		all := accesses(r)
		watched := len(all) == 1 && all[0].Verb == "watch"
		nth := to.add(all...)
		switch {
		case m == old && r.URL.Query().Has("sendInitialEvents"):
			refuse(out, apierrors.NewInvalid(schema.GroupKind{Kind: "ListOptions"}, "", nil))
		case m == forgetful && watched && nth == 1:
			out.Header().Set("Content-Type", "application/json")
		case m == forgetful && watched && nth == 2:
			refuse(out, apierrors.NewResourceExpired("too old"))
		default:
			next.ServeHTTP(out, r)
		}
	})
}

func refuse(out http.ResponseWriter, why *apierrors.StatusError) {
	out.Header().Set("Content-Type", "application/json")
	out.WriteHeader(int(why.ErrStatus.Code))
	why.ErrStatus.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}
	_ = json.NewEncoder(out).Encode(why.ErrStatus)
}

// add returns how often the last of them has been asked so far.
func (a *asked) add(all ...rbac.Access) (nth int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.count == nil {
		a.count = map[rbac.Access]int{}
	}
	for _, one := range all {
		a.count[one]++
		nth = a.count[one]
	}
	return nth
}

func (a *asked) list() []rbac.Access {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Collect(maps.Keys(a.count))
}

func (a *asked) has(name string) bool {
	return slices.ContainsFunc(a.list(), func(one rbac.Access) bool { return one.String() == name })
}

// accesses are what the API server's authorizer is asked because of a request;
// nothing if every user may do it.
func accesses(r *http.Request) []rbac.Access {
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	var a rbac.Access
	switch {
	case len(parts) > 2 && parts[0] == "api":
		parts = parts[2:]
	case len(parts) > 3 && parts[0] == "apis":
		a.Group, parts = parts[1], parts[3:]
	default:
		return nil
	}
	if a.Group == "authorization.k8s.io" || a.Group == "authentication.k8s.io" {
		return nil
	}
	if len(parts) > 2 && parts[0] == "namespaces" {
		parts = parts[2:]
	}
	a.Resource = parts[0]
	named := len(parts) > 1
	if len(parts) > 2 {
		a.Resource += "/" + parts[2]
	}
	watches := r.URL.Query().Get("watch")
	a.Verb = map[string]string{
		http.MethodPost: "create", http.MethodPut: "update", http.MethodPatch: "patch",
		http.MethodDelete: "deletecollection", http.MethodGet: "list",
	}[r.Method]
	switch {
	case named && r.Method == http.MethodDelete:
		a.Verb = "delete"
	case named && r.Method == http.MethodGet:
		a.Verb = "get"
	case a.Verb == "list" && (watches == "true" || watches == "1"):
		a.Verb = "watch"
	}
	if r.Header.Get("Upgrade") == "" || a.Verb == "create" {
		return []rbac.Access{a}
	}
	// A WebSocket begins with GET, and since Kubernetes 1.35 takes both verbs.
	more := a
	more.Verb = "create"
	return []rbac.Access{a, more}
}

func TestAccesses(t *testing.T) {
	for request, want := range map[string]string{
		"GET /version":                                                  "",
		"GET /apis/cert-manager.io/v1":                                  "",
		"GET /api/v1/namespaces/a/pods":                                 "list pods",
		"GET /api/v1/pods?watch=true":                                   "watch pods",
		"GET /api/v1/namespaces/a/pods/b":                               "get pods",
		"GET /api/v1/namespaces/a/pods/b/log":                           "get pods/log",
		"POST /api/v1/namespaces":                                       "create namespaces",
		"GET /api/v1/namespaces/a":                                      "get namespaces",
		"DELETE /api/v1/namespaces/a/configmaps":                        "deletecollection configmaps",
		"DELETE /api/v1/namespaces/a/configmaps/b":                      "delete configmaps",
		"PATCH /apis/apps/v1/namespaces/a/deployments/b":                "patch deployments.apps",
		"PUT /apis/coordination.k8s.io/v1/namespaces/a/leases/b":        "update leases.coordination.k8s.io",
		"POST /apis/authorization.k8s.io/v1/selfsubjectrulesreviews":    "",
		"POST /api/v1/namespaces/a/pods/b/exec?command=true&watch=true": "create pods/exec",
	} {
		verb, url, _ := strings.Cut(request, " ")
		r, err := http.NewRequest(verb, url, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, a := range accesses(r) {
			got = append(got, a.String())
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %q, want %q", request, got, want)
		}
	}
}

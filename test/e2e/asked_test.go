//go:build e2e

package e2e

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/berthdev/berth/internal/rbac"
)

// asked is what berth asks of the API server, as rules name it.
type asked struct {
	mu  sync.Mutex
	all []rbac.Access
	// again is what a forgetful API server waits for, before it lists the pods again.
	again []rbac.Access
}

// mood is what an API server has that not all have.
type mood string

const (
	// An old one knows nothing of a watch that begins with a list: before
	// Kubernetes 1.34 not every one does.
	old mood = "old"
	// A forgetful one says of the first watch of everything that it is too old.
	// As a run may end with what the pods are like, they are listed again last.
	forgetful mood = "forgetful"
)

// record is a kubeconfig that leads to the API server past whoever writes down
// what is asked.
func (w *world) record(to *asked, m mood) (kubeconfig string) {
	w.Helper()
	return w.between(func(out http.ResponseWriter, r *http.Request, next http.Handler) {
		all := accesses(r)
		watched := len(all) == 1 && all[0].Verb == "watch"
		first := to.add(all...)
		switch {
		case m == old && r.URL.Query().Has("sendInitialEvents"):
			refuse(out, apierrors.NewInvalid(schema.GroupKind{Kind: "ListOptions"}, "", nil))
		case m == forgetful && watched && first:
			refuse(out, apierrors.NewResourceExpired("too old"))
		case m == forgetful && to.relists(all):
			for !to.hasAll(to.again) && r.Context().Err() == nil {
				time.Sleep(10 * time.Millisecond)
			}
			next.ServeHTTP(out, r)
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

// add says whether any of them is new.
func (a *asked) add(all ...rbac.Access) (news bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, one := range all {
		if !slices.Contains(a.all, one) {
			a.all, news = append(a.all, one), true
		}
	}
	return news
}

func (a *asked) list() []rbac.Access {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.all)
}

// relists is true for a list of pods after a watch of them.
func (a *asked) relists(all []rbac.Access) bool {
	return slices.Contains(all, rbac.Access{Verb: "list", Resource: "pods"}) && a.has("watch pods")
}

func (a *asked) hasAll(wanted []rbac.Access) bool {
	list := a.list()
	return !slices.ContainsFunc(wanted, func(one rbac.Access) bool { return !slices.Contains(list, one) })
}

func (a *asked) has(name string) bool {
	return slices.ContainsFunc(a.list(), func(one rbac.Access) bool { return one.String() == name })
}

// accesses are what the API server's authorizer is asked because of a request;
// nothing if everybody may do it.
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
		http.MethodPost: "create", http.MethodPut: "update", http.MethodPatch: "patch", http.MethodDelete: "deletecollection", http.MethodGet: "list",
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

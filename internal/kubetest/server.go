// Package kubetest is for tests: an API server that keeps objects in memory, which commands can be run against without
// a cluster. It checks nothing and knows no schemas. Pods that are created run at once.
package kubetest

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
)

// Object is an object of any kind.
type Object = unstructured.Unstructured

// Server is the API server.
type Server struct {
	URL string
	// Log is the log of every container.
	Log string
	// Managed lets the server keep the owners of fields, and apply as an API server does.
	Managed bool
	// Full lets every pod wait: no node has room for it.
	Full bool

	mu      sync.Mutex
	version int
	objects map[string]*Object // by path
	watches map[chan change]string
	removed []change // for watches that begin before
	closed  chan struct{}
}

// change is what a watch sends.
type change struct {
	Type   string  `json:"type"`
	Object *Object `json:"object"`
	path   string
}

// Start starts a server that ends with the test, with a namespace, team. wrap may put something in front of it; it may
// be nil.
func Start(t *testing.T, wrap func(http.Handler) http.Handler) *Server {
	t.Helper()
	s := &Server{
		Log: "hello\n", objects: map[string]*Object{}, watches: map[chan change]string{},
		closed: make(chan struct{}),
	}
	var handler http.Handler = s
	if wrap != nil {
		handler = wrap(s)
	}
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	t.Cleanup(func() { close(s.closed) })
	s.URL = server.URL
	s.Put("/api/v1/namespaces/team", &Object{Object: map[string]any{"apiVersion": "v1", "kind": "Namespace"}})
	return s
}

// Names are the paths of the objects of a resource, such as pods, in order.
func (s *Server) Names(resource string) (names []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, at := range slices.Sorted(maps.Keys(s.objects)) {
		if path.Base(path.Dir(at)) == resource {
			names = append(names, at)
		}
	}
	return names
}

// Get is the object of a path; nil if there is none.
func (s *Server) Get(at string) *Object {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.objects[at].DeepCopy()
}

// Put creates an object or replaces it.
func (s *Server) Put(at string, o *Object) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.put(at, o)
}

// put stores an object and tells the watches; the lock is held.
func (s *Server) put(at string, o *Object) {
	kind := "MODIFIED"
	if s.objects[at] == nil {
		kind = "ADDED"
		if o.GetUID() == "" {
			o.SetUID(uid(s.version))
			o.SetCreationTimestamp(now())
		}
	}
	s.version++
	o.SetName(path.Base(at))
	if _, within, ok := strings.Cut(at, "/namespaces/"); ok && strings.Count(within, "/") == 2 {
		o.SetNamespace(strings.Split(within, "/")[0])
	}
	o.SetResourceVersion(strconv.Itoa(s.version))
	s.objects[at] = o
	s.tell(change{kind, o.DeepCopy(), at})
}

// remove removes an object; the lock is held.
func (s *Server) remove(at string) {
	o := s.objects[at]
	s.version++
	o.SetResourceVersion(strconv.Itoa(s.version))
	delete(s.objects, at)
	gone := change{"DELETED", o.DeepCopy(), at}
	s.removed = append(s.removed, gone)
	s.tell(gone)
}

func (s *Server) tell(c change) {
	for watch, of := range s.watches {
		if covers(of, c.path) {
			watch <- c
		}
	}
}

// ServeHTTP answers a request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	r.URL.Path = strings.TrimSuffix(r.URL.Path, "/")
	last := path.Base(r.URL.Path)
	switch {
	case r.URL.Path == "/version":
		answer(w, http.StatusOK, map[string]string{"major": "1", "minor": "33", "gitVersion": "v1.33.0"})
	case r.Method == http.MethodPost && strings.HasSuffix(last, "reviews"):
		s.review(w, r)
	case last == "exec":
		s.exec(w, r)
	case last == "log":
		_, _ = fmt.Fprint(w, s.Log)
		if r.URL.Query().Get("follow") == "true" {
			w.(http.Flusher).Flush() //nolint:forcetypeassert // httptest's can
			s.wait(r)
		}
	case r.Method == http.MethodGet && isCollection(r.URL.Path):
		s.list(w, r)
	case r.Method == http.MethodDelete && isCollection(r.URL.Path):
		s.deleteAll(w, r)
	default:
		s.one(w, r)
	}
}

func (s *Server) wait(r *http.Request) {
	select {
	case <-r.Context().Done():
	case <-s.closed:
	}
}

// list lists a collection, or watches it.
func (s *Server) list(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	matches := matcher(query.Get("labelSelector"), query.Get("fieldSelector"))
	as := form(r)
	s.mu.Lock()
	var items []*Object
	for _, at := range slices.Sorted(maps.Keys(s.objects)) {
		if covers(r.URL.Path, at) && matches(s.objects[at]) {
			items = append(items, as(s.objects[at].DeepCopy()))
		}
	}
	version := strconv.Itoa(s.version)
	if query.Get("watch") == "" {
		s.mu.Unlock()
		answer(w, http.StatusOK, map[string]any{
			"kind": kindOf(r.URL.Path) + "List", "apiVersion": apiVersion(r.URL.Path),
			"metadata": map[string]any{"resourceVersion": version}, "items": orEmpty(items),
		})
		return
	}
	changes := make(chan change, 1000)
	s.watches[changes] = r.URL.Path
	if from, err := strconv.Atoi(query.Get("resourceVersion")); err == nil && from > 0 {
		for _, c := range s.removed {
			if at, _ := strconv.Atoi(c.Object.GetResourceVersion()); at > from && covers(r.URL.Path, c.path) {
				changes <- c
			}
		}
	}
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.watches, changes)
	}()
	s.stream(w, r, items, version, changes, matches)
}

func (s *Server) stream(w http.ResponseWriter, r *http.Request, items []*Object, version string,
	changes <-chan change, matches func(*Object) bool,
) {
	w.Header().Set("Content-Type", "application/json")
	flush := w.(http.Flusher).Flush //nolint:forcetypeassert // httptest's can
	send, as := json.NewEncoder(w), form(r)
	from, _ := strconv.Atoi(r.URL.Query().Get("resourceVersion"))
	known := map[string]bool{} // what the watch selects, by name
	for _, item := range items {
		known[nameOf(item)] = true
		if at, _ := strconv.Atoi(item.GetResourceVersion()); at > from {
			_ = send.Encode(change{Type: "ADDED", Object: item})
		}
	}
	if r.URL.Query().Get("sendInitialEvents") == "true" {
		_ = send.Encode(change{Type: "BOOKMARK", Object: as(bookmark(r, version))})
	}
	flush()
	for {
		select {
		case c := <-changes:
			is, was := matches(c.Object), known[nameOf(c.Object)]
			if known[nameOf(c.Object)] = is && c.Type != "DELETED"; !is && was {
				c.Type = "DELETED" // it is not selected any more
			}
			if is || was {
				_ = send.Encode(change{Type: c.Type, Object: as(c.Object)})
				flush()
			}
		case <-r.Context().Done():
			return
		case <-s.closed:
			return
		}
	}
}

func nameOf(o *Object) string { return o.GetNamespace() + "/" + o.GetName() }

// form is what a client takes of an object: all of it, or only its metadata.
func form(r *http.Request) func(*Object) *Object {
	if !strings.Contains(r.Header.Get("Accept"), "as=PartialObjectMetadata") {
		return func(o *Object) *Object { return o }
	}
	return func(o *Object) *Object {
		return &Object{Object: map[string]any{
			"apiVersion": "meta.k8s.io/v1", "kind": "PartialObjectMetadata", "metadata": o.Object["metadata"],
		}}
	}
}

// bookmark says that a list is complete.
func bookmark(r *http.Request, version string) *Object {
	end := &Object{Object: map[string]any{"apiVersion": apiVersion(r.URL.Path), "kind": kindOf(r.URL.Path)}}
	end.SetAnnotations(map[string]string{"k8s.io/initial-events-end": "true"})
	end.SetResourceVersion(version)
	return end
}

// matcher selects by labels, and by names in fields.
func matcher(selector, fields string) func(*Object) bool {
	selected, err := labels.Parse(selector)
	if err != nil {
		selected = labels.Nothing()
	}
	return func(o *Object) bool {
		for field := range strings.SplitSeq(fields, ",") {
			name, value, _ := strings.Cut(field, "=")
			if found, ok, _ := unstructured.NestedString(o.Object, strings.Split(name, ".")...); field != "" &&
				(!ok || found != value) {
				return false
			}
		}
		return selected.Matches(labels.Set(o.GetLabels()))
	}
}

func orEmpty(items []*Object) []*Object {
	if items == nil {
		return []*Object{}
	}
	return items
}

func answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Date", time.Now().UTC().Format(http.TimeFormat))
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // the client notices
}

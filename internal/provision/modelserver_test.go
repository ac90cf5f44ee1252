package provision

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	apiwatch "k8s.io/apimachinery/pkg/watch"
)

// model is an API server as far as two runs on one workspace take one, exact in what
// keeps them apart: versions, preconditions, tests of patches, selectors, watches. Its
// cluster has a kubelet and a controller of DaemonSets that take no time: a pod is
// ready as soon as all that it mounts is there.
type model struct {
	delay time.Duration

	mu      sync.Mutex
	version int
	objects map[string]*unstructured.Unstructured // by their paths
	watches []modelWatch
	history []modelChange
	writes  []string
	empty   bool // there is no namespace yet
	holds   bool // pods that are deleted do not go
}

// modelChange is what a watch is told: an object before and after, nil where there is none.
type modelChange struct {
	version       int
	at            string
	before, after *unstructured.Unstructured
}

type modelWatch struct {
	collection string
	selects    func(*unstructured.Unstructured) bool
	to         *stream
}

func newModel(delay time.Duration) *model {
	return &model{delay: delay, objects: map[string]*unstructured.Unstructured{}}
}

// RoundTrip answers a request.
func (m *model) RoundTrip(r *http.Request) (*http.Response, error) {
	var body []byte
	if r.Body != nil {
		var err error
		if body, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
	}
	time.Sleep(m.delay)
	m.mu.Lock()
	defer m.mu.Unlock()
	if r.Method != http.MethodGet && !strings.Contains(r.URL.Path, "/leases") {
		m.writes = append(m.writes, r.Method+" "+path.Base(path.Dir(r.URL.Path))+"/"+path.Base(r.URL.Path))
	}
	answer, err := m.answer(r, body)
	var refused *apierrors.StatusError
	if ok := asStatus(err, &refused); ok {
		return refuse(refused)
	}
	return answer, err
}

func asStatus(err error, into **apierrors.StatusError) bool {
	status, ok := err.(*apierrors.StatusError) //nolint:errorlint // it is made here
	*into = status
	return ok
}

func (m *model) answer(r *http.Request, body []byte) (*http.Response, error) {
	at, query := r.URL.Path, r.URL.Query()
	current := m.objects[at]
	switch {
	case strings.HasSuffix(at, "/selfsubjectrulesreviews"):
		return respond(http.StatusCreated, map[string]any{"status": map[string]any{"incomplete": true}})
	case m.empty && r.Method != http.MethodGet && strings.Contains(at, "/namespaces/dev/"):
		return nil, apierrors.NewNotFound(schema.GroupResource{Resource: "namespaces"}, "dev")
	case r.Method == http.MethodPatch && current == nil &&
		r.Header.Get("Content-Type") == string(types.ApplyYAMLPatchType):
		at = path.Dir(at)
		fallthrough
	case r.Method == http.MethodPost:
		made, err := m.create(at, body, query.Has("dryRun"))
		if err != nil {
			return nil, err
		}
		return respond(http.StatusCreated, made.Object)
	case r.Method == http.MethodGet && query.Get("watch") != "":
		return m.watch(at, query.Get("labelSelector"), query.Get("fieldSelector"), query.Get("resourceVersion"))
	case r.Method == http.MethodGet && isCollection(at):
		return respond(http.StatusOK, m.list(at, query.Get("labelSelector"), query.Get("fieldSelector")))
	case current == nil:
		return nil, apierrors.NewNotFound(resourceAt(at), path.Base(at))
	case r.Method == http.MethodGet:
		return respond(http.StatusOK, current.Object)
	case r.Method == http.MethodDelete:
		return m.remove(at, body)
	}
	made, err := m.change(r, current, body)
	switch {
	case err != nil:
		return nil, err
	case query.Has("dryRun"):
		return respond(http.StatusOK, made.Object)
	}
	return respond(http.StatusOK, m.put(at, made).Object)
}

func isCollection(at string) bool { return path.Base(path.Dir(at)) == "dev" }

func resourceAt(at string) schema.GroupResource {
	return schema.GroupResource{Resource: path.Base(path.Dir(at))}
}

func (m *model) create(collection string, body []byte, dry bool) (*unstructured.Unstructured, error) {
	object := &unstructured.Unstructured{}
	if err := utiljson.Unmarshal(body, &object.Object); err != nil {
		return nil, err
	}
	at := collection + "/" + object.GetName()
	if m.objects[at] != nil {
		return nil, apierrors.NewAlreadyExists(resourceAt(at), object.GetName())
	}
	object.SetUID(types.UID(fmt.Sprintf("%s-%d", at, m.version)))
	object.SetCreationTimestamp(metav1.Now())
	if collection != "/api/v1/namespaces" {
		object.SetNamespace("dev")
	}
	if dry {
		return object, nil
	}
	if collection == "/api/v1/namespaces" {
		m.empty = false
		m.put(at, object)
		return m.create("/api/v1/namespaces/dev/serviceaccounts",
			[]byte(`{"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default"}}`), false)
	}
	return m.put(at, object), nil
}

// change is what an update makes of an object.
func (m *model) change(r *http.Request, current *unstructured.Unstructured, body []byte) (*unstructured.Unstructured,
	error,
) {
	before, err := json.Marshal(current.Object)
	if err != nil {
		return nil, err
	}
	after := body
	switch r.Header.Get("Content-Type") {
	case string(types.JSONPatchType):
		patch, err := jsonpatch.DecodePatch(body)
		if err == nil {
			after, err = patch.Apply(before)
		}
		if err != nil {
			return nil, apierrors.NewInvalid(schema.GroupKind{}, current.GetName(), nil)
		}
	case string(types.MergePatchType), string(types.ApplyYAMLPatchType):
		if after, err = jsonpatch.MergePatch(before, body); err != nil {
			return nil, err
		}
	}
	made := &unstructured.Unstructured{}
	if err := utiljson.Unmarshal(after, &made.Object); err != nil {
		return nil, err
	}
	if version := made.GetResourceVersion(); version != "" && version != current.GetResourceVersion() ||
		made.GetUID() != "" && made.GetUID() != current.GetUID() {
		return nil, apierrors.NewConflict(resourceAt(r.URL.Path), current.GetName(),
			fmt.Errorf("the object has been modified"))
	}
	made.SetUID(current.GetUID())
	return made, nil
}

func (m *model) remove(at string, body []byte) (*http.Response, error) {
	current := m.objects[at]
	var options metav1.DeleteOptions
	if len(body) > 0 {
		if err := json.Unmarshal(body, &options); err != nil {
			return nil, err
		}
	}
	if p := options.Preconditions; p != nil &&
		(p.UID != nil && *p.UID != current.GetUID() || p.ResourceVersion != nil &&
			*p.ResourceVersion != current.GetResourceVersion()) {
		return nil, apierrors.NewConflict(resourceAt(at), current.GetName(), fmt.Errorf("the precondition is not met"))
	}
	if len(options.DryRun) == 0 {
		m.end(at)
	}
	return respond(http.StatusOK, metav1.Status{Status: metav1.StatusSuccess})
}

// put keeps an object, tells the watches, and lets the controllers work.
func (m *model) put(at string, object *unstructured.Unstructured) *unstructured.Unstructured {
	before := m.objects[at]
	m.version++
	object.SetResourceVersion(strconv.Itoa(m.version))
	if before == nil || !equalJSON(before.Object["spec"], object.Object["spec"]) {
		object.SetGeneration(object.GetGeneration() + 1)
	}
	m.objects[at] = object
	m.tell(at, before, object)
	if object.GetKind() != "Lease" {
		m.control()
	}
	return m.objects[at]
}

// end deletes an object; a pod that hangs remains.
func (m *model) end(at string) {
	if !m.holds || path.Dir(at) != modelPods {
		m.forget(at)
		return
	}
	before, ending := m.objects[at], m.objects[at].DeepCopy()
	if before.GetDeletionTimestamp() != nil {
		return
	}
	m.version++
	ending.SetDeletionTimestamp(new(metav1.Now()))
	ending.SetResourceVersion(strconv.Itoa(m.version))
	m.objects[at] = ending
	m.tell(at, before, ending)
}

func (m *model) forget(at string) {
	before := m.objects[at]
	delete(m.objects, at)
	m.version++
	last := before.DeepCopy()
	last.SetResourceVersion(strconv.Itoa(m.version))
	m.tell(at, last, nil)
}

func (m *model) tell(at string, before, after *unstructured.Unstructured) {
	change := modelChange{m.version, at, before, after}
	m.history = append(m.history, change)
	for _, w := range m.watches {
		w.see(change)
	}
}

func (w modelWatch) see(c modelChange) {
	if w.collection != path.Dir(c.at) {
		return
	}
	was, is := c.before != nil && w.selects(c.before), c.after != nil && w.selects(c.after)
	switch {
	case is && was:
		w.say(apiwatch.Modified, c.after)
	case is:
		w.say(apiwatch.Added, c.after)
	case was && c.after != nil:
		w.say(apiwatch.Deleted, c.after)
	case was:
		w.say(apiwatch.Deleted, c.before)
	}
}

func (w modelWatch) say(change apiwatch.EventType, object *unstructured.Unstructured) {
	_ = json.NewEncoder(w.to).Encode(map[string]any{"type": change, "object": object.Object})
}

func selection(byLabel, byField string) func(*unstructured.Unstructured) bool {
	label, _ := labels.Parse(byLabel)
	field, _ := fields.ParseSelector(byField)
	return func(o *unstructured.Unstructured) bool {
		if label != nil && !label.Matches(labels.Set(o.GetLabels())) {
			return false
		}
		if field == nil || field.Empty() {
			return true
		}
		name, by := field.RequiresExactMatch("metadata.name")
		return !by || name == o.GetName()
	}
}

func (m *model) list(at, byLabel, byField string) map[string]any {
	items, selects := []any{}, selection(byLabel, byField)
	for _, name := range slices.Sorted(maps.Keys(m.objects)) {
		if path.Dir(name) == at && selects(m.objects[name]) {
			items = append(items, m.objects[name].Object)
		}
	}
	list := map[string]any{"metadata": map[string]any{"resourceVersion": strconv.Itoa(m.version)}, "items": items}
	if len(items) > 0 { // the untyped client wants a kind
		first, _ := items[0].(map[string]any)
		list["kind"], list["apiVersion"] = fmt.Sprint(first["kind"], "List"), first["apiVersion"]
	} else {
		list["kind"], list["apiVersion"] = "List", "v1"
	}
	return list
}

func (m *model) watch(at, byLabel, byField, from string) (*http.Response, error) {
	pipe := &stream{}
	pipe.some.L = &pipe.mu
	w := modelWatch{collection: at, selects: selection(byLabel, byField), to: pipe}
	after, err := strconv.Atoi(from)
	for _, change := range m.history {
		if change.version > after && (err == nil ||
			m.objects[change.at] == change.after) { // from no version on: what is there
			w.see(change)
		}
	}
	m.watches = append(m.watches, w)
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}},
		Body: pipe,
	}, nil
}

func equalJSON(a, b any) bool {
	x, _ := json.Marshal(a)
	y, _ := json.Marshal(b)
	return bytes.Equal(x, y)
}

package provision

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	apiwatch "k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/kube"
)

// apiServer is as much of an API server as a provisioning takes, without a
// network: a transport that answers each request after a delay, and notes when it
// began and when it was answered. It knows no selectors: the workspace is alone.
type apiServer struct {
	delay time.Duration

	mu       sync.Mutex
	version  int
	objects  map[string]map[string]any // by their paths
	watches  map[string][]io.Writer    // by the paths of the collections
	requests []request
	podMade  chan struct{} // closed once the pod is created
}

func newAPIServer(delay time.Duration) *apiServer {
	return &apiServer{
		delay: delay, objects: map[string]map[string]any{}, watches: map[string][]io.Writer{},
		podMade: make(chan struct{}),
	}
}

type request struct {
	what            string
	began, answered time.Time
}

func (s *apiServer) client(t *testing.T) *kube.Client {
	t.Helper()
	content := rest.ContentConfig{ContentType: runtime.ContentTypeJSON, AcceptContentTypes: runtime.ContentTypeJSON}
	config := &rest.Config{Host: "http://cluster", Transport: s, QPS: -1, ContentConfig: content}
	typed, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	untyped, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return &kube.Client{
		Interface: typed, Dynamic: untyped, Config: config, HTTP: &http.Client{Transport: s},
		Namespace: "dev",
	}
}

func (s *apiServer) RoundTrip(r *http.Request) (*http.Response, error) {
	what, began := r.Method+" "+strings.TrimPrefix(r.URL.Path, "/api/v1/"), time.Now()
	if r.URL.Query().Get("watch") != "" {
		what = "WATCH " + strings.TrimPrefix(r.URL.Path, "/api/v1/")
	}
	time.Sleep(s.delay)
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	answer, err := s.answer(r)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, request{what, began, time.Now()})
	return answer, err
}

func (s *apiServer) answer(r *http.Request) (*http.Response, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var sent map[string]any
	if r.Body != nil {
		if err := json.NewDecoder(r.Body).Decode(&sent); err != nil {
			return nil, err
		}
	}
	at := r.URL.Path
	switch object, exists := s.objects[at]; {
	case strings.HasSuffix(at, "/selfsubjectrulesreviews"):
		return respond(http.StatusCreated, map[string]any{"status": map[string]any{"incomplete": true}})
	case r.Method == http.MethodPost:
		name, _, _ := unstructured.NestedString(sent, "metadata", "name")
		if s.objects[at+"/"+name] != nil {
			return refuse(apierrors.NewAlreadyExists(schema.GroupResource{Resource: path.Base(at)}, name))
		}
		if path.Base(at) == "pods" {
			defer close(s.podMade)
		}
		return respond(http.StatusCreated, s.store(at+"/"+name, sent, apiwatch.Added))
	case r.Method == http.MethodPut, r.Method == http.MethodPatch &&
		r.Header.Get("Content-Type") == string(types.ApplyYAMLPatchType):
		return respond(http.StatusOK, s.store(at, sent, apiwatch.Modified))
	case r.Method == http.MethodDelete && exists:
		delete(s.objects, at)
		return respond(http.StatusOK, metav1.Status{Status: metav1.StatusSuccess})
	case r.Method == http.MethodGet && r.URL.Query().Get("watch") != "":
		return s.watch(r)
	case r.Method == http.MethodGet && exists:
		return respond(http.StatusOK, object)
	case r.Method == http.MethodGet && path.Base(path.Dir(at)) == "dev", r.Method == http.MethodDelete:
		return respond(http.StatusOK, s.list(at))
	}
	return refuse(apierrors.NewNotFound(schema.GroupResource{Resource: path.Base(path.Dir(at))}, path.Base(at)))
}

// store keeps an object as it is now, and tells the watches.
func (s *apiServer) store(at string, object map[string]any, change apiwatch.EventType) map[string]any {
	s.version++
	u := unstructured.Unstructured{Object: object}
	u.SetResourceVersion(strconv.Itoa(s.version))
	u.SetUID(types.UID(at))
	s.objects[at] = object
	for _, w := range s.watches[path.Dir(at)] {
		_ = json.NewEncoder(w).Encode(map[string]any{"type": change, "object": object})
	}
	return object
}

func (s *apiServer) list(at string) map[string]any {
	items := []any{}
	for name, object := range s.objects {
		if path.Dir(name) == at {
			items = append(items, object)
		}
	}
	kinds := map[string]string{
		"pods": "Pod", "events": "Event", "secrets": "Secret", "configmaps": "ConfigMap",
		"persistentvolumeclaims": "PersistentVolumeClaim",
		"networkpolicies":        "NetworkPolicy", "certificates": "Certificate",
	}
	apiVersion, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(at, "/apis/"), "/api/"), "/namespaces/")
	return map[string]any{
		"apiVersion": apiVersion, "kind": kinds[path.Base(at)] + "List",
		"metadata": map[string]any{"resourceVersion": strconv.Itoa(s.version)}, "items": items,
	}
}

// watch says what changes from now on, which is all that a watch without a list
// before it needs: nothing is there then.
func (s *apiServer) watch(r *http.Request) (*http.Response, error) {
	pipe := &stream{}
	pipe.some.L = &pipe.mu
	s.watches[r.URL.Path] = append(s.watches[r.URL.Path], pipe)
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}},
		Body: pipe,
	}, nil
}

// ready lets the pod become ready.
func (s *apiServer) ready(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := "/api/v1/namespaces/dev/pods/" + name
	pod := (&unstructured.Unstructured{Object: s.objects[at]}).DeepCopy().Object
	_ = unstructured.SetNestedField(pod, "node-1", "spec", "nodeName")
	running := map[string]any{"running": map[string]any{"startedAt": "2026-01-01T00:00:00Z"}}
	pod["status"] = map[string]any{
		"phase": string(corev1.PodRunning),
		"conditions": []any{
			map[string]any{"type": string(corev1.PodScheduled), "status": "True"},
			map[string]any{"type": string(corev1.PodReady), "status": "True"},
		},
		"containerStatuses": []any{map[string]any{
			"name": v1.MainContainer, "ready": true, "started": true,
			"state": running,
		}},
	}
	s.store(at, pod, apiwatch.Modified)
}

func refuse(why *apierrors.StatusError) (*http.Response, error) {
	return respond(int(why.ErrStatus.Code), why.ErrStatus)
}

func respond(code int, document any) (*http.Response, error) {
	text, err := json.Marshal(document)
	if status, ok := document.(metav1.Status); ok {
		text, err = json.Marshal(struct {
			Kind, APIVersion string
			metav1.Status
		}{"Status", "v1", status})
	}
	if err != nil {
		return nil, fmt.Errorf("answer: %w", err)
	}
	return &http.Response{
		StatusCode: code, Header: http.Header{"Content-Type": {"application/json"}},
		Body: io.NopCloser(bytes.NewReader(text)),
	}, nil
}

// stream is the body of a watch: a pipe whose writer does not wait.
type stream struct {
	mu     sync.Mutex
	some   sync.Cond
	text   bytes.Buffer
	closed bool
}

func (s *stream) Write(text []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.some.Signal()
	return s.text.Write(text)
}

func (s *stream) Read(into []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.text.Len() == 0 && !s.closed {
		s.some.Wait()
	}
	return s.text.Read(into)
}

func (s *stream) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	s.some.Broadcast()
	return nil
}

package kubetest

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"path"
	"slices"
	"strings"
	"time"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/yaml"
)

func now() metav1.Time { return metav1.NewTime(time.Now().Truncate(time.Second)) }

func uid(n int) types.UID { return types.UID(fmt.Sprintf("uid-%d", n)) }

// one reads or writes one object.
func (s *Server) one(w http.ResponseWriter, r *http.Request) {
	text, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client is gone
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	at := r.URL.Path
	current := s.objects[at]
	dry := r.URL.Query().Get("dryRun") != ""
	switch {
	case r.Method == http.MethodPost:
		s.create(w, at, text, dry, r.URL.Query().Get("fieldManager"))
	case current == nil && r.Header.Get("Content-Type") != string(types.ApplyPatchType):
		failure(w, http.StatusNotFound, metav1.StatusReasonNotFound, path.Base(path.Dir(at))+" \""+path.Base(at)+
			"\" not found")
	case r.Method == http.MethodGet:
		answer(w, http.StatusOK, current)
	case r.Method == http.MethodDelete:
		s.delete(w, at, text, dry)
	default:
		s.change(w, r, at, text, dry)
	}
}

func (s *Server) create(w http.ResponseWriter, at string, text []byte, dry bool, manager string) {
	o := &Object{}
	if err := json.Unmarshal(text, &o.Object); err != nil {
		failure(w, http.StatusBadRequest, metav1.StatusReasonBadRequest, err.Error())
		return
	}
	resource := path.Base(at)
	at += "/" + o.GetName()
	switch {
	case s.objects[at] != nil:
		failure(w, http.StatusConflict, metav1.StatusReasonAlreadyExists,
			resource+" \""+o.GetName()+"\" already exists")
		return
	case dry:
	default:
		o = s.written(nil, o, manager)
		s.put(at, o)
		if change := s.settled(resource); change != nil {
			o = o.DeepCopy()
			change(o)
			s.put(at, o)
		}
	}
	answer(w, http.StatusCreated, o)
}

func (s *Server) delete(w http.ResponseWriter, at string, text []byte, dry bool) {
	var options metav1.DeleteOptions
	_ = json.Unmarshal(text, &options) // then there are none
	o := s.objects[at]
	if p := options.Preconditions; p != nil && p.UID != nil && *p.UID != o.GetUID() {
		failure(w, http.StatusConflict, metav1.StatusReasonConflict, "the UID in the precondition is another one")
		return
	}
	if p := options.Preconditions; p != nil && p.ResourceVersion != nil &&
		*p.ResourceVersion != o.GetResourceVersion() {
		failure(w, http.StatusConflict, metav1.StatusReasonConflict, "the version in the precondition is another one")
		return
	}
	if !dry {
		s.remove(at)
	}
	answer(w, http.StatusOK, o)
}

// deleteAll removes what a selector selects.
func (s *Server) deleteAll(w http.ResponseWriter, r *http.Request) {
	matches := matcher(r.URL.Query().Get("labelSelector"), r.URL.Query().Get("fieldSelector"))
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, at := range slices.Sorted(maps.Keys(s.objects)) {
		if covers(r.URL.Path, at) && matches(s.objects[at]) {
			s.remove(at)
		}
	}
	answer(w, http.StatusOK, metav1.Status{
		TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"},
		Status:   metav1.StatusSuccess,
	})
}

// change is PUT and PATCH; what is applied is merged.
func (s *Server) change(w http.ResponseWriter, r *http.Request, at string, text []byte, dry bool) {
	status, before := http.StatusOK, []byte("{}")
	if current := s.objects[at]; current != nil {
		before, _ = current.MarshalJSON()
	} else {
		status = http.StatusCreated
	}
	kind := types.PatchType(r.Header.Get("Content-Type"))
	apply := s.Managed && kind == types.ApplyPatchType
	after, err := text, error(nil)
	if !apply {
		after, err = patched(kind, before, text)
	}
	o := &Object{}
	if err == nil {
		err = json.Unmarshal(after, &o.Object)
	}
	current := s.objects[at]
	if apply {
		if o, err = applied(current, text, r.URL.Query()); err != nil {
			refuse(w, err)
			return
		}
	} else if err == nil && r.Header.Get("Content-Type") != string(types.JSONPatchType) {
		o = s.written(current, o, r.URL.Query().Get("fieldManager"))
	}
	switch {
	case err != nil:
		failure(w, http.StatusUnprocessableEntity, metav1.StatusReasonInvalid, err.Error())
		return
	case current != nil && o.GetResourceVersion() != "" && o.GetResourceVersion() != current.GetResourceVersion(),
		current != nil && o.GetUID() != "" && o.GetUID() != current.GetUID():
		failure(w, http.StatusConflict, metav1.StatusReasonConflict, "the object has been modified")
		return
	case !dry:
		s.put(at, o)
	}
	answer(w, status, o)
}

// patched is an object after a patch, or what replaces it.
func patched(kind types.PatchType, before, text []byte) ([]byte, error) {
	switch kind {
	case types.JSONPatchType:
		patch, err := jsonpatch.DecodePatch(text)
		if err != nil {
			return nil, err
		}
		return patch.Apply(before)
	case types.MergePatchType, types.ApplyPatchType, types.StrategicMergePatchType:
		change, err := yaml.YAMLToJSON(text)
		if err != nil {
			return nil, err
		}
		return jsonpatch.MergePatch(before, change)
	}
	return text, nil
}

// settled is what becomes of an object of a resource at once; nil for nothing.
func (s *Server) settled(resource string) func(*Object) {
	switch {
	case resource == "pods" && s.Full:
		return unscheduled
	case resource == "pods":
		return run
	case resource == "customresourcedefinitions":
		return func(definition *Object) {
			definition.Object["status"] = map[string]any{"conditions": []any{
				condition("NamesAccepted"),
				condition("Established"),
			}}
		}
	}
	return nil
}

// run lets a pod run: its containers are ready.
func run(pod *Object) {
	var statuses []any
	spec, _ := pod.Object["spec"].(map[string]any)
	containers, _ := spec["containers"].([]any)
	for _, c := range containers {
		container, _ := c.(map[string]any)
		statuses = append(statuses, map[string]any{
			"name": container["name"], "ready": true, "started": true, "containerID": "x", "imageID": "x",
			"image": container["image"],
			"state": map[string]any{"running": map[string]any{"startedAt": now().UTC().Format(time.RFC3339)}},
		})
	}
	spec["nodeName"] = "node-1"
	pod.Object["status"] = map[string]any{
		"phase": "Running", "containerStatuses": statuses, "startTime": now().UTC().Format(time.RFC3339),
		"conditions": []any{
			condition("PodScheduled"), condition("Initialized"), condition("ContainersReady"),
			condition("Ready"),
		},
	}
}

// unscheduled lets a pod wait for a node.
func unscheduled(pod *Object) {
	waits := condition("PodScheduled")
	waits["status"], waits["reason"], waits["message"] = "False", "Unschedulable",
		"0/1 nodes are available: 1 Insufficient cpu."
	pod.Object["status"] = map[string]any{"phase": "Pending", "conditions": []any{waits}}
}

func condition(kind string) map[string]any {
	return map[string]any{"type": kind, "status": "True", "lastTransitionTime": now().UTC().Format(time.RFC3339)}
}

// review allows everything to everybody.
func (s *Server) review(w http.ResponseWriter, r *http.Request) {
	var body map[string]any
	_ = json.NewDecoder(r.Body).Decode(&body) // then it is empty
	if body == nil {
		body = map[string]any{}
	}
	everything := []any{map[string]any{"verbs": []string{"*"}, "apiGroups": []string{"*"}, "resources": []string{"*"}}}
	body["status"] = map[string]any{
		"allowed": true, "resourceRules": everything, "nonResourceRules": []any{}, "incomplete": false,
		"userInfo": map[string]any{"username": "alice"},
	}
	if strings.HasSuffix(r.URL.Path, "selfsubjectreviews") {
		body["kind"], body["apiVersion"] = "SelfSubjectReview", "authentication.k8s.io/v1"
	}
	answer(w, http.StatusCreated, body)
}

func failure(w http.ResponseWriter, code int, reason metav1.StatusReason, message string) {
	answer(w, code, metav1.Status{
		TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusFailure, Code: int32(code),
		Reason: reason, Message: message,
	})
}

// isCollection tells pods from pods/alice: group, version, perhaps a namespace, resource.
func isCollection(at string) bool {
	parts := strings.Split(strings.Trim(at, "/"), "/")
	parts = parts[min(2, len(parts)):]
	if strings.HasPrefix(at, "/apis/") {
		parts = parts[min(1, len(parts)):]
	}
	if len(parts) > 2 && parts[0] == "namespaces" {
		parts = parts[2:]
	}
	return len(parts) == 1
}

// covers says whether an object is in a collection: of its namespace or of all.
func covers(collection, object string) bool {
	parent, resource := path.Dir(object), path.Base(collection)
	return parent == collection || path.Base(parent) == resource && !strings.Contains(collection, "/namespaces/")
}

// apiVersion is the group and version of a path.
func apiVersion(at string) string {
	parts := strings.Split(strings.Trim(at, "/"), "/")
	if parts[0] == "api" {
		return parts[1]
	}
	return parts[1] + "/" + parts[2]
}

// kindOf is the kind of what is in a collection; any for one of a custom resource.
func kindOf(at string) string {
	version, err := schema.ParseGroupVersion(apiVersion(at))
	if err != nil {
		return ""
	}
	for kind := range scheme.Scheme.KnownTypes(version) {
		if plural, _ := meta.UnsafeGuessKindToResource(version.WithKind(kind)); plural.Resource == path.Base(at) {
			return kind
		}
	}
	return "Resource"
}

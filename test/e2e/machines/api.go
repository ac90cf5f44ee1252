package main

import (
	"cmp"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

const groupVersion = "compute.ironcore.dev/v1alpha1"

// newAPI serves machines, their pools and their consoles to the cluster's API server,
// which has authenticated and authorized the caller.
func newAPI(c cluster) http.Handler {
	a, mux := api{c}, http.NewServeMux()
	const all, of = "/apis/" + groupVersion, "/apis/" + groupVersion + "/namespaces/{namespace}/machines"
	mux.HandleFunc("GET "+all, a.discovery)
	mux.HandleFunc("GET "+all+"/{plural}", a.list)
	mux.HandleFunc("GET "+all+"/{plural}/{name}", a.get)
	mux.HandleFunc("PUT "+all+"/machinepools/{name}/status", a.putStatus)
	mux.HandleFunc("GET "+of, a.list)
	mux.HandleFunc("GET "+of+"/{name}", a.get)
	mux.HandleFunc("GET "+of+"/{name}/exec", a.exec)
	mux.HandleFunc("POST "+of+"/{name}/exec", a.exec)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// Nobody else has a certificate that is verified.
		if len(r.TLS.VerifiedChains) == 0 {
			refuse(w, http.StatusUnauthorized, metav1.StatusReasonUnauthorized,
				"only the API server of the cluster may ask")
			return
		}
		mux.ServeHTTP(w, r)
	})
}

type api struct{ cluster }

func (api) discovery(w http.ResponseWriter, _ *http.Request) {
	answer(w, metav1.APIResourceList{
		TypeMeta: metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"}, GroupVersion: groupVersion,
		APIResources: []metav1.APIResource{
			{
				Name: "machinepools", SingularName: "machinepool", Kind: "MachinePool",
				Verbs: metav1.Verbs{"get", "list"},
			},
			{Name: "machinepools/status", Kind: "MachinePool", Verbs: metav1.Verbs{"update"}},
			{
				Name: "machineclasses", SingularName: "machineclass", Kind: "MachineClass",
				Verbs: metav1.Verbs{"get", "list"},
			},
			{
				Name: "machines", SingularName: "machine", Kind: "Machine", Namespaced: true,
				Verbs: metav1.Verbs{"get", "list"},
			},
			{Name: "machines/exec", Kind: "MachineExecOptions", Namespaced: true, Verbs: metav1.Verbs{"create", "get"}},
		},
	})
}

func (a api) list(w http.ResponseWriter, r *http.Request) {
	kind := cmp.Or(kinds()[r.PathValue("plural")], kindMachine)
	objects, err := a.objects(r.Context(), kind, r.PathValue("namespace"))
	if err != nil {
		fail(w, err)
		return
	}
	answer(w, map[string]any{
		"kind": kind + "List", "apiVersion": groupVersion, "metadata": map[string]any{},
		"items": slices.Concat([]map[string]any{}, objects),
	})
}

func (a api) get(w http.ResponseWriter, r *http.Request) {
	kind := cmp.Or(kinds()[r.PathValue("plural")], kindMachine)
	object, err := a.object(r.Context(), kind, r.PathValue("namespace"), r.PathValue("name"))
	if err != nil {
		fail(w, err)
		return
	}
	answer(w, object)
}

// putStatus takes the status of a pool, and nothing else of what is sent.
func (a api) putStatus(w http.ResponseWriter, r *http.Request) {
	sent := &unstructured.Unstructured{}
	if err := json.NewDecoder(r.Body).Decode(&sent.Object); err != nil {
		refuse(w, http.StatusBadRequest, metav1.StatusReasonBadRequest, err.Error())
		return
	}
	object, err := a.change(r.Context(), kindPool, r.PathValue("name"), sent.GetResourceVersion(),
		func(o *unstructured.Unstructured) { o.Object["status"] = sent.Object["status"] })
	if err != nil {
		fail(w, err)
		return
	}
	answer(w, object)
}

// refusal is an error that is answered with a status.
type refusal struct {
	code    int
	reason  metav1.StatusReason
	message string
}

func (r refusal) Error() string { return r.message }

// fail answers with the status of an error.
func fail(w http.ResponseWriter, err error) {
	if r, is := err.(refusal); is { //nolint:errorlint // they are returned as they are
		refuse(w, r.code, r.reason, r.message)
		return
	}
	refuse(w, http.StatusInternalServerError, metav1.StatusReasonInternalError, err.Error())
}

func refuse(w http.ResponseWriter, code int, reason metav1.StatusReason, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(metav1.Status{
		TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusFailure, Code: int32(code),
		Reason: reason, Message: message,
	})
}

func answer(w http.ResponseWriter, document any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(document)
}

// location is an address of the cluster's own API server.
func (c cluster) location(path string, query url.Values) (*url.URL, error) {
	at, err := url.Parse(c.config.Host)
	if err != nil {
		return nil, err
	}
	at.Path, at.RawQuery = path, query.Encode()
	return at, nil
}

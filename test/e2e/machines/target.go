package main

import (
	"net/http"
	"net/url"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// newTarget serves the machines that the poollet has, another API server's: anyone who has its
// one token may do everything, and a console is that of a pod.
func newTarget(c cluster, token string) http.Handler {
	t, mux := target{api{c}}, http.NewServeMux()
	const of = "/apis/" + groupVersion + "/namespaces/{namespace}/machines/{name}"
	mux.HandleFunc("GET "+of, t.get)
	mux.HandleFunc("GET "+of+"/exec", t.exec)
	mux.HandleFunc("POST "+of+"/exec", t.exec)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+token {
			refuse(w, http.StatusUnauthorized, metav1.StatusReasonUnauthorized, "this is not the token of the poollet")
			return
		}
		mux.ServeHTTP(w, r)
	})
}

type target struct{ api }

// get answers with a machine. Some are known for their errors.
func (t target) get(w http.ResponseWriter, r *http.Request) {
	name := strings.TrimPrefix(r.PathValue("name"), "id-")
	switch {
	case name == "closed":
		refuse(w, http.StatusForbidden, metav1.StatusReasonForbidden, "the poollet may not see this machine")
	case strings.HasPrefix(name, "broken"):
		refuse(w, http.StatusNotImplemented, metav1.StatusReasonInternalError, "the runtime does not answer")
	default:
		t.api.get(w, r)
	}
}

// exec connects to the console.
func (t target) exec(w http.ResponseWriter, r *http.Request) {
	object, err := t.object(r.Context(), kindMachine, r.PathValue("namespace"), r.PathValue("name"))
	if err != nil {
		fail(w, err)
		return
	}
	pod, _, _ := unstructured.NestedString(object.Object, "spec", "console")
	if pod == "elsewhere" {
		http.Redirect(w, r, "https://elsewhere.example.com/", http.StatusTemporaryRedirect)
		return
	}
	how, query := "attach", url.Values{"stdin": {"true"}, "stdout": {"true"}, "tty": {"true"}}
	if command, is, _ := unstructured.NestedString(object.Object, "spec", "command"); is { // one for each session
		how = "exec"
		query.Set("command", command)
	}
	at, err := t.location("/api/v1/namespaces/"+t.namespace+"/pods/"+pod+"/"+how, query)
	if err != nil {
		fail(w, err)
		return
	}
	through{at: at, authority: "/var/run/secrets/kubernetes.io/serviceaccount/ca.crt", token: t.token()}.ServeHTTP(w, r)
}

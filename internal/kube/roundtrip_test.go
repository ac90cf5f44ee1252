package kube

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/berthdev/berth/internal/fault"
)

// The page of a proxy is neither an answer of the API server, nor what an error says.
func TestPagesOfAProxy(t *testing.T) {
	for name, c := range map[string]struct {
		status int
		kind   string
		code   fault.Code
		says   string
	}{
		"refused":      {403, "text/html; charset=utf-8", fault.PermissionDenied, "HTTP 403 from a proxy"},
		"to log in":    {401, "text/html", fault.Unauthenticated, "do not accept"},
		"out of order": {502, "text/html", fault.Unavailable, "HTTP 502 from a proxy"},
		"a login page": {200, "text/html", fault.Unavailable, "a page in HTML"},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", c.kind)
				w.WriteHeader(c.status)
				_, _ = io.WriteString(w, "<html><body><h1>Log in</h1></body></html>")
			}))
			defer server.Close()
			config := &rest.Config{Host: server.URL}
			config.Wrap(withoutPages)
			client, err := kubernetes.NewForConfig(config)
			if err != nil {
				t.Fatal(err)
			}
			_, listErr := client.CoreV1().Pods("team").List(t.Context(), metav1.ListOptions{})
			_, logErr := client.CoreV1().Pods("team").GetLogs("alice", &corev1.PodLogOptions{}).Stream(t.Context())
			for _, err := range []error{listErr, logErr} {
				err = Fault(err, Call{Verb: "list", Resource: "pods", Namespace: "team"})
				if fault.CodeOf(err) != c.code || strings.Contains(err.Error(), "<") || c.status != 401 &&
					!strings.Contains(err.Error(), c.says) {
					t.Errorf("%v (%s)", err, fault.CodeOf(err))
				}
			}
		})
	}
}

package kube

import (
	"net/http"
	"net/http/httptest"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
)

// Each client says to the API server who it acts as: typed, untyped, discovery, and what is made from its
// configuration; the one that it is made from stays who it is.
func TestActingAs(t *testing.T) {
	var who []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		who = append(who, r.Header.Get("Impersonate-User"))
		http.NotFound(w, r)
	}))
	defer server.Close()
	account := types.NamespacedName{Namespace: "ns", Name: "deployer"}
	for name, as := range map[string]string{"who is themselves": "", "who acts as somebody": "alice"} {
		t.Run(name, func(t *testing.T) {
			config := &rest.Config{Host: server.URL, Impersonate: rest.ImpersonationConfig{UserName: as}}
			own := &Client{Config: config}
			var err error
			if own.HTTP, err = rest.HTTPClientFor(config); err != nil {
				t.Fatal(err)
			}
			acting, err := own.ActingAs(account)
			if err != nil {
				t.Fatal(err)
			}
			who = nil
			_, _ = acting.CoreV1().Pods("ns").List(t.Context(), metav1.ListOptions{})
			_, _ = acting.Dynamic.Resource(metav1.SchemeGroupVersion.WithResource("x")).List(t.Context(),
				metav1.ListOptions{})
			_, _ = acting.Discovery().ServerVersion()
			for _, user := range who {
				if user != "system:serviceaccount:ns:deployer" {
					t.Errorf("a request is of %q", user)
				}
			}
			if len(who) != 3 || acting.Config.Impersonate.UserName != "system:serviceaccount:ns:deployer" ||
				own.Config.Impersonate.UserName != as {
				t.Errorf("%q; %+v", who, own.Config.Impersonate)
			}
		})
	}
}

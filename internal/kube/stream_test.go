package kube

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/berthdev/berth/internal/fault"
)

// Credentials stay with the API server when it redirects.
func TestPortsOfAServerThatRedirects(t *testing.T) {
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("%s %s is sent elsewhere, with %v", r.Method, r.URL, r.Header)
	}))
	t.Cleanup(other.Close)
	server := httptest.NewServer(http.RedirectHandler(other.URL, http.StatusTemporaryRedirect))
	t.Cleanup(server.Close)
	config := &rest.Config{Host: server.URL, BearerToken: "secret"}
	typed, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	client := &Client{Interface: typed, Config: config}
	_, err = client.DialPorts(t.Context(), "dev", "alice")
	if fault.CodeOf(err) != fault.Unavailable || !strings.Contains(err.Error(), "redirects to "+other.URL) {
		t.Errorf("%s: %v", fault.CodeOf(err), err)
	}
}

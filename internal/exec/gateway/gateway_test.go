package gateway

import (
	"bytes"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/berthdev/berth/internal/credential"
	"github.com/berthdev/berth/internal/exec"
	"github.com/berthdev/berth/internal/fault"
)

// server is a gateway that answers with what it is given.
func server(t *testing.T, answer http.HandlerFunc) Gateway {
	t.Helper()
	s := httptest.NewTLSServer(answer)
	t.Cleanup(s.Close)
	file := filepath.Join(t.TempDir(), "ca.crt")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}),
		0o600); err != nil {
		t.Fatal(err)
	}
	return Gateway{Name: "office", URL: s.URL, CAFile: file}
}

func (g Gateway) enter(t *testing.T, to Destination) error {
	t.Helper()
	_, err := g.Runner(to)(t.Context(), []string{"ls"}, exec.Session{Stdout: &bytes.Buffer{}})
	return err
}

// The credential goes to the gateway, and not where it redirects to, over either protocol.
func TestRedirectsAreRefused(t *testing.T) {
	for _, status := range []int{http.StatusFound, http.StatusTemporaryRedirect, http.StatusPermanentRedirect} {
		var stolen atomic.Int32
		thief := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { stolen.Add(1) }))
		t.Cleanup(thief.Close)
		g := server(t, func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Authorization") != "Bearer secret" {
				t.Errorf("the gateway gets %q", r.Header.Get("Authorization"))
			}
			http.Redirect(w, r, thief.URL+r.URL.Path, status)
		})
		g.Token = &credential.Source{Env: "T", Getenv: func(string) string { return "secret" }}
		err := g.enter(t, Destination{Namespace: "dev", Workspace: "alice"})
		if fault.CodeOf(err) != fault.Unavailable || !strings.Contains(err.Error(), "is not sent any credentials") {
			t.Errorf("%d: %v (%s)", status, err, fault.CodeOf(err))
		}
		if n := stolen.Load(); n != 0 {
			t.Errorf("%d: there were %d requests elsewhere", status, n)
		}
	}
}

// What a runtime says of the URL of a session is passed on in words, and not to be taken for a wrong URL of the
// gateway.
func TestURLOfRuntime(t *testing.T) {
	for says, want := range map[string]fault.Code{
		"the runtime of machine vm refuses the session: not found": fault.Unavailable,
		"404 page not found": fault.Internal,
		"the runtime of machine vm-2 refuses the session: not found": fault.Internal,
	} {
		g := server(t, func(w http.ResponseWriter, _ *http.Request) { http.Error(w, says, http.StatusNotFound) })
		err := g.enter(t, Destination{Namespace: "dev", Machine: "vm"})
		f := fault.From(err)
		if f.Code != want || strings.Contains(f.Message, "the URL of the session") != (want == fault.Unavailable) {
			t.Errorf("%s: %v (%s)", says, err, f.Code)
		}
	}
}

// Of a kubeconfig, the credentials are taken and nothing else.
func TestKubeconfigCredential(t *testing.T) {
	from := &rest.Config{
		Host: "https://cluster", APIPath: "/x", Username: "basic", Password: "basic", BearerToken: "secret",
		TLSClientConfig: rest.TLSClientConfig{
			Insecure: true, ServerName: "cluster", CAData: []byte("ca"),
			CertData: []byte("cert"), KeyData: []byte("key"),
		},
	}
	g := Gateway{
		Name: "office", URL: "https://gateway", CAFile: "ca.crt",
		Kubeconfig: func() (*rest.Config, error) { return from, nil },
	}
	c, err := g.Config(t.Context(), "gateway office")
	if err != nil {
		t.Fatal(err)
	}
	if c.Host != "https://gateway" || c.BearerToken != "secret" || string(c.CertData) != "cert" ||
		string(c.KeyData) != "key" {
		t.Errorf("%+v", c)
	}
	if c.Insecure || c.ServerName != "" || len(c.CAData) > 0 || c.CAFile != "ca.crt" || c.Username != "" {
		t.Errorf("the gateway is trusted as the cluster is: %+v", c)
	}
	from.Impersonate.UserName = "boss"
	if _, err := g.Config(t.Context(), "gateway office"); fault.CodeOf(err) != fault.InvalidArgument ||
		!strings.Contains(err.Error(), "--as") {
		t.Errorf("%v", err)
	}
}

// A credential that cannot be had is not replaced by none.
func TestNoCredential(t *testing.T) {
	g := server(t, func(http.ResponseWriter, *http.Request) { t.Error("the gateway is asked") })
	g.Token = &credential.Source{File: filepath.Join(t.TempDir(), "token")}
	err := g.enter(t, Destination{Namespace: "dev", Workspace: "alice"})
	if fault.CodeOf(err) != fault.Unauthenticated ||
		!strings.Contains(err.Error(), "the credential of gateway office") {
		t.Errorf("%v", err)
	}
}

func TestPaths(t *testing.T) {
	for want, to := range map[string]Destination{
		"/apis/berth.dev/v1/namespaces/dev/workspaces/alice-1/exec": {
			Namespace: "dev", Workspace: "alice-1",
			Container: "side",
		},
		"/apis/compute.ironcore.dev/namespaces/dev/machines/vm/exec":        {Namespace: "dev", Machine: "vm"},
		"/apis/berth.dev/v1/namespaces/a%2Fb/workspaces/..%2Falice%3F/exec": {Namespace: "a/b", Workspace: "../alice?"},
	} {
		if got := to.path(); got != want {
			t.Errorf("%+v is at %s, want %s", to, got, want)
		}
	}
}

// A query has what the session has; a terminal has no stderr of its own.
func TestQuery(t *testing.T) {
	to := Destination{Container: "side", User: "dev", Login: true}
	in, out := strings.NewReader(""), &bytes.Buffer{}
	for want, s := range map[string]exec.Session{
		"command=ls&command=a+b&container=side&login=true&stdin=true&stdout=true&tty=true&user=dev": {
			Stdin: in, Stdout: out,
			Stderr: out, TTY: true,
		},
		"command=ls&command=a+b&container=side&login=true&stderr=true&user=dev": {Stderr: out},
	} {
		if got := Query(to, []string{"ls", "a b"}, s).Encode(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	if got := Query(Destination{}, nil, exec.Session{Stdout: out}).Encode(); got != "stdout=true" {
		t.Errorf("a shell: %s", got)
	}
}

package machine

import (
	"crypto/tls"
	"crypto/x509"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/berthdev/berth/internal/certtest"
	"github.com/berthdev/berth/internal/exec"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/kubetest"
)

// status is a Status with a message, of a gateway if it has its group.
func status(code int, group, message string) string {
	return `{"kind":"Status","apiVersion":"v1","status":"Failure","code":` + strconv.Itoa(code) + `,"message":` +
		strconv.Quote(message) + `,"details":{"group":"` + group + `"}}`
}

// Each refusal says whose fault it is: the user's, that of the API server at the poollet, or that of the runtime.
func TestWhoseFault(t *testing.T) {
	const (
		noRole = `machines.compute.ironcore.dev "web" is forbidden: User "bob" cannot create resource "machines/exec"`
		noPage = "404 page not found"
	)
	for name, c := range map[string]struct {
		code       int
		body       string
		unserved   bool // the API server has no machines
		direct     bool
		want       fault.Code
		says, hint string
	}{
		"no login": {
			code: 401, body: status(401, "", "Unauthorized"), want: fault.Unauthenticated,
			says: "the API server does not accept your credentials", hint: "log in again",
		},
		"the API server has no login at the poollet": {
			code: 401, body: status(401, kube.Group, "a token is required"), want: fault.Unavailable,
			says: "the API server may not open the console of machine web at its poollet: a token is required",
			hint: "not about your permissions",
		},
		"the API server has no login at a poollet of ironcore": {
			code: 401, body: "Unauthorized", want: fault.Unavailable,
			says: "the API server may not open the console of machine web at its poollet: Unauthorized",
			hint: "not about your permissions",
		},
		"no login at a poollet of ironcore": {
			code: 401, body: "Unauthorized", direct: true, want: fault.Unauthenticated,
			says: "does not accept your credentials", hint: "log in again",
		},
		"no Role": {
			code: 403, body: status(403, Group, noRole), want: fault.PermissionDenied, says: "you may not create",
			hint: `"machines.compute.ironcore.dev/exec"`,
		},
		"the API server has no Role at the gateway": {
			code: 403, body: status(403, kube.Group, "apiserver may not get machinepools.compute.ironcore.dev/proxy p"),
			want: fault.Unavailable, says: "the API server may not open the console",
			hint: "machinepools.compute.ironcore.dev/proxy",
		},
		"the API server has no Role at the poollet": {
			code: 403, body: "Forbidden (user=apiserver, verb=get, resource=machinepools)", want: fault.Unavailable,
			says: "the API server may not open the console", hint: "ask who runs the machines",
		},
		"no Role at the poollet": {
			code: 403, body: "Forbidden (user=bob, verb=get, resource=machinepools)", direct: true,
			want: fault.PermissionDenied, says: "you may not open the console of machine web at the poollet",
			hint: "machine-pool-NAME-user",
		},
		"an expired URL": {
			code: 404, body: noPage, want: fault.Unavailable, says: "the runtime of machine web does not know the URL",
			hint: "enter the machine again",
		},
		"an expired URL, directly": {
			code: 404, body: noPage, direct: true, want: fault.Unavailable,
			says: "the runtime of machine web does not know the URL", hint: "enter the machine again",
		},
		"an expired URL, in other words": {
			code: 404, body: "no such token", want: fault.Unavailable,
			says: "the runtime of machine web does not know the URL of the session: no such token",
			hint: "enter the machine again",
		},
		"another thing, in the words of an expired URL": {
			code: 404, body: status(404, Group, noPage), want: fault.NotFound,
			says: "what the console of machine web takes", hint: "not the machine that you have named",
		},
		"no machines at all": {
			code: 404, body: noPage, unserved: true, want: fault.NotFound, says: "this cluster has no machines",
			hint: "--context",
		},
		"no such machine": {
			code: 404, body: status(404, Group, `machines.compute.ironcore.dev "web" not found`), want: fault.NotFound,
			says: "the console of machine web in namespace ns cannot be found", hint: "kubectl get machines",
		},
		"no such machine at a gateway": {
			code: 404, body: status(404, kube.Group, "machine web not found in namespace ns"), want: fault.NotFound,
			says: "the console of machine web in namespace ns cannot be found", hint: "kubectl get machines",
		},
		"no such machine, directly": {
			code: 404, body: status(404, kube.Group, "machine web not found in namespace ns"), direct: true,
			want: fault.NotFound, says: "the poollet does not have machine web", hint: "kubectl get machine web",
		},
		"no such pool": {
			code: 404, body: status(404, Group, `machinepools.compute.ironcore.dev "web" not found`),
			want: fault.NotFound, says: "the pool of machine web does not exist", hint: "ask who runs the machines",
		},
		"another machine": {
			code: 404, body: status(404, Group, `machines.compute.ironcore.dev "0563" not found`), want: fault.NotFound,
			says: "what the console of machine web takes", hint: "not the machine that you have named",
		},
		"nothing": {
			code: 200, want: fault.Unavailable, says: "has answered without opening",
			hint: "client certificate of the API",
		},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				switch {
				case r.URL.Path == "/apis/"+Group+"/"+Version && !c.unserved:
					_, _ = io.WriteString(w, "{}")
				case strings.HasPrefix(c.body, "{"):
					w.Header().Set("Content-Type", "application/json")
					fallthrough
				default:
					w.WriteHeader(c.code)
					_, _ = io.WriteString(w, c.body)
				}
			}))
			defer server.Close()
			console, err := Through(&kube.Client{Namespace: "ns", Config: &rest.Config{Host: server.URL}}, "web", false)
			if err != nil {
				t.Fatal(err)
			}
			console.direct = c.direct
			_, err = console.Open(t.Context(), exec.Session{Stdout: io.Discard})
			if f := fault.From(err); f.Code != c.want || !strings.Contains(f.Message, c.says) ||
				!strings.Contains(f.Hint, c.hint) {
				t.Errorf("%s: %s\n%s", f.Code, f.Message, f.Hint)
			}
		})
	}
}

// A poollet that wants a certificate says so, also one that takes another.
func TestPoolletThatWantsACertificate(t *testing.T) {
	p := newPoollet(t, func(http.ResponseWriter, *http.Request) { t.Error("a request came through") })
	text, err := os.ReadFile(p.authority.File)
	if err != nil {
		t.Fatal(err)
	}
	clients := x509.NewCertPool()
	clients.AppendCertsFromPEM(text)
	p.tls.ClientAuth, p.tls.ClientCAs = tls.RequireAndVerifyClientCert, clients
	other := certtest.New(t).Issue(time.Now().Add(time.Hour), "bob")
	for certificate, says := range map[certtest.Pair]string{
		{}: "wants a client certificate, and the kubeconfig has none", other: "does not take your client certificate",
	} {
		config := p.caller(t).Config
		config.CertFile, config.KeyFile = certificate.Cert, certificate.Key
		config, err := forPoollet(config, Trust{CAFile: p.authority.File})
		if err != nil {
			t.Fatal(err)
		}
		_, err = direct("ns", "web", config, p.at).Open(t.Context(), exec.Session{Stdout: io.Discard})
		if fault.CodeOf(err) != fault.Unauthenticated || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", fault.CodeOf(err), err)
		}
	}
}

// However a console ends, its status is that of the far side, or the session is not a success.
func TestConsoleEndings(t *testing.T) {
	for _, webSockets := range []bool{true, false} {
		for _, e := range kubetest.Endings() {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				e.Serve(w, r, webSockets)
			}))
			t.Cleanup(server.Close)
			var group sync.WaitGroup
			for range 5 {
				group.Go(func() {
					console, err := Through(&kube.Client{Namespace: "ns", Config: &rest.Config{Host: server.URL}},
						"web",
						false)
					if err != nil {
						t.Error(err)
						return
					}
					status, err := console.Open(t.Context(), exec.Session{Stdout: io.Discard})
					if e.Sure && (status != 3 || err != nil) ||
						!e.Sure && (status != 0 || fault.CodeOf(err) != fault.Unavailable) {
						t.Errorf("%s (WebSockets: %t): %d, %v", e.Name, webSockets, status, err)
					}
				})
			}
			group.Wait()
		}
	}
}

// A poollet that goes away before the session is one is not reached, and no session is lost.
func TestPoolletThatGoesAway(t *testing.T) {
	p := newPoollet(t, func(w http.ResponseWriter, _ *http.Request) {
		if conn, _, err := http.NewResponseController(w).Hijack(); err == nil {
			_ = conn.Close()
		}
	})
	_, err := p.open(t, Trust{CAFile: p.authority.File}, exec.Session{Stdout: io.Discard})
	if fault.CodeOf(err) != fault.Unavailable || !strings.Contains(err.Error(), "cannot be reached") {
		t.Errorf("%s: %v", fault.CodeOf(err), err)
	}
}

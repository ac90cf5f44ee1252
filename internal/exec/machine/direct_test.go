package machine

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/streaming/pkg/httpstream"

	"github.com/berthdev/berth/internal/certtest"
	"github.com/berthdev/berth/internal/exec"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/kubetest"
)

// poollet is a server of consoles and how often it was asked.
type poollet struct {
	at        *url.URL
	authority *certtest.Authority
	tls       *tls.Config
	asked     atomic.Int32
}

func newPoollet(t *testing.T, answer http.HandlerFunc) *poollet {
	t.Helper()
	p := &poollet{authority: certtest.New(t)}
	pair := p.authority.Issue(time.Now().Add(time.Hour), "127.0.0.1")
	certificate, err := tls.LoadX509KeyPair(pair.Cert, pair.Key)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.asked.Add(1)
		answer(w, r)
	}))
	p.tls = &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{certificate}}
	server.TLS = &tls.Config{
		MinVersion:         tls.VersionTLS12,
		GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) { return p.tls, nil },
		Certificates:       p.tls.Certificates,
	}
	server.StartTLS()
	t.Cleanup(server.Close)
	if p.at, err = url.Parse(server.URL + PoolletPath("ns", "web")); err != nil {
		t.Fatal(err)
	}
	return p
}

// caller is a kubeconfig with a token and what is for its API server alone.
func (p *poollet) caller(t *testing.T) *kube.Client {
	t.Helper()
	theirs, err := os.ReadFile(p.authority.File)
	if err != nil {
		t.Fatal(err)
	}
	return &kube.Client{Namespace: "ns", Config: &rest.Config{
		Host: "https://api.example.com", BearerToken: "secret", Username: "me", Password: "password",
		TLSClientConfig: rest.TLSClientConfig{CAData: theirs, ServerName: "api.example.com"},
		Proxy: func(*http.Request) (*url.URL, error) {
			t.Error("the proxy of the API server is asked")
			return nil, nil //nolint:nilnil // no proxy
		},
	}}
}

// open opens the console of the machine web.
func (p *poollet) open(t *testing.T, trust Trust, s exec.Session) (int, error) {
	t.Helper()
	config, err := forPoollet(p.caller(t).Config, trust)
	if err != nil {
		return 0, err
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // of a far side that waits for more
	defer cancel()
	return direct("ns", "web", config, p.at).Open(ctx, s)
}

// A poollet gets the token and nothing else of the kubeconfig. What is typed and printed
// goes through, and the size is told twice.
func TestDirect(t *testing.T) {
	sizes := make(chan string, 10)
	p := newPoollet(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer secret" || r.URL.Path != PoolletPath("ns", "web") ||
			r.URL.RawQuery != "" {
			t.Errorf("asked for %s with %v", r.URL, r.Header)
		}
		r.URL.RawQuery = "stdin=true&stdout=true&tty=true"
		kubetest.Exec(w, r, func(streams map[string]httpstream.Stream) {
			typed := make([]byte, 5)
			_, _ = io.ReadFull(streams["stdin"], typed)
			told := make([]byte, len(`{"Width":81,"Height":25}`+"\n"+`{"Width":80,"Height":24}`+"\n"))
			_, _ = io.ReadFull(streams["resize"], told)
			sizes <- string(told)
			_, _ = io.WriteString(streams["stdout"], "got "+string(typed))
			_ = streams["stdout"].Close()
			_, _ = io.WriteString(streams["error"], `{"status":"Success"}`)
			_ = streams["error"].Close()
		})
	})
	var out bytes.Buffer
	status, err := p.open(t, Trust{CAFile: p.authority.File},
		exec.Session{Stdin: strings.NewReader("typed"), Stdout: &out, Sizes: &queue{of(80, 24)}})
	if status != 0 || err != nil || out.String() != "got typed" {
		t.Fatalf("%d, %v, %q", status, err, out.String())
	}
	if got := <-sizes; got != `{"Width":81,"Height":25}`+"\n"+`{"Width":80,"Height":24}`+"\n" {
		t.Errorf("the sizes are %s", got)
	}
}

// Through the API server, the path of the cluster's server stays in front.
func TestThrough(t *testing.T) {
	for _, c := range []struct {
		host     string
		insecure bool
		want     string
	}{
		{"https://api.example.com", false, "https://api.example.com" + Path("ns", "web")},
		{"https://api.example.com/clusters/one/", false, "https://api.example.com/clusters/one" + Path("ns", "web")},
		{"https://api.example.com", true, "https://api.example.com" + Path("ns", "web") +
			"?insecureSkipTLSVerifyBackend=true"},
	} {
		p := newPoollet(t, func(w http.ResponseWriter, r *http.Request) {
			http.Error(w, "machines is forbidden: asked for "+r.URL.String(), http.StatusForbidden)
		})
		console, err := Through(&kube.Client{Namespace: "ns", Config: &rest.Config{Host: c.host}}, "web", c.insecure)
		if err != nil || console.url.String() != c.want {
			t.Errorf("%v: got %s, want %s", err, console.url, c.want)
		}
		there := strings.Replace(c.host, "api.example.com", p.at.Host, 1)
		console, err = Through(&kube.Client{
			Namespace: "ns",
			Config:    &rest.Config{Host: there, TLSClientConfig: rest.TLSClientConfig{Insecure: true}},
		}, "web", c.insecure)
		if err != nil {
			t.Fatal(err)
		}
		_, err = console.Open(t.Context(), exec.Session{Stdout: io.Discard})
		if asked := strings.TrimPrefix(console.url.String(), "https://"+
			p.at.Host); fault.CodeOf(err) != fault.PermissionDenied ||
			!strings.Contains(err.Error(), "asked for "+asked) {
			t.Errorf("asked for %s: %v", asked, err)
		}
	}
}

// Each answer has its code, and the words that came along.
func TestAnswersOfAPoollet(t *testing.T) {
	for status, want := range map[int]struct {
		code fault.Code
		hint string
	}{
		http.StatusOK:                  {fault.Unavailable, "ask who runs"},
		http.StatusBadRequest:          {fault.Failed, "kubectl describe machine web"},
		http.StatusUnauthorized:        {fault.Unauthenticated, "log in again"},
		http.StatusForbidden:           {fault.PermissionDenied, "machine-pool-NAME-user"},
		http.StatusNotFound:            {fault.Unavailable, "enter the machine again"},
		http.StatusTooManyRequests:     {fault.Unavailable, "in 7 s"},
		http.StatusInternalServerError: {fault.Unavailable, "ask who runs"},
	} {
		t.Run(http.StatusText(status), func(t *testing.T) {
			p := newPoollet(t, func(w http.ResponseWriter, _ *http.Request) {
				if status == http.StatusTooManyRequests {
					w.Header().Set("Retry-After", "7")
				}
				http.Error(w, "these words", status)
			})
			_, err := p.open(t, Trust{CAFile: p.authority.File}, exec.Session{Stdout: io.Discard})
			if fault.CodeOf(err) != want.code || !strings.Contains(err.Error(), "these words") ||
				!strings.Contains(fault.From(err).Hint, want.hint) {
				t.Errorf("%s: %v\n%s", fault.CodeOf(err), err, fault.From(err).Hint)
			}
		})
	}
}

// What the far side says when it ends a session is told, with its words.
func TestEndedByThePoollet(t *testing.T) {
	p := newPoollet(t, func(w http.ResponseWriter, r *http.Request) {
		r.URL.RawQuery = "stdin=true&stdout=true&tty=true"
		kubetest.Exec(w, r, func(streams map[string]httpstream.Stream) {
			_, _ = io.WriteString(streams["error"],
				`{"status":"Failure","message":"these words","reason":"InternalError","code":500}`)
			_ = streams["error"].Close()
			_ = streams["stdout"].Close()
		})
	})
	_, err := p.open(t, Trust{CAFile: p.authority.File}, exec.Session{Stdout: io.Discard})
	want := "the session with the console of machine web has ended: these words"
	if fault.CodeOf(err) != fault.Unavailable || err.Error() != want {
		t.Errorf("%s: %v, want %s", fault.CodeOf(err), err, want)
	}
}

// A refusal is the same over WebSockets, where it comes as an error alone.
func TestOutcome(t *testing.T) {
	refused := &httpstream.UpgradeFailureError{Cause: &apierrors.StatusError{ErrStatus: metav1.Status{
		Code: http.StatusTooManyRequests, Message: "these words", Details: &metav1.StatusDetails{RetryAfterSeconds: 7},
	}}}
	for name, c := range map[string]struct {
		seen *answer
		err  error
		want outcome
	}{
		"over WebSockets": {seen: &answer{}, err: refused, want: outcome{
			code: http.StatusTooManyRequests, retryAfter: "7", said: "these words", status: true,
		}},
		"of a gateway": {seen: &answer{}, err: &apierrors.StatusError{ErrStatus: metav1.Status{
			Code: http.StatusForbidden, Message: "these words", Details: &metav1.StatusDetails{Group: kube.Group},
		}}, want: outcome{code: http.StatusForbidden, said: "these words", status: true, gateway: true}},
		"over SPDY": {
			seen: &answer{code: http.StatusTooManyRequests, retryAfter: "5"},
			err:  errors.New("unable to upgrade connection: these words"),
			want: outcome{code: http.StatusTooManyRequests, retryAfter: "5", said: "these words"},
		},
		"not answered": {seen: &answer{}, err: io.EOF, want: outcome{said: "EOF"}},
	} {
		if got := c.seen.outcome(c.err); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

// An answer without words, such as one of a server that forgets to refuse, is no session.
func TestEmptyAnswer(t *testing.T) {
	p := newPoollet(t, func(http.ResponseWriter, *http.Request) {})
	_, err := p.open(t, Trust{CAFile: p.authority.File}, exec.Session{Stdout: io.Discard})
	if fault.CodeOf(err) != fault.Unavailable || !strings.Contains(err.Error(), "empty server response") {
		t.Error(err)
	}
}

// Credentials stay where they were meant to go, whatever redirects.
func TestRedirect(t *testing.T) {
	other := newPoollet(t, func(_ http.ResponseWriter, r *http.Request) { t.Errorf("redirected, with %v", r.Header) })
	for _, to := range []string{other.at.String(), "/elsewhere", "plain"} {
		p := newPoollet(t, func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != PoolletPath("ns", "web") {
				t.Errorf("redirected to %s", r.URL)
			}
			at := to
			if to == "plain" {
				at = "http://" + r.Host + r.URL.Path
			}
			http.Redirect(w, r, at, http.StatusTemporaryRedirect)
		})
		_, err := p.open(t, Trust{Insecure: true}, exec.Session{Stdout: io.Discard})
		if fault.CodeOf(err) != fault.Unavailable || !strings.Contains(err.Error(), "redirects") {
			t.Error(err)
		}
	}
}

// A certificate is verified with the authority that was named and with no other, least
// of all with that of the API server; nothing is sent to a server that fails that.
func TestCertificateOfAPoollet(t *testing.T) {
	p := newPoollet(t, func(http.ResponseWriter, *http.Request) {})
	_, err := p.open(t, Trust{}, exec.Session{Stdout: io.Discard})
	if fault.CodeOf(err) != fault.InvalidArgument || !strings.Contains(fault.From(err).Hint, "--poollet-ca") {
		t.Error(err)
	}
	_, err = p.open(t, Trust{CAFile: certtest.New(t).File}, exec.Session{Stdout: io.Discard})
	if fault.CodeOf(err) != fault.Unavailable || !strings.Contains(err.Error(), "certificate of the poollet") {
		t.Error(err)
	}
	named := *p.at
	named.Host = "localhost:" + p.at.Port()
	p.at = &named
	_, err = p.open(t, Trust{CAFile: p.authority.File}, exec.Session{Stdout: io.Discard})
	if fault.CodeOf(err) != fault.Unavailable || !strings.Contains(fault.From(err).Hint, "other names") {
		t.Error(err)
	}
	if n := p.asked.Load(); n != 0 {
		t.Errorf("asked %d times", n)
	}
}

func TestCredentials(t *testing.T) {
	plugin := &api.ExecConfig{Command: "login"}
	for name, c := range map[string]struct {
		of   rest.Config
		code fault.Code
	}{
		"a token":           {rest.Config{BearerToken: "secret"}, ""},
		"a token in a file": {rest.Config{BearerTokenFile: "token"}, ""},
		"a client certificate": {rest.Config{TLSClientConfig: rest.TLSClientConfig{
			CertData: []byte("c"),
			KeyData:  []byte("k"),
		}}, ""},
		"a plugin":   {rest.Config{ExecProvider: plugin}, ""},
		"a password": {rest.Config{Username: "me", Password: "secret"}, fault.Unauthenticated},
		"nothing":    {rest.Config{}, fault.Unauthenticated},
		"another user": {rest.Config{
			BearerToken: "secret",
			Impersonate: rest.ImpersonationConfig{UserName: "boss"},
		}, fault.InvalidArgument},
	} {
		got, err := credentials(&c.of)
		if fault.CodeOf(err) != c.code {
			t.Errorf("%s: %v", name, err)
		}
		if err == nil && (got.BearerToken != c.of.BearerToken || got.BearerTokenFile != c.of.BearerTokenFile ||
			got.ExecProvider != c.of.ExecProvider || !bytes.Equal(got.KeyData, c.of.KeyData)) {
			t.Errorf("%s is lost", name)
		}
	}
}

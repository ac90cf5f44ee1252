package server

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	authentication "k8s.io/client-go/kubernetes/typed/authentication/v1"
	authorization "k8s.io/client-go/kubernetes/typed/authorization/v1"
	"k8s.io/client-go/rest"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/serve"
)

// A token is the name of its user; the readers may get what the ClusterRole says.
type reviews struct {
	authentication.TokenReviewInterface
}

func (r reviews) TokenReviews() authentication.TokenReviewInterface { return r }

func (reviews) Create(_ context.Context, r *authenticationv1.TokenReview,
	_ metav1.CreateOptions,
) (*authenticationv1.TokenReview, error) {
	r.Status.Authenticated = r.Spec.Token != "bad"
	r.Status.User.Username = r.Spec.Token
	return r, nil
}

type accesses struct {
	authorization.SubjectAccessReviewInterface
}

func (a accesses) SubjectAccessReviews() authorization.SubjectAccessReviewInterface { return a }

func (accesses) Create(_ context.Context, r *authorizationv1.SubjectAccessReview,
	_ metav1.CreateOptions,
) (*authorizationv1.SubjectAccessReview, error) {
	path := r.Spec.NonResourceAttributes
	r.Status.Allowed = r.Spec.User == "reader" && path.Verb == "get" &&
		strings.HasPrefix(path.Path, strings.TrimSuffix(Paths, "*"))
	return r, nil
}

// bundles has the content of some.
type bundles struct {
	content map[string]string
	open    atomic.Int64
	opened  atomic.Int64 // in all
}

type archive struct {
	*strings.Reader
	of *bundles
}

func (a archive) Close() error {
	a.of.open.Add(-1)
	return nil
}

func (b *bundles) Open(_ context.Context, bundle, known string) (io.ReadSeekCloser, string, time.Time, error) {
	if bundle == "broken" {
		return nil, "", time.Time{}, errors.New("/var/cache/secret-place: input/output error")
	}
	if bundle == "busy" {
		return nil, "", time.Time{}, fault.New(fault.Unavailable, "the registry cannot be reached")
	}
	content, ok := b.content[bundle]
	if !ok {
		return nil, "", time.Time{}, fmt.Errorf("bundle %s: %w", bundle, fs.ErrNotExist)
	}
	digest := "sha256:" + fmt.Sprintf("%x", sha256.Sum256([]byte(content)))
	if digest == known {
		return nil, digest, time.Unix(1e9, 0), nil
	}
	b.opened.Add(1)
	b.open.Add(1)
	return archive{strings.NewReader(content), b}, digest, time.Unix(1e9, 0), nil
}

func newHandler(store Store) (http.Handler, *bytes.Buffer) {
	var log bytes.Buffer
	limits := serve.Limits{Open: 9, OpenPerCaller: 9, Rate: 1000, Burst: 1000, Reviews: 1000}
	return Handler(store, &serve.Guard{
		Authenticator: serve.NewAuthenticator(reviews{}, limits, time.Now),
		Authorizer:    serve.NewAuthorizer(accesses{}, time.Now),
		Limits:        serve.NewLimiter(limits, time.Now),
		Log:           serve.NewLog(&log, false, slog.LevelInfo), Now: time.Now,
	}), &log
}

func TestContent(t *testing.T) {
	store := &bundles{content: map[string]string{"web-1a2b": "0123456789", "empty": ""}}
	tag := `"sha256:84d89877f0d4041efb6bf91a16f0248f2fd573e6af05c19f96bedb9f882f7882"`
	for name, c := range map[string]struct {
		method, path, token string
		header              [2]string
		want                int
		body                string
	}{
		"the content":            {path: "/bundles/web-1a2b.tgz", want: 200, body: "0123456789"},
		"only about it":          {method: "HEAD", path: "/bundles/web-1a2b.tgz", want: 200},
		"content without a byte": {path: "/bundles/empty.tgz", want: 200},
		"a part": {
			path: "/bundles/web-1a2b.tgz", header: [2]string{"Range", "bytes=2-4"},
			want: 206, body: "234",
		},
		"the end": {
			path: "/bundles/web-1a2b.tgz", header: [2]string{"Range", "bytes=-3"},
			want: 206, body: "789",
		},
		"a part beyond the end": {
			path: "/bundles/web-1a2b.tgz", header: [2]string{"Range", "bytes=20-"},
			want: 416, body: "*",
		},
		"a part of what it was": {
			path: "/bundles/web-1a2b.tgz", header: [2]string{"If-Range", `"sha256:0"`},
			want: 200, body: "0123456789",
		},
		"what is known already": {
			path: "/bundles/web-1a2b.tgz", header: [2]string{"If-None-Match", tag},
			want: 304,
		},
		"among others, what is known": {
			path:   "/bundles/web-1a2b.tgz",
			header: [2]string{"If-None-Match", `"sha256:0", ` + tag}, want: 304,
		},
		"anything": {
			path: "/bundles/web-1a2b.tgz", header: [2]string{"If-None-Match", "*"},
			want: 304,
		},
		"what is known otherwise": {
			path:   "/bundles/web-1a2b.tgz",
			header: [2]string{"If-None-Match", `"sha256:0"`}, want: 200, body: "0123456789",
		},
		"only what it is not": {
			path: "/bundles/web-1a2b.tgz", header: [2]string{"If-Match", `"sha256:0"`},
			want: 412,
		},
		"no token":                         {path: "/bundles/web-1a2b.tgz", token: "none", want: 401, body: "*"},
		"a bad token":                      {path: "/bundles/web-1a2b.tgz", token: "bad", want: 401, body: "*"},
		"a user who may not read":          {path: "/bundles/web-1a2b.tgz", token: "mallory", want: 403, body: "*"},
		"a user who asks what exists":      {path: "/bundles/unknown.tgz", token: "mallory", want: 403, body: "*"},
		"one that is unknown":              {path: "/bundles/unknown.tgz", want: 404, body: "*"},
		"the directory":                    {path: "/bundles/", want: 404, body: "*"},
		"the directory without a slash":    {path: "/bundles", want: 403, body: "*"},
		"something else":                   {path: "/healthz", want: 403, body: "*"},
		"another extension":                {path: "/bundles/web-1a2b.zip", want: 404, body: "*"},
		"a directory of that name":         {path: "/bundles/web-1a2b.tgz/", want: 404, body: "*"},
		"out of the directory":             {path: "/bundles/../../etc/passwd.tgz", want: 404, body: "*"},
		"out of it, disguised":             {path: "/bundles/%2e%2e%2f%2e%2e%2fetc%2fpasswd.tgz", want: 404, body: "*"},
		"out of it, disguised differently": {path: "/bundles/..%5c..%5cx.tgz", want: 404, body: "*"},
		"a name with a NUL byte":           {path: "/bundles/web%00.tgz", want: 404, body: "*"},
		"a name in capitals":               {path: "/bundles/WEB-1a2b.tgz", want: 404, body: "*"},
		"no name":                          {path: "/bundles/.tgz", want: 404, body: "*"},
		"one that cannot be read":          {path: "/bundles/broken.tgz", want: 500, body: "*"},
		"one that cannot be read now":      {path: "/bundles/busy.tgz", want: 503, body: "*"},
		"a write":                          {method: "PUT", path: "/bundles/web-1a2b.tgz", want: 405, body: "*"},
	} {
		t.Run(name, func(t *testing.T) {
			handler, log := newHandler(store)
			if c.method == "" {
				c.method = http.MethodGet
			}
			r := httptest.NewRequest(c.method, c.path, http.NoBody)
			switch c.token {
			case "none":
			case "":
				r.Header.Set("Authorization", "Bearer reader")
			default:
				r.Header.Set("Authorization", "Bearer "+c.token)
			}
			if c.header[0] != "" {
				r.Header.Set(c.header[0], c.header[1])
			}
			opened := store.opened.Load()
			w := httptest.NewRecorder()
			handler.ServeHTTP(w, r)
			if w.Code != c.want || c.body != "*" && w.Body.String() != c.body {
				t.Errorf("the answer is %d %q, want %d %q", w.Code, w.Body, c.want, c.body)
			}
			if c.want == 200 && !strings.HasPrefix(w.Header().Get("ETag"), `"sha256:`) {
				t.Errorf("the ETag is %q", w.Header().Get("ETag"))
			}
			if c.want == 200 && c.path == "/bundles/web-1a2b.tgz" &&
				(w.Header().Get("ETag") != tag || w.Header().Get("Content-Length") != "10") {
				t.Errorf("the headers are %v", w.Header())
			}
			if strings.Contains(w.Body.String(), "secret-place") {
				t.Errorf("the answer has more than it should: %s", w.Body)
			}
			if c.header == [2]string{"If-None-Match", tag} &&
				(store.opened.Load() != opened || w.Header().Get("ETag") != tag) {
				t.Errorf("the archive was opened to send nothing of it, or the headers are %v", w.Header())
			}
			if audited := strings.Contains(log.String(), `"msg":"audit"`); audited != (c.want != 401) {
				t.Errorf("the log is %s", log)
			}
			if n := store.open.Load(); n != 0 {
				t.Errorf("%d archives are left open", n)
			}
		})
	}
}

// serveTLS serves bundles on this host, and gives the file of the CA.
func serveTLS(t *testing.T, handler http.Handler) (base, ca string) {
	t.Helper()
	server := httptest.NewTLSServer(handler)
	server.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	t.Cleanup(server.Close)
	ca = filepath.Join(t.TempDir(), "ca.crt")
	if err := os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}),
		0o600); err != nil {
		t.Fatal(err)
	}
	return server.URL, ca
}

func TestFetch(t *testing.T) {
	handler, _ := newHandler(&bundles{content: map[string]string{"web": "0123456789"}})
	base, ca := serveTLS(t, handler)
	host, junk := strings.TrimPrefix(base, "https://"), filepath.Join(t.TempDir(), "junk")
	if err := os.WriteFile(junk, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte("reader\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		config rest.Config
		ca     string
		url    string
		limit  int64
		want   string
		code   fault.Code
	}{
		"a token":             {rest.Config{BearerToken: "reader"}, ca, URL(base+"/", "web"), 10, "0123456789", ""},
		"a token in a file":   {rest.Config{BearerTokenFile: file}, ca, URL(base, "web"), 10, "0123456789", ""},
		"more than the limit": {rest.Config{BearerToken: "reader"}, ca, URL(base, "web"), 9, "", "body"},
		"no token":            {rest.Config{}, ca, URL(base, "web"), 10, "", fault.Unauthenticated},
		"a password": {
			rest.Config{Username: "reader", Password: "x"},
			ca, URL(base, "web"), 10, "",
			fault.Unauthenticated,
		},
		"a bad token": {rest.Config{BearerToken: "bad"}, ca, URL(base, "web"), 10, "", fault.Unauthenticated},
		"no reader": {
			rest.Config{BearerToken: "mallory"},
			ca, URL(base, "web"), 10, "",
			fault.PermissionDenied,
		},
		"as somebody else": {rest.Config{
			BearerToken: "reader",
			Impersonate: rest.ImpersonationConfig{UserName: "x"},
		}, ca, URL(base, "web"), 10, "", fault.InvalidArgument},
		"an unknown bundle": {
			rest.Config{BearerToken: "reader"},
			ca, URL(base, "other"), 10, "",
			fault.NotFound,
		},
		"one that cannot be read": {
			rest.Config{BearerToken: "reader"},
			ca, URL(base, "busy"), 10, "",
			fault.Unavailable,
		},
		"a server that is not known": {
			rest.Config{BearerToken: "reader"},
			"", URL(base, "web"), 10, "",
			fault.Unavailable,
		},
		"the API server's CA": {rest.Config{
			BearerToken:     "reader",
			TLSClientConfig: rest.TLSClientConfig{CAFile: ca},
		}, "", URL(base, "web"), 10, "", fault.Unavailable},
		"a CA that cannot be read": {
			rest.Config{BearerToken: "reader"},
			junk, URL(base, "web"), 10, "",
			fault.InvalidArgument,
		},
		"plain HTTP": {rest.Config{BearerToken: "reader"}, ca, "http" +
			strings.TrimPrefix(URL(base, "web"), "https"), 10, "", fault.InvalidArgument},
		"a login in the URL": {rest.Config{BearerToken: "reader"}, ca, "https://a:b@" +
			strings.TrimPrefix(URL(base, "web"), "https://"), 10, "", fault.InvalidArgument},
		"a host that is not trusted": {
			rest.Config{BearerToken: "reader"},
			ca, "https://localhost:1/bundles/web.tgz", 10,
			"", fault.PermissionDenied,
		},
		"a Service, from outside": {
			rest.Config{BearerToken: "reader"},
			ca, "https://a.b.svc/bundles/web.tgz", 10, "",
			fault.Unavailable,
		},
		"no server": {
			rest.Config{BearerToken: "reader"},
			ca, "https://127.0.0.1:1/bundles/web.tgz", 10,
			"", fault.Unavailable,
		},
	} {
		t.Run(name, func(t *testing.T) {
			c.config.Host = "https://api.example.com"
			body, err := Client{
				Config: &c.config,
				Trust:  Trust{Hosts: []string{host, "127.0.0.1:1"}, CAFile: c.ca},
			}.Fetch(t.Context(), c.url, c.limit)
			if err != nil {
				if fault.CodeOf(err) != c.code || fault.From(err).Hint == "" ||
					strings.Contains(err.Error(), "reader") {
					t.Errorf("the error is %s %v, want %s with a hint", fault.CodeOf(err), err, c.code)
				}
				return
			}
			defer body.Close()
			content, err := io.ReadAll(body)
			if (c.code != "") != (err != nil) || err == nil && string(content) != c.want {
				t.Errorf("the content is %q, %v", content, err)
			}
		})
	}
}

// The token goes to the host that the URL names, and to no other.
func TestRedirectGetsNoToken(t *testing.T) {
	var asked atomic.Int64
	elsewhere, _ := serveTLS(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	base, ca := serveTLS(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, elsewhere, http.StatusFound)
	}))
	_, err := Client{
		Config: &rest.Config{BearerToken: "reader"},
		Trust: Trust{
			Hosts:  []string{strings.TrimPrefix(base, "https://"), strings.TrimPrefix(elsewhere, "https://")},
			CAFile: ca,
		},
	}.Fetch(t.Context(), URL(base, "web"), 10)
	if fault.CodeOf(err) != fault.Unavailable || asked.Load() != 0 {
		t.Errorf("the error is %v; the other host was asked %d times", err, asked.Load())
	}
}

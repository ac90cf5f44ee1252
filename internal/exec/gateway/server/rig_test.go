package server

import (
	"context"
	"encoding/json"
	"encoding/pem"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	authentication "k8s.io/client-go/kubernetes/typed/authentication/v1"
	authorization "k8s.io/client-go/kubernetes/typed/authorization/v1"
	"k8s.io/client-go/rest"

	"github.com/berthdev/berth/internal/credential"
	"github.com/berthdev/berth/internal/exec"
	"github.com/berthdev/berth/internal/exec/gateway"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/serve"
)

// rig is a gateway, with an API server that only answers reviews: a token is the name of its
// user, but for "bad", and the users in denied may do nothing.
type rig struct {
	*testing.T
	*Server
	public *httptest.Server
	base   *url.URL
	log    *lines
	stop   func()       // ends the gateway
	ended  <-chan error // of Work

	mu     sync.Mutex
	denied map[string]bool
	gone   atomic.Bool // whether clients do not answer any more
}

type lines struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func (r *rig) deny(user string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.denied[user] = true
}

func (r *rig) reviews(w http.ResponseWriter, request *http.Request) {
	review := map[string]any{}
	_ = json.NewDecoder(request.Body).Decode(&review)
	spec, _ := review["spec"].(map[string]any)
	token, _ := spec["token"].(string)
	user, _ := spec["user"].(string)
	r.mu.Lock()
	defer r.mu.Unlock()
	review["status"] = map[string]any{
		"allowed": !r.denied[user], "authenticated": token != "bad",
		"user": map[string]any{"username": token},
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusCreated)
	_ = json.NewEncoder(w).Encode(review)
}

// start makes a rig, whose workspaces are the backend's.
func start(t *testing.T, backend Backend, change func(*Server, *serve.Limits)) *rig {
	t.Helper()
	r := &rig{T: t, log: &lines{}, denied: map[string]bool{"mallory": true}}
	api := httptest.NewServer(http.HandlerFunc(r.reviews))
	t.Cleanup(api.Close)
	config := &rest.Config{Host: api.URL, ContentConfig: rest.ContentConfig{ContentType: "application/json"}}
	users, err := authentication.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	permissions, err := authorization.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.NewJSONHandler(r.log, nil))
	limits := serve.Limits{Open: 100, OpenPerCaller: 60, Rate: 1000, Burst: 1000, Reviews: 1000}
	r.Server = &Server{
		Metrics: serve.NewMetrics(), Log: log, Now: time.Now, Backends: map[Kind]Backend{Workspace: backend},
		MaxSessions: 100,
		Silent:      func(net.Conn) bool { return r.gone.Load() },
		Timeouts: Timeouts{
			Idle: time.Hour, Creation: time.Second, Recheck: 20 * time.Millisecond,
			Stop: 50 * time.Millisecond,
		},
	}
	if change != nil {
		change(r.Server, &limits)
	}
	r.Guard = &serve.Guard{
		Authenticator: serve.NewAuthenticator(users, limits, time.Now),
		Authorizer:    serve.NewAuthorizer(permissions, time.Now).For(50 * time.Millisecond),
		Limits:        serve.NewLimiter(limits, time.Now), Log: log, Now: time.Now,
	}
	ctx, stop := context.WithCancel(t.Context())
	streams, err := serve.ListenLoopback(ctx, "127.0.0.1:0", "--stream-listen")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- r.Work(ctx, streams) }()
	r.base = &url.URL{Scheme: "http", Host: streams.Addr().String()}
	r.public = httptest.NewUnstartedServer(r.Handler(r.base))
	r.public.StartTLS()
	r.stop, r.ended = stop, ended
	t.Cleanup(func() {
		stop()
		r.public.Close()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return r
}

// runner is that of a client with a token.
func (r *rig) runner(token string) exec.Runner {
	r.Helper()
	ca, credential := r.credentials(token)
	g := gateway.Gateway{Name: "here", URL: r.public.URL, CAFile: ca, Token: credential}
	return g.Runner(gateway.Destination{Namespace: "dev", Workspace: "alice"})
}

// credentials are the file of the gateway's CA, and a token.
func (r *rig) credentials(token string) (ca string, credentials *credential.Source) {
	r.Helper()
	ca = filepath.Join(r.TempDir(), "ca.crt")
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: r.public.Certificate().Raw})
	file := filepath.Join(filepath.Dir(ca), "token")
	for path, content := range map[string][]byte{ca: text, file: []byte(token)} {
		if err := os.WriteFile(path, content, 0o600); err != nil {
			r.Fatal(err)
		}
	}
	return ca, &credential.Source{File: file}
}

// echo is a workspace whose commands print themselves and what they read, and end with 3; the
// command "wait" runs until it is ended.
func echo(_ context.Context, o Object, _ Options) (exec.Runner, error) {
	switch o.Name {
	case "nobody":
		return nil, fault.New(fault.NotFound, "workspace nobody not found in namespace dev")
	case "starting":
		return nil, fault.New(fault.Failed, "workspace starting cannot be entered")
	}
	return func(ctx context.Context, command []string, s exec.Session) (int, error) {
		if len(command) == 1 && command[0] == "wait" {
			_, _ = io.WriteString(s.Stdout, "begun")
			<-ctx.Done()
			return 0, context.Cause(ctx)
		}
		_, _ = io.WriteString(s.Stdout, strings.Join(command, " ")+"\n")
		if s.Sizes != nil {
			size := s.Sizes.Next()
			_ = json.NewEncoder(s.Stdout).Encode(size)
		}
		if s.Stdin != nil && !s.TTY {
			_, _ = io.Copy(s.Stdout, s.Stdin)
		}
		if s.Stderr != nil {
			_, _ = io.WriteString(s.Stderr, "so it ends")
		}
		return 3, nil
	}, nil
}

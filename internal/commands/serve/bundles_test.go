package serve_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"

	"github.com/berthdev/berth/api/bundle/v1alpha1"
	"github.com/berthdev/berth/internal/apply/live"
	"github.com/berthdev/berth/internal/bundle/observe"
	"github.com/berthdev/berth/internal/bundle/server"
	"github.com/berthdev/berth/internal/certtest"
	"github.com/berthdev/berth/internal/commands/cmdtest"
	"github.com/berthdev/berth/internal/commands/cmdutil"
	"github.com/berthdev/berth/internal/commands/serve"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/kubetest"
	leaders "github.com/berthdev/berth/internal/serve"
	"github.com/berthdev/berth/internal/terminal"
	"github.com/berthdev/berth/internal/waittest"
)

func TestBundlesOptions(t *testing.T) {
	newCmd := func(f *cmdutil.Factory, runF func(context.Context, *serve.BundlesOptions) error) *cobraCommand {
		return serve.NewBundles(f, nil, runF)
	}
	forget := func(o *serve.BundlesOptions) { o.IO, o.Client, o.Backend = terminal.Streams{}, nil, nil }
	defaults := func(change func(*serve.BundlesOptions)) serve.BundlesOptions {
		o := serve.BundlesOptions{
			Serving:   serve.Serving{Listen: "127.0.0.1:8443", About: serve.About{MetricsListen: "127.0.0.1:8081"}},
			Namespace: "berth-system",
			Period:    10 * time.Minute, Timeout: 30 * time.Minute, Workers: 4, RenderTimeout: 20 * time.Second,
			FetchTimeout: 2 * time.Minute,
		}
		change(&o)
		return o
	}
	cmdtest.Options(t, newCmd, forget, map[string]cmdtest.Case[serve.BundlesOptions]{
		"the defaults": {Want: defaults(func(*serve.BundlesOptions) {})},
		"as in a pod": {
			Args: "--listen :1 --metrics-listen :2 --tls-cert c --tls-key k --base-url https://x:8443 " +
				"--system-namespace s --period 1m --workers 2 --content-host a,b:1 --installer s/i --allow-system",
			Want: defaults(func(o *serve.BundlesOptions) {
				o.Listen, o.MetricsListen, o.Cert, o.Key, o.BaseURL, o.Namespace = ":1", ":2", "c", "k",
					"https://x:8443", "s"
				o.Period, o.Workers, o.Trust.Hosts = time.Minute, 2, []string{"a", "b:1"}
				o.Installer, o.AllowSystem = &v1alpha1.ServiceAccount{Namespace: "s", Name: "i"}, true
			}),
		},
		"an installer without a namespace": {Args: "--installer i", Err: `a ServiceAccount is NAMESPACE/NAME, got "i"`},
		"half a certificate":               {Args: "--tls-cert c", Err: "--tls-cert and --tls-key are given together"},
		"no period":                        {Args: "--period 0s", Err: "--period must be positive, got 0s"},
		"no time":                          {Args: "--timeout -1s", Err: "--timeout must be positive, got -1s"},
		"no time to fetch": {
			Args: "--fetch-timeout 0s",
			Err:  "--fetch-timeout must be positive, got 0s",
		},
		"no workers":   {Args: "--workers 0", Err: "--workers must be at least 1, got 0"},
		"no namespace": {Args: "--system-namespace=", Err: "--system-namespace must not be empty"},
		"a base without TLS": {
			Args: "--base-url http://x",
			Err:  `--base-url must be https://HOST[:PORT], got "http://x"`,
		},
		"a base with a login": {Args: "--base-url https://a:b@x", Err: "--base-url must be"},
		"a base with a path":  {Args: "--base-url https://x/y", Err: "--base-url must be"},
		"a host with a path": {
			Args: "--content-host x/y",
			Err:  `--content-host must be HOST or HOST:PORT, got "x/y"`,
		},
		"an argument": {Args: "x", Err: `unexpected argument "x"`},
	})
}

// backend notes what it is told to do.
type backend struct {
	mu     sync.Mutex
	worked map[string]int
	set    observe.Set // what instances have watched
}

func (b *backend) note(what string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.worked[what]++
	return nil
}

func (b *backend) times(what string) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.worked[what]
}

func (b *backend) Bundle(_ context.Context, name string) error { return b.note("bundle " + name) }

func (b *backend) Instance(_ context.Context, name string) (observe.Set, error) {
	return b.set, b.note("instance " + name)
}

type closed struct{ *strings.Reader }

func (closed) Close() error { return nil }

func (b *backend) Open(_ context.Context, bundle, _ string) (io.ReadSeekCloser, string, time.Time, error) {
	if bundle != "web-1" {
		return nil, "", time.Time{}, fs.ErrNotExist
	}
	return closed{strings.NewReader("content")}, "sha256:1", time.Unix(1e9, 0), nil
}

// configMapsOf has the ConfigMaps of a namespace watched.
func configMapsOf(client *kube.Client) observe.Set {
	resource, _ := kube.ResourceOf(corev1.SchemeGroupVersion.WithKind("ConfigMap"))
	return observe.Set{
		Scopes: []live.Scope{{Resource: resource, Namespace: "team"}},
		Client: func() (metadata.Interface, error) {
			return metadata.NewForConfigAndClient(client.Config, client.HTTP)
		},
	}
}

// reviews answers what a token is and what its user may do: alice may read content.
func reviews(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		of := r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:]
		if of != "tokenreviews" && of != "subjectaccessreviews" {
			next.ServeHTTP(w, r)
			return
		}
		var review struct {
			Kind       string         `json:"kind"`
			APIVersion string         `json:"apiVersion"`
			Spec       map[string]any `json:"spec"`
			Status     map[string]any `json:"status"`
		}
		_ = json.NewDecoder(r.Body).Decode(&review)
		token, _ := review.Spec["token"].(string)
		review.Status = map[string]any{"allowed": review.Spec["user"] == "alice"}
		if of == "tokenreviews" {
			review.Status = map[string]any{"authenticated": token != "bad", "user": map[string]any{"username": token}}
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusCreated)
		_ = json.NewEncoder(w).Encode(review)
	})
}

func object(kind, class, owner string) *kubetest.Object {
	o := &kubetest.Object{Object: map[string]any{
		"apiVersion": v1alpha1.GroupVersion().String(), "kind": kind,
		"metadata": map[string]any{"generation": int64(1)}, "spec": map[string]any{"provisionerClassName": class},
	}}
	if owner != "" {
		o.SetLabels(map[string]string{v1alpha1.LabelOwnerKind: v1alpha1.KindInstance, v1alpha1.LabelOwnerName: owner})
	}
	return o
}

const at = "/apis/core.rukpak.io/v1alpha1/"

// The whole role: objects of our classes are worked on by the leader, content is served to those who may read it, and
// all ends when it is told to.
func TestBundles(t *testing.T) {
	api := kubetest.Start(t, reviews)
	cmdtest.Offline(t)
	cmdtest.Cluster(t, api.URL)
	api.Put(at+"bundleinstances/web", object(v1alpha1.KindInstance, v1alpha1.ClassPlain, ""))
	api.Put(at+"bundleinstances/foreign", object(v1alpha1.KindInstance, "core-rukpak-io-plain", ""))
	authority := certtest.New(t)
	pair := authority.Issue(time.Now().Add(time.Hour), "127.0.0.1")
	streams, out := terminal.Test("", time.Now())
	f := cmdutil.NewFactory(streams, func(string) string { return "" })
	client, err := f.Client()
	if err != nil {
		t.Fatal(err)
	}
	work := &backend{worked: map[string]int{}, set: configMapsOf(client)}
	var made serve.BackendOptions
	listen, about := freePort(t), freePort(t)
	o := &serve.BundlesOptions{
		IO: streams, Client: f.Client, Namespace: "team", BaseURL: "https://" + listen,
		Serving: serve.Serving{Listen: listen, About: serve.About{
			MetricsListen: about, Cert: pair.Cert,
			Key: pair.Key,
		}},
		Period: time.Hour, Timeout: time.Minute, Workers: 2,
		Backend: func(_ context.Context, o serve.BackendOptions) (serve.Backend, error) {
			made = o
			return work, nil
		},
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- serve.Bundles(ctx, o) }()

	waittest.Until(t, "the instance that was there", func() bool { return work.times("instance web") > 0 })
	if made.Namespace != "team" || made.BaseURL != o.BaseURL || made.Client != client {
		t.Errorf("the backend is made of %+v", made)
	}
	leader, err := leaders.Leader(t.Context(), client.CoordinationV1(), "team", leaders.LeaseName(v1alpha1.ClassPlain),
		time.Now)
	if err != nil || leader == "" {
		t.Errorf("a terminal sees %q lead, %v", leader, err)
	}
	before := work.times("instance web")
	api.Put(at+"bundles/web-1", object(v1alpha1.KindBundle, v1alpha1.ClassHelm, "web"))
	waittest.Until(t, "a bundle that is new", func() bool { return work.times("bundle web-1") > 0 })
	waittest.Until(t, "the instance of another class that has a new bundle",
		func() bool { return work.times("instance web") > before })
	api.Put(at+"bundles/other-1", object(v1alpha1.KindBundle, "core-rukpak-io-plain", "foreign"))
	api.Put(at+"bundles/last", object(v1alpha1.KindBundle, v1alpha1.ClassPlain, ""))
	waittest.Until(t, "the last bundle", func() bool { return work.times("bundle last") > 0 })
	if n := work.times("instance foreign") + work.times("bundle other-1"); n != 0 {
		t.Errorf("objects of another class were worked on %d times", n)
	}

	const installed = "/api/v1/namespaces/team/configmaps/installed"
	for _, become := range []string{"installed", "edited"} {
		before := work.times("instance web")
		configMap := object("ConfigMap", "", "web")
		configMap.SetAPIVersion("v1")
		configMap.SetAnnotations(map[string]string{become: ""})
		api.Put(installed, configMap)
		if become == "edited" {
			waittest.Until(t, "the instance of what was edited",
				func() bool { return work.times("instance web") > before })
		}
	}

	fetch := func(token, bundle string) (string, error) {
		c := server.Client{
			Config: &rest.Config{Host: api.URL, BearerToken: token},
			Trust:  server.Trust{Hosts: []string{listen}, CAFile: authority.File},
		}
		body, err := c.Fetch(t.Context(), server.URL(o.BaseURL, bundle), 100)
		if err != nil {
			return "", err
		}
		defer body.Close()
		content, err := io.ReadAll(body)
		return string(content), err
	}
	if content, err := fetch("alice", "web-1"); content != "content" || err != nil {
		t.Errorf("alice is given %q, %v", content, err)
	}
	for token, want := range map[string]fault.Code{"bob": fault.PermissionDenied, "bad": fault.Unauthenticated} {
		if _, err := fetch(token, "web-1"); fault.CodeOf(err) != want {
			t.Errorf("%s: %v, want %s", token, err, want)
		}
	}
	if _, err := fetch("alice", "web-2"); fault.CodeOf(err) != fault.NotFound {
		t.Errorf("a bundle that is unknown: %v", err)
	}

	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	lease, err := client.CoordinationV1().Leases("team").
		Get(t.Context(), leaders.LeaseName(v1alpha1.ClassPlain), metav1.GetOptions{})
	if err != nil || lease.Spec.HolderIdentity != nil && *lease.Spec.HolderIdentity != "" {
		t.Errorf("the lease was not given back: %v, %v", lease.Spec, err)
	}
	for _, want := range []string{
		`"msg":"audit","user":"alice","access":"get /bundles/web-1.tgz"`,
		`"msg":"leadership"`,
	} {
		if !strings.Contains(out.Err.String(), want) {
			t.Errorf("the log has no %s:\n%s", want, out.Err.String())
		}
	}
	if strings.Contains(out.Err.String(), "bad") {
		t.Error("the log has a token")
	}
}

// A server that cannot listen says so and ends.
func TestBundlesCannotListen(t *testing.T) {
	api := kubetest.Start(t, reviews)
	cmdtest.Offline(t)
	cmdtest.Cluster(t, api.URL)
	streams, _ := terminal.Test("", time.Now())
	f := cmdutil.NewFactory(streams, func(string) string { return "" })
	err := serve.Bundles(t.Context(), &serve.BundlesOptions{
		IO: streams, Client: f.Client, Namespace: "team",
		Serving: serve.Serving{Listen: "0.0.0.0:0", About: serve.About{MetricsListen: "127.0.0.1:0"}},
		Period:  time.Hour,
		Timeout: time.Hour, Workers: 1,
		Backend: func(context.Context, serve.BackendOptions) (serve.Backend, error) {
			return &backend{worked: map[string]int{}}, nil
		},
	})
	if fault.CodeOf(err) != fault.InvalidArgument || fault.From(err).Hint == "" {
		t.Errorf("the error is %v", fmt.Sprint(err))
	}
}

package provision

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/berthdev/berth/internal/apply"
	"github.com/berthdev/berth/internal/blueprint"
	"github.com/berthdev/berth/internal/blueprint/catalog"
	"github.com/berthdev/berth/internal/event"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/identity"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/lifecycle"
	"github.com/berthdev/berth/internal/provision/inventory"
	"github.com/berthdev/berth/internal/userstring"
	"github.com/berthdev/berth/internal/watch/cause"
)

// brings returns the same blueprint for every user.
type brings struct {
	text  string
	err   error
	asked *int
}

func (b brings) Custom(context.Context, userstring.UserString) (*blueprint.Source, error) {
	*b.asked++
	if b.text == "" {
		return nil, b.err
	}
	return &blueprint.Source{Name: "somewhere/.k8shell.yaml", Text: []byte(b.text)}, b.err
}

const mine = "template: default\nenv: {A: !cel metadata.name}\n"

func TestWhichBlueprintIsMeant(t *testing.T) {
	away := fault.New(fault.Unavailable, "no answer")
	for name, tc := range map[string]struct {
		user, own string
		err       error
		asked     int
		lineage   string
		notice    string
		code      fault.Code
	}{
		"the default, not asked": {"alice", mine, nil, 0, "default base", "", ""},
		"a platform blueprint":   {"alice~default", "", nil, 1, "default base", "", ""},
		"of the platform wins": {
			"alice~default", mine, nil, 1, "default base",
			"the platform's blueprint default is used, not your own", "",
		},
		"of the platform, outage": {"alice~default", "", away, 1, "default base", "", ""},
		"one's own":               {"alice~tools", mine, nil, 1, "tools default base", "", ""},
		"unknown":                 {"alice~nope", "", nil, 1, "", "", fault.NotFound},
		"unknown in an outage":    {"alice~tools", "", away, 1, "", "", fault.Unavailable},
		"a repository's":          {"alice~repo=org/proj", mine, nil, 1, "repo-org-proj default base", "", ""},
		"a repository's without": {
			"alice~repo=org/proj+ref=Main", "", nil, 1, "repo-org-proj default base",
			"org/proj has no .k8shell.yaml at Main: blueprint default is used", "",
		},
		"a repository that is away": {"alice~repo=org/proj", "", away, 1, "", "", fault.Unavailable},
		"a repository's that is broken": {
			"alice~repo=org/proj", "template: default\npodman: {}\n", nil, 1, "", "",
			fault.InvalidArgument,
		},
	} {
		t.Run(name, func(t *testing.T) {
			asked := 0
			p := &Provisioner{Environment: Environment{
				Repositories:     brings{text: tc.own, err: tc.err, asked: &asked},
				Blueprints:       func(context.Context) (*catalog.Set, error) { return catalog.Load("") },
				DefaultBlueprint: "default",
			}}
			u, err := userstring.Parse(tc.user)
			if err != nil {
				t.Fatal(err)
			}
			got, err := p.Compose(t.Context(), u)
			if asked != tc.asked {
				t.Errorf("asked %d times, want %d", asked, tc.asked)
			}
			if tc.code != "" {
				if fault.CodeOf(err) != tc.code {
					t.Errorf("%v, want %s", err, tc.code)
				}
				return
			}
			if err != nil || strings.Join(got.Lineage(), " ") != tc.lineage ||
				!strings.HasPrefix(got.Notice, tc.notice) ||
				(tc.notice == "") != (got.Notice == "") {
				t.Fatalf("%q, %q, %v", got.Lineage(), got.Notice, err)
			}
			b, err := got.Complete(t.Context(), u, identity.User{Username: "alice"})
			if err != nil {
				t.Fatal(err)
			}
			name, _, _ := strings.Cut(tc.lineage, " ")
			if b.Name != name || b.Platform != "default" {
				t.Errorf("%s is based on %s", b.Name, b.Platform)
			}
			if a, own := b.Env["A"]; own && a != name {
				t.Errorf("metadata.name is %q", a)
			}
			if err := Allowed(identity.User{Username: "alice", Blueprints: []string{"other", name + "x"}},
				b); fault.CodeOf(err) != fault.PermissionDenied {
				t.Errorf("it is allowed: %v", err)
			}
		})
	}
}

const askForDriver = "GET /apis/storage.k8s.io/v1/csidrivers/scratch.berth.dev"

// storages are blueprints of which one has these storages and is the default one.
func storages(t *testing.T, text string) func(*Provisioner) {
	t.Helper()
	dir := t.TempDir()
	text = "blueprints: [{name: kept, template: default, storages: {" + text + "}}]\n"
	if err := os.WriteFile(filepath.Join(dir, "kept.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return func(p *Provisioner) {
		p.Blueprints = func(context.Context) (*catalog.Set, error) { return catalog.Load(dir) }
		p.DefaultBlueprint = "kept"
	}
}

// A scratch storage costs one more request and no more round trips. A blueprint without scratch storage does
// not make the request.
func TestRoundTripsWithScratch(t *testing.T) {
	const delay = 40 * time.Millisecond
	for text, asked := range map[string]int{
		"build: {type: scratch, path: /build, afterlife: 6h}":  1,
		"build: {type: scratch, path: /build, enabled: false}": 0,
		"build: {type: emptyDir, path: /build}":                0,
	} {
		r := provisioned(t, delay, 5*time.Second, storages(t, text), withDriver)
		if took := r.created.Sub(r.began); took > 5*delay {
			t.Errorf("%s: it takes %s, which is more than 5 round trips: %s", text, took,
				strings.Join(r.after(r.began), "\n"))
		}
		n := 0
		for _, q := range r.requests {
			if q.what == askForDriver {
				n++
			}
		}
		if n != asked {
			t.Errorf("%s: the driver is asked for %d times, want %d", text, n, asked)
		}
	}
}

// withDriver is a cluster that has the driver, or of which that may not be asked.
func withDriver(p *Provisioner) {
	server := p.Client.HTTP.Transport.(*apiServer)
	server.objects["/apis/storage.k8s.io/v1/csidrivers/scratch.berth.dev"] = map[string]any{
		"metadata": map[string]any{"name": "scratch.berth.dev"},
	}
}

// Without the driver nothing is written, wherever the scratch storage is declared.
func TestNoDriver(t *testing.T) {
	for text, want := range map[string]string{
		"build: {type: scratch, path: /build}": "storage build is of type scratch, " +
			"and the cluster has no CSI driver scratch.berth.dev",
		`build: {type: !cel "user.username == 'alice' ? 'scratch' : 'emptyDir'", path: /build}`: "storage build " +
			"is of type scratch, and the cluster has no CSI driver scratch.berth.dev",
		"a: {type: scratch, path: /a}, b: {type: scratch, path: /b}": "storages a, b are of type scratch, " +
			"and the cluster has no CSI driver scratch.berth.dev",
	} {
		server := newAPIServer(0)
		p := provisionerOf(server.client(t), storages(t, text))
		err := provisionAlice(t, p)
		f := fault.From(err)
		if f.Code != fault.InvalidArgument || f.Message != want ||
			!strings.Contains(f.Hint, "berth serve manifests volumes") || !strings.Contains(f.Hint, "blueprint kept") {
			t.Errorf("%s: %v (%s)", text, err, f.Hint)
		}
		if wrote := slices.ContainsFunc(server.requests, func(q request) bool {
			return !strings.HasPrefix(q.what, "GET ") && !strings.HasSuffix(q.what, "selfsubjectrulesreviews")
		}); wrote {
			t.Errorf("%s: %v", text, server.requests)
		}
	}
}

// A user without permission to read the driver can still provision.
func TestDriverNotReadable(t *testing.T) {
	server := newAPIServer(0)
	server.objects["/api/v1/namespaces/dev"] = map[string]any{"metadata": map[string]any{"name": "dev"}}
	client := server.client(t)
	config := rest.CopyConfig(client.Config)
	config.Transport = refusing{server}
	typed, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	client.Interface = typed
	p := provisionerOf(client, storages(t, "build: {type: scratch, path: /build}"))
	if err := provisionAlice(t, p); err != nil {
		t.Error(err)
	}
}

// refusing is an API server that shows nobody its drivers.
type refusing struct{ *apiServer }

func (s refusing) RoundTrip(r *http.Request) (*http.Response, error) {
	if strings.Contains(r.URL.Path, "csidrivers") {
		return refuse(apierrors.NewForbidden(schema.GroupResource{Group: "storage.k8s.io", Resource: "csidrivers"},
			"scratch.berth.dev", nil))
	}
	return s.apiServer.RoundTrip(r)
}

func provisionerOf(client *kube.Client, options ...func(*Provisioner)) *Provisioner {
	p := &Provisioner{Environment: Environment{
		Reader: inventory.Reader{Client: client, Policy: cause.DefaultPolicy(), Now: time.Now},
		Users:  everybody{},
		States: lifecycle.Place{Client: client},
	}}
	for _, option := range options {
		option(p)
	}
	return p
}

// provisionAlice is a dry run, which makes all reads and checks.
func provisionAlice(t *testing.T, p *Provisioner) error {
	t.Helper()
	u, err := userstring.Parse("alice")
	if err != nil {
		t.Fatal(err)
	}
	_, err = p.Preview(t.Context(), u, apply.DryRunClient, event.NewStream(u.ID(), time.Now))
	return err
}

package manifest

import (
	"cmp"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/berthdev/berth/internal/blueprint"
	"github.com/berthdev/berth/internal/goldentest"
	"github.com/berthdev/berth/internal/identity"
	"github.com/berthdev/berth/internal/registry"
	"github.com/berthdev/berth/internal/release"
	"github.com/berthdev/berth/internal/userstring"
)

func spec(t *testing.T, text string, b blueprint.Blueprint) Spec {
	t.Helper()
	u, err := userstring.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	b.HelperImage = cmp.Or(b.HelperImage, helperImage)
	return Spec{
		User: u, Namespace: "workspaces", Blueprint: b, JobID: "00000000-0000-4000-8000-000000000000",
		Identity: identity.User{Username: u.User, Organization: "Example, Inc.", Provider: "kubernetes"},
	}
}

func render(t *testing.T, s Spec) *release.Rendered {
	t.Helper()
	values, err := s.Values()
	if err != nil {
		t.Fatal(err)
	}
	rendered, err := release.Render(values)
	if err != nil {
		t.Fatal(err)
	}
	return rendered
}

// specs are workspaces of every kind: a small one, one with everything that the
// shell runtime can have, one with an agent, and one with podman and a repository.
func specs(t *testing.T) map[string]Spec {
	t.Helper()
	claim := map[string]any{
		"accessModes": []any{"ReadWriteOnce"},
		"resources":   map[string]any{"requests": map[string]any{"storage": "1Gi"}},
	}
	small := spec(t, "alice~small",
		blueprint.Blueprint{Name: "small", Image: "docker.io/library/alpine:3.22", ImagePullPolicy: "IfNotPresent"})
	full := spec(t, "alice~full", blueprint.Blueprint{
		Name: "full", Image: "registry.example.com/dev:1", ImagePullPolicy: "Always", Hostname: "123", Subdomain: "team",
		Splash:          "Welcome",
		Env:             map[string]string{"B": "quote \" and\nnewline", "A": "1", "ON": "yes", "N": "0x1F"},
		Resources:       blueprint.Resources{CPU: "500m", Memory: "1Gi"},
		SecurityContext: map[string]any{"runAsUser": 1000},
		InitScripts: []blueprint.InitScript{
			{Name: "one", Script: "echo 1\n"},
			{Name: "two", Script: "echo '{{ not a template }}'"},
		},
		ExtFiles: map[string]string{"/etc/b.conf": "b: 2\n", "/etc/a.conf": "a\n"},
		Network: blueprint.Network{
			NetworkPolicyClass: "user", AllowEgressToCIDRs: []string{"10.1.0.0/16"},
			AllowEgressToPods: []blueprint.EgressPods{
				{Labels: map[string]string{"app": "db"}},
				{Namespace: "infra", Labels: map[string]string{"app": "cache"}},
			},
		},
		Storages: map[string]blueprint.Storage{
			"build": {Type: "scratch", Path: "/build", Afterlife: "6h", Readonly: true},
			"cache": {Type: "shared", Path: "/cache", ID: "x", ClaimSpec: claim},
			"data":  {Type: "local", Path: "/data", ExistingClaim: "data-of-alice", Readonly: true},
			"home": {
				Type: "local", Path: "/home/dev", ClaimSpec: claim,
				ClaimSpecAnnotations: map[string]string{"backup": "daily"}, FsOwnerUID: new(int64(1000)),
				FsOwnerGID: new(int64(1000)),
			},
			"objects": {Type: "scratch", Path: "/objects", FsOwnerUID: new(int64(1000)), Readonly: true},
			"off":     {Type: "local", Path: "/off", Enabled: new(bool)},
			"scratch": {Type: "memory", Path: "/scratch", SizeLimit: "64Mi"},
			"tmp":     {Type: "emptyDir", Path: "/tmp", Readonly: true},
		},
	})
	full.Certificate = &Certificate{IssuerName: "internal", IssuerKind: "ClusterIssuer"}
	full.Access.Registry = &registry.Login{Server: "registry.example.com", Username: "berth", Password: "hunter2"}
	agent := spec(t, "alice~agent", blueprint.Blueprint{
		Name: "agent", Image: "registry.example.com/dev:1", ImagePullPolicy: "IfNotPresent",
		K8shelld: blueprint.K8shelld{
			Image:      "registry.example.com/k8shelld:v1.2.3",
			Connection: map[string]any{"idleTimeout": "10m"},
		},
		InitScripts: []blueprint.InitScript{{Name: "one", Script: "echo 1\n"}},
		EnableApps:  true, Apps: map[string]any{"code-server": map[string]any{"port": 8080}},
		Network: blueprint.Network{NetworkPolicyClass: "organization"},
	})
	podman := spec(t, "alice~podman", blueprint.Blueprint{
		Name: "podman", Image: "registry.example.com/dev:1", ImagePullPolicy: "IfNotPresent",
		Podman: blueprint.Podman{
			Enabled: true, Image: "quay.io/podman/stable:v5", SizeLimit: "10Gi",
			Resources: blueprint.Resources{Memory: "1Gi"},
		},
		Network: blueprint.Network{NetworkPolicyClass: "isolated"},
	})
	podman.Repository = &Repository{URL: "https://git.example.com/org/proj.git", Ref: "Main"}
	podman.Access.Repositories = []RepositoryAccess{{
		URL: "https://git.example.com", Username: "alice",
		Password: "hunter2",
	}}
	return map[string]Spec{"small": small, "full": full, "agent": agent, "podman": podman}
}

// The manifests as they are on the cluster. What needs more than an API server
// to be tried, a NetworkPolicy, a certificate, the podman sidecar, a real agent,
// is checked here as objects.
func TestManifests(t *testing.T) {
	for name, s := range specs(t) {
		goldentest.Check(t, name+".yaml", render(t, s).Manifest)
	}
}

// Whatever the user string holds, names and labels are legal.
func TestNamesAreLegal(t *testing.T) {
	long := strings.Repeat("x", 100)
	b := blueprint.Blueprint{
		Name: long, Image: "x", InitScripts: []blueprint.InitScript{{Name: "a", Script: "b"}},
		Storages: map[string]blueprint.Storage{strings.Repeat("s", 40): {
			Type: "local", Path: "/x",
			ClaimSpec: map[string]any{"accessModes": []any{"x"}},
		}},
	}
	for _, text := range []string{long, "_-_", "1_st~" + strings.Repeat("b", 100), "a~b+user=" +
		strings.Repeat("%C3%A9", 10)} {
		for _, object := range render(t, spec(t, text, b)).Objects {
			if problems := validation.IsDNS1123Label(object.GetName()); len(problems) > 0 {
				t.Errorf("%s: %s %q: %s", text, object.GetKind(), object.GetName(), problems)
			}
			for name, value := range object.GetLabels() {
				if problems := validation.IsValidLabelValue(value); len(problems) > 0 {
					t.Errorf("%s: label %s=%q: %s", text, name, value, problems)
				}
			}
		}
	}
}

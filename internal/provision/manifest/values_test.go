package manifest

import (
	"cmp"
	"fmt"
	"slices"
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
		Name: "full", Image: "registry.example.com/dev:1", ImagePullPolicy: "Always", Hostname: "123",
		Subdomain:       "team",
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

// What is ignored of a blueprint and of an identity is told, and what a blueprint leaves open.
func TestNotes(t *testing.T) {
	for name, test := range map[string]struct {
		b     blueprint.Blueprint
		sudo  bool
		proxy string // the namespace of k8shell's proxy
		want  []string
	}{
		"nothing":     {blueprint.Blueprint{}, false, "", nil},
		"a hostname":  {blueprint.Blueprint{Hostname: "box"}, false, "", nil},
		"a subdomain": {blueprint.Blueprint{Subdomain: "team"}, false, "", nil},
		"both": {
			blueprint.Blueprint{Hostname: "box", Subdomain: "team"},
			false, "",
			[]string{"hostname box is ignored"},
		},
		"both, and the hostname is its ID": {
			blueprint.Blueprint{Hostname: "alice-59936c3", Subdomain: "team"},
			false, "",
			nil,
		},
		"sudo": {blueprint.Blueprint{}, true, "", []string{"sudo of alice is ignored"}},
		"sudo, with an agent": {
			blueprint.Blueprint{
				K8shelld: blueprint.K8shelld{Image: "agent:1"},
				Network:  blueprint.Network{NetworkPolicyClass: blueprint.NetworkIsolated},
			},
			true, "k8shell",
			nil,
		},
		"an agent that nothing can come to": {
			blueprint.Blueprint{
				K8shelld: blueprint.K8shelld{Image: "agent:1"},
				Network:  blueprint.Network{NetworkPolicyClass: blueprint.NetworkIsolated},
			},
			false, "",
			[]string{"nothing may come to the agent on port 2822: controlNamespace is not configured"},
		},
		"an agent in a workload": {
			blueprint.Blueprint{
				K8shelld: blueprint.K8shelld{Image: "agent:1"},
				Network:  blueprint.Network{NetworkPolicyClass: blueprint.NetworkIsolated},
			},
			false, "",
			[]string{"the agent on port 2822 asks for no credentials, and no network policy of berth's is for the " +
				"pods of a workload: whatever reaches the pods of deployment/web can enter it"},
		},
		"an agent that anybody can come to": {
			blueprint.Blueprint{K8shelld: blueprint.K8shelld{Image: "agent:1"}},
			false, "",
			[]string{"the agent on port 2822 asks for no credentials"},
		},
	} {
		s := spec(t, "alice~dev", test.b)
		s.Identity.Username, s.Identity.Sudo, s.ControlNamespace = "alice", test.sudo, test.proxy
		if name == "an agent in a workload" {
			s.User.Workload = userstring.Workload{Kind: "deployment", Name: "web"}
		}
		if got := s.Notes(); !slices.EqualFunc(got, test.want, strings.HasPrefix) {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

// What cannot be made of a blueprint is an error with its name.
func TestNoValues(t *testing.T) {
	for name, b := range map[string]blueprint.Blueprint{
		"what is no JSON": {Name: "dev", SecurityContext: map[string]any{"x": func() {}}},
		"an organization where there is none": {
			Name:    "dev",
			Network: blueprint.Network{NetworkPolicyClass: blueprint.NetworkOrganization},
		},
	} {
		s := spec(t, "alice~dev", b)
		s.Identity.Organization = ""
		if values, err := s.Values(); values != nil || err == nil ||
			!strings.HasPrefix(err.Error(), "blueprint dev: ") {
			t.Errorf("%s: %v, %v", name, values, err)
		}
	}
}

// k8shell reads one user string of a workspace, whether it looks at the pod or at the release, in either scheme.
func TestUserStringOfTheRelease(t *testing.T) {
	for _, scheme := range []userstring.Scheme{userstring.Own, userstring.K8shell} {
		s := spec(t, "alice~repo=org/proj", blueprint.Blueprint{Name: "dev", Image: "x"})
		s.User.Scheme = scheme
		values, err := s.Values()
		if err != nil {
			t.Fatal(err)
		}
		released, pod := at(values, "k8shell", "__userstr__"), at(values, "annotations", "k8shell.io/userstr")
		if released != pod || pod != s.User.Annotation() {
			t.Errorf("scheme %v: %v in the release, %v on the pod", scheme, released, pod)
		}
	}
}

// Home directories do not go into other people's workloads.
func TestInjectable(t *testing.T) {
	b := blueprint.Blueprint{
		Env: map[string]string{"HOME": "/work/"},
		Storages: map[string]blueprint.Storage{
			"home": {Path: "/x"}, "a": {Path: "/home/dev"}, "b": {Path: "/root"}, "c": {Path: "/work"},
			"data": {Path: "/data"}, "deep": {Path: "/home/dev/data"},
		},
	}
	s := spec(t, "alice~repo=org/proj+ns=workspaces+workload=deployment/web", b)
	s.Access.Repositories = []RepositoryAccess{{
		URL: "https://github.com", Username: "alice", Password: "hunter2",
		InWorkspace: true,
	}}
	s.Repository = s.Access.Clone(s.User)
	got, leftOut := s.Injectable()
	want := []string{
		"storage a is", "storage b is", "storage c is", "storage home is",
		"the credentials of https://github.com are left out",
	}
	if !slices.EqualFunc(leftOut, want, strings.HasPrefix) || len(got.Blueprint.Storages) != 2 || len(b.Storages) != 6 {
		t.Errorf("left out: %q; kept: %v", leftOut, got.Blueprint.Storages)
	}
	pod := podOf(t, got)
	if len(pod.Spec.InitContainers) > 0 || len(got.Private()) > 0 ||
		strings.Contains(fmt.Sprint(pod.Spec), "GIT_CONFIG") {
		t.Errorf("it has more than it may: %+v", pod.Spec)
	}
	for _, v := range pod.Spec.Volumes {
		if v.Secret != nil || v.Name == "repository" {
			t.Errorf("it has volume %s", v.Name)
		}
	}
}

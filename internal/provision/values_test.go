package provision

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/berthdev/berth/internal/blueprint"
	"github.com/berthdev/berth/internal/identity"
	"github.com/berthdev/berth/internal/release"
	"github.com/berthdev/berth/internal/userstring"
)

var update = flag.Bool("update", false, "write the golden files")

func spec(t *testing.T, text string, b blueprint.Blueprint) workspaceSpec {
	t.Helper()
	u, err := userstring.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return workspaceSpec{
		user: u, blueprint: b, jobID: "00000000-0000-4000-8000-000000000000",
		identity: identity.User{Username: u.User, Organization: "Example, Inc.", Provider: "kubernetes"},
	}
}

func render(t *testing.T, s workspaceSpec) *release.Rendered {
	t.Helper()
	values, err := chartValues(s)
	if err != nil {
		t.Fatal(err)
	}
	rendered, err := release.Render(s.user.ID(), "workspaces", values)
	if err != nil {
		t.Fatal(err)
	}
	return rendered
}

// The manifests of a small workspace and of one with everything, as they stand
// on the cluster.
func TestManifests(t *testing.T) {
	small := blueprint.Blueprint{Name: "small", Image: "docker.io/library/alpine:3.22", ImagePullPolicy: "IfNotPresent"}
	full := blueprint.Blueprint{
		Name: "full", Image: "registry.example.com/dev:1", ImagePullPolicy: "Always", Hostname: "123",
		Env:             map[string]string{"B": "quote \" and\nnewline", "A": "1", "ON": "yes", "N": "0x1F"},
		Resources:       blueprint.Resources{CPU: "500m", Memory: "1Gi"},
		SecurityContext: map[string]any{"runAsUser": 1000},
		InitScripts:     []blueprint.InitScript{{Name: "one", Script: "echo 1\n"}, {Name: "two", Script: "echo '{{ not a template }}'"}},
		ExtFiles:        map[string]string{"/etc/b.conf": "b: 2\n", "/etc/a.conf": "a\n"},
		Storages: map[string]blueprint.Storage{
			"home":    {Type: "local", Path: "/home/dev", ClaimSpec: map[string]any{"accessModes": []any{"ReadWriteOnce"}}},
			"off":     {Type: "local", Path: "/off", Enabled: new(bool)},
			"scratch": {Type: "memory", Path: "/scratch", SizeLimit: "64Mi"},
			"tmp":     {Type: "emptyDir", Path: "/tmp", Readonly: true},
		},
	}
	for name, b := range map[string]blueprint.Blueprint{"small": small, "full": full} {
		golden := filepath.Join("testdata", name+".yaml")
		got := render(t, spec(t, "alice~"+name, b)).Manifest
		if *update {
			if err := os.WriteFile(golden, []byte(got), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", golden, diff)
		}
	}
}

// Whatever the user string holds, names and labels are legal.
func TestNamesAreLegal(t *testing.T) {
	long := strings.Repeat("x", 100)
	b := blueprint.Blueprint{
		Name: long, Image: "x", InitScripts: []blueprint.InitScript{{Name: "a", Script: "b"}},
		Storages: map[string]blueprint.Storage{strings.Repeat("s", 40): {Type: "local", Path: "/x", ClaimSpec: map[string]any{"accessModes": []any{"x"}}}},
	}
	for _, text := range []string{long, "_-_", "1_st~" + strings.Repeat("b", 100), "a~b+user=" + strings.Repeat("%C3%A9", 10)} {
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

package manifest

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/berthdev/berth/internal/blueprint"
	"github.com/berthdev/berth/internal/release"
)

// What a workspace is made of is nothing beyond it; what somebody adds to its recorded values
// is, also as a part of a text that a template takes as it is.
func TestBeyond(t *testing.T) {
	s := spec(t, "alice~dev", blueprint.Blueprint{Name: "dev", Image: "alpine:3", ImagePullPolicy: "IfNotPresent"})
	values, err := s.Values()
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		change func(map[string]any)
		want   string // in the only problem, or none
	}{
		"as it was made": {func(map[string]any) {}, ""},
		"of another":     {func(v map[string]any) { v["id"] = "bob-1" }, "the pod is named bob-1"},
		"other labels": {
			func(v map[string]any) { v["labels"].(map[string]any)["k8shell.io/canonical-id"] = "bob-1" },
			"is not labelled",
		},
		"the network of the node": {
			func(v map[string]any) { v["imagePullSecrets"] = []any{"x\n  hostNetwork: true"} },
			"spec.hostNetwork",
		},
		"a service account": {
			func(v map[string]any) { v["imagePullSecrets"] = []any{"x\n  serviceAccountName: admin"} },
			"spec.serviceAccountName",
		},
		"a directory of the node": {func(v map[string]any) {
			v["names"].(map[string]any)["config"] = "x\n    - name: h\n      hostPath: {path: /}"
		}, "hostPath"},
		"a Secret": {func(v map[string]any) { v["gitSecret"] = "another" }, "secretName is another"},
		"an object": {func(v map[string]any) {
			v["imagePullSecrets"] = []any{"x\n---\napiVersion: v1\nkind: ServiceAccount\nmetadata: {name: y}\n---"}
		}, "ServiceAccount"},
	} {
		changed := runtime.DeepCopyJSON(values)
		c.change(changed)
		rendered, err := release.Render(changed)
		if err != nil {
			if c.want == "" {
				t.Errorf("%s: %v", name, err)
			}
			continue // what is no YAML is not started either
		}
		problems := Beyond(s.User.ID(), rendered.Objects, false)
		if got := strings.Join(problems, "; "); c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// Beyond the level baseline is what pod security refuses there.
func TestAboveBaseline(t *testing.T) {
	for name, c := range map[string]struct {
		context map[string]any
		want    string
	}{
		"nothing": {nil, ""},
		"confined": {map[string]any{
			"privileged": false, "runAsUser": int64(0),
			"capabilities":   map[string]any{"drop": []any{"ALL"}, "add": []any{"CHOWN"}},
			"seccompProfile": map[string]any{"type": "Localhost"},
		}, ""},
		"privileged": {map[string]any{"privileged": true}, "privileged is true"},
		"a text":     {map[string]any{"privileged": "true"}, "privileged is true"},
		"a capability": {
			map[string]any{"capabilities": map[string]any{"add": []any{"CAP_SYS_ADMIN"}}},
			"capabilities.add is CAP_SYS_ADMIN",
		},
		"all system calls": {
			map[string]any{"seccompProfile": map[string]any{"type": "Unconfined"}},
			"seccompProfile.type is Unconfined",
		},
		"another SELinux": {
			map[string]any{"seLinuxOptions": map[string]any{"type": "spc_t"}},
			"seLinuxOptions.type is spc_t",
		},
		"all of /proc": {map[string]any{"procMount": "Unmasked"}, "procMount is Unmasked"},
		"no AppArmor": {
			map[string]any{"appArmorProfile": map[string]any{"type": "Unconfined"}},
			"appArmorProfile.type is Unconfined",
		},
		"the host's process": {
			map[string]any{"windowsOptions": map[string]any{"hostProcess": true}},
			"windowsOptions is set",
		},
	} {
		if got := strings.Join(aboveBaseline(c.context), "; "); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

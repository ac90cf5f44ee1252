package manifest

import (
	"maps"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/berthdev/berth/internal/blueprint"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/release"
	"github.com/berthdev/berth/internal/release/k8shelltest"
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
		"a scratch storage of another driver": {func(v map[string]any) {
			v["storages"] = []any{scratchValue(s.User.ID(), nil)}
		}, ""},
		"another driver for somebody else's workspace": {func(v map[string]any) {
			v["storages"] = []any{scratchValue("bob-1", nil)}
		}, "csi.driver is other.example.com, and the volume is no scratch storage of the workspace"},
		"another driver that is told more": {func(v map[string]any) {
			v["storages"] = []any{scratchValue(s.User.ID(), map[string]any{"secretProviderClass": "x"})}
		}, "csi.volumeAttributes.secretProviderClass"},
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

// scratchValue is the chart's value of a scratch storage of another driver than berth's.
func scratchValue(id string, more map[string]any) map[string]any {
	attributes := map[string]any{"storage": "build", "workspace": id, "userString": "alice~dev", "afterlife": "1h"}
	maps.Copy(attributes, more)
	return map[string]any{
		"name": "build", "volume": "storage-build", "type": "scratch", "path": "/build", "readonly": true,
		"owner": "", "sizeLimit": "", "claim": "", "driver": "other.example.com", "attributes": attributes,
	}
}

// A record of k8shell is started as it is: it has what k8shell's chart makes, the Secret with a token of its own
// included, and nothing by which the cluster gives away more than that, or another program acts.
func TestBeyondOfK8shell(t *testing.T) {
	const id = "alice-1"
	set := func(kind string, value any, path ...string) func([]*unstructured.Unstructured) {
		return func(objects []*unstructured.Unstructured) {
			if err := unstructured.SetNestedField(kube.OfKind(objects, kind).Object, value, path...); err != nil {
				t.Fatal(err)
			}
		}
	}
	const apparmor = "container.apparmor.security.beta.kubernetes.io/k8shell-main"
	owner := []any{map[string]any{"apiVersion": "v1", "kind": "Node", "name": "n", "uid": "u"}}
	for name, c := range map[string]struct {
		change func([]*unstructured.Unstructured)
		want   string // in the only problem, or none
	}{
		"as it was made":     {func([]*unstructured.Unstructured) {}, ""},
		"without a type":     {set("Secret", "", "type"), ""},
		"a text as token":    {set("Secret", map[string]any{"token": "x"}, "stringData"), ""},
		"with Helm's marks":  {set("Secret", "alice-1", "metadata", "annotations", "meta.helm.sh/release-name"), ""},
		"a claim's metadata": {set("PersistentVolumeClaim", "x", "metadata", "annotations", "example.com/backup"), ""},
		"a token of an account": {
			set("Secret", "kubernetes.io/service-account-token", "type"), "of type kubernetes.io/service-account-token",
		},
		"whose token": {
			set("Secret", "admin", "metadata", "annotations", "kubernetes.io/service-account.name"),
			"metadata.annotations.kubernetes.io/service-account.name",
		},
		"another key":     {set("Secret", map[string]any{"x": "eA=="}, "data"), "data.x is nothing"},
		"another text":    {set("Secret", map[string]any{"x": "x"}, "stringData"), "stringData.x is nothing"},
		"no content":      {set("Secret", "x", "data"), "data has no fields"},
		"a fixed token":   {set("Secret", true, "immutable"), "immutable is nothing"},
		"another Secret":  {set("Secret", "bob-1-pat", "metadata", "name"), "Secret bob-1-pat is nothing"},
		"no AppArmor":     {set("Pod", "unconfined", "metadata", "annotations", apparmor), "annotations." + apparmor},
		"a finalizer":     {set("Pod", []any{"x/y"}, "metadata", "finalizers"), "Pod alice-1: metadata.finalizers"},
		"an owner":        {set("PersistentVolumeClaim", owner, "metadata", "ownerReferences"), "ownerReferences"},
		"another account": {set("Pod", "admin", "spec", "serviceAccountName"), "spec.serviceAccountName"},
	} {
		record := k8shelltest.Workspace{
			ID: id, Username: "alice", Blueprint: "dev",
			Namespace: "dev",
		}.Release(time.Time{})
		objects, err := release.Objects(record.Manifest)
		if err != nil {
			t.Fatal(err)
		}
		claim := kube.Named("PersistentVolumeClaim", "pvc-alice-1-data")
		claim.SetLabels(map[string]string{kube.LabelCanonicalID: id})
		objects = append(objects, claim)
		c.change(objects)
		problems := Beyond(id, objects, true)
		if got := strings.Join(problems, "; "); c.want == "" && got != "" || !strings.Contains(got, c.want) ||
			len(problems) > 1 {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
		if len(Beyond(id, objects, false)) < 2 { // the Secret, and the token of the default account
			t.Errorf("%s: a record of berth's own may have it: %q", name, Beyond(id, objects, false))
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

package manifest

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/berthdev/berth/internal/blueprint"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/release"
)

// A storage may have any name that is a label. Its volume is cut like every name that is made
// from another; its claim is found again by the pod alone.
func TestStorageNames(t *testing.T) {
	claim := map[string]any{"accessModes": []any{"ReadWriteOnce"}}
	long := strings.Repeat("s", 62)
	s := spec(t, "alice", blueprint.Blueprint{
		Name: "dev", Image: "x",
		Storages: map[string]blueprint.Storage{
			"home": {
				Type: blueprint.StorageLocal, Path: "/home/dev", ClaimSpec: claim,
				FsOwnerUID: new(int64(1000)),
			},
			long + "a": {Type: blueprint.StorageLocal, Path: "/a", ClaimSpec: claim, FsOwnerUID: new(int64(1000))},
			long + "b": {Type: blueprint.StorageLocal, Path: "/b", ClaimSpec: claim},
			"others":   {Type: blueprint.StorageLocal, Path: "/c", ExistingClaim: "pvc-alice-a975fae-theirs"},
		},
	})
	objects := render(t, s).Objects
	var pod corev1.Pod
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(kube.OfKind(objects, "Pod").Object, &pod); err != nil {
		t.Fatal(err)
	}
	volumes := map[string]bool{}
	for _, v := range pod.Spec.Volumes {
		if problems := validation.IsDNS1123Label(v.Name); len(problems) > 0 || volumes[v.Name] {
			t.Errorf("volume %s: %s", v.Name, problems)
		}
		volumes[v.Name] = true
	}
	if !volumes["storage-home"] || !volumes[kube.Name("storage", long+"a")] {
		t.Errorf("the volumes are %v", volumes)
	}
	for _, c := range append(pod.Spec.InitContainers, pod.Spec.Containers...) {
		for _, m := range c.VolumeMounts {
			if !volumes[m.Name] {
				t.Errorf("%s mounts %s, which is no volume", c.Name, m.Name)
			}
		}
	}
	found := map[string]bool{}
	for _, o := range OfPod(&pod) {
		found[o.GetName()] = o.GetKind() == "PersistentVolumeClaim"
	}
	for claim, want := range map[string]bool{
		"pvc-alice-a975fae-home": true, claimName("alice-a975fae", long+"a"): true,
		claimName("alice-a975fae", long+"b"): true,
		"pvc-alice-a975fae-theirs":           false,
	} {
		if found[claim] != want {
			t.Errorf("%s is found by the pod: %t", claim, found[claim])
		}
	}
}

// A release that was installed before is rendered again from its values, which name no volume.
func TestVolumesOfBefore(t *testing.T) {
	values, err := spec(t, "alice", blueprint.Blueprint{
		Name: "dev", Image: "x", Storages: map[string]blueprint.Storage{"data": {
			Type: blueprint.StorageMemory,
			Path: "/data",
		}},
	}).Values()
	if err != nil {
		t.Fatal(err)
	}
	now, err := release.Render(values)
	if err != nil {
		t.Fatal(err)
	}
	delete(values["storages"].([]any)[0].(map[string]any), "volume")
	if before, err := release.Render(values); err != nil || before.Manifest != now.Manifest {
		t.Errorf("%v: %s", err, before.Manifest)
	}
}

// The key of an init script follows from its name, as its flag does in the runtime.
func TestScriptKeys(t *testing.T) {
	s := spec(t, "alice", blueprint.Blueprint{
		Name: "dev", Image: "x", InitScripts: []blueprint.InitScript{
			{Name: "01_Setup.sh", Script: "one"},
			{Name: "then", Script: "two"},
		},
	})
	for _, o := range render(t, s).Objects {
		if o.GetName() == "alice-a975fae-init-scripts" {
			data, _, _ := unstructured.NestedStringMap(o.Object, "data")
			if len(data) != 2 || data["01-01_Setup.sh"] != "one" || data["02-then"] != "two" {
				t.Errorf("%v", data)
			}
		}
	}
}

// Whether a user may become root is for the agent to know; the shell runtime says that it has no
// use for it.
func TestSudo(t *testing.T) {
	for name, c := range map[string]struct {
		sudo   bool
		image  string
		config string
		notes  int
	}{
		"the agent":                  {true, "registry.example.com/k8shelld:1", "sudo: true", 0},
		"the agent, without":         {false, "registry.example.com/k8shelld:1", "sudo: false", 0},
		"the shell runtime":          {true, "", "", 1},
		"the shell runtime, without": {false, "", "", 0},
	} {
		s := spec(t, "alice", blueprint.Blueprint{
			Name: "dev", Image: "x", K8shelld: blueprint.K8shelld{Image: c.image},
			Network: blueprint.Network{NetworkPolicyClass: blueprint.NetworkIsolated},
		})
		s.Identity.Sudo, s.ControlNamespace = c.sudo, "k8shell"
		values, err := s.Values()
		text, _ := at(values, k8shellValue, "__profileyaml__").(string)
		if err != nil || (text == "") != (c.config == "") || !strings.Contains(text, c.config) {
			t.Errorf("%s: %v, %q", name, err, text)
		}
		if notes := s.Notes(); len(notes) != c.notes {
			t.Errorf("%s: %q", name, notes)
		}
	}
}

// The claims of shared storages are made once for all, as far as a blueprint says how.
func TestSharedClaims(t *testing.T) {
	claimSpec := map[string]any{"accessModes": []any{"ReadWriteMany"}}
	s := spec(t, "alice~dev", blueprint.Blueprint{Storages: map[string]blueprint.Storage{
		"all": {
			Type: blueprint.StorageShared, Path: "/all", ClaimSpec: claimSpec,
			ClaimSpecAnnotations: map[string]string{"a": "b"},
		},
		"team":     {Type: blueprint.StorageShared, Path: "/team", ID: "blue", ClaimSpec: claimSpec},
		"off":      {Type: blueprint.StorageShared, Path: "/off", ClaimSpec: claimSpec, Enabled: new(false)},
		"own":      {Type: blueprint.StorageLocal, Path: "/own", ClaimSpec: claimSpec},
		"existing": {Type: blueprint.StorageShared, Path: "/existing", ExistingClaim: "theirs", ClaimSpec: claimSpec},
		"unsaid":   {Type: blueprint.StorageShared, Path: "/unsaid"},
	}})
	var got []string
	for _, wanted := range s.SharedClaims() {
		got = append(got, wanted.Object.GetName()+" "+wanted.Object.GetAnnotations()["a"])
		if diff := cmp.Diff(claimSpec, wanted.Object.Object["spec"]); diff != "" {
			t.Errorf("%s: %s", wanted.Object.GetName(), diff)
		}
	}
	if diff := cmp.Diff([]string{kube.Name("pvc", "all") + " b", kube.Name("pvc", "team", "blue") + " "},
		got); diff != "" {
		t.Error(diff)
	}
}

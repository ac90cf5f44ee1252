package manifest

import (
	"fmt"
	"slices"
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
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(kube.OfKind(objects, "Pod").Object,
		&pod); err != nil {
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
			{Name: "each", Script: "three", Always: true},
		},
	})
	for _, o := range render(t, s).Objects {
		if o.GetName() == "alice-a975fae-init-scripts" {
			data, _, _ := unstructured.NestedStringMap(o.Object, "data")
			if len(data) != 3 || data["01-01_Setup.sh"] != "one" || data["02-then"] != "two" ||
				data["03_each"] != "three" {
				t.Errorf("%v", data)
			}
		}
	}
}

// The files of a podman sidecar are the workspace's only if it has one.
func TestFilesOfPodman(t *testing.T) {
	b := blueprint.Blueprint{
		Name: "dev", Image: "x", ExtFiles: map[string]string{"/a": "a"},
		Podman: blueprint.Podman{Image: "y", ExtFiles: map[string]string{"/b": "b"}},
	}
	for enabled, want := range map[bool]int{false: 1, true: 2} {
		b.Podman.Enabled = enabled
		if files := extFiles(b); len(files) != want {
			t.Errorf("podman is enabled: %t: %v", enabled, files)
		}
	}
}

// The podman sidecar has the storages of the workspace that it is given, and its own, which the workspace has not.
func TestStoragesOfPodman(t *testing.T) {
	claim := map[string]any{
		"accessModes": []any{"ReadWriteOnce"},
		"resources":   map[string]any{"requests": map[string]any{"storage": "1Gi"}},
	}
	s := spec(t, "alice", blueprint.Blueprint{
		Name: "dev", Image: "x", ExtFiles: map[string]string{"/a": "a"},
		Storages: map[string]blueprint.Storage{
			"home": {Type: "local", Path: "/home/dev", ClaimSpec: claim},
			"off":  {Type: "memory", Path: "/off", Enabled: new(bool)},
			"tmp":  {Type: "memory", Path: "/scratch", Readonly: true},
		},
		Podman: blueprint.Podman{
			Enabled: true, Image: "y", ParentStorages: []string{"*"}, ExtFiles: map[string]string{"/b": "b"},
			Storages: map[string]blueprint.Storage{
				"images": {Type: "local", Path: "/images", ClaimSpec: claim, FsOwnerUID: new(int64(1000))},
				"off":    {Type: "memory", Path: "/no", Enabled: new(bool)},
				"shared": {Type: "shared", Path: "/shared", ClaimSpec: claim},
			},
		},
	})
	rendered := render(t, s)
	mounts, claims := map[string][]string{}, []string{}
	var security any
	for _, o := range rendered.Objects {
		if o.GetKind() == "PersistentVolumeClaim" {
			claims = append(claims, o.GetName())
		}
		if o.GetKind() != "Pod" {
			continue
		}
		for _, field := range []string{"containers", "initContainers"} {
			all, _, _ := unstructured.NestedSlice(o.Object, "spec", field)
			for _, c := range all {
				container, _ := c.(map[string]any)
				name, _ := container["name"].(string)
				for _, m := range container["volumeMounts"].([]any) {
					mount, _ := m.(map[string]any)
					mounts[name] = append(mounts[name], fmt.Sprint(mount["name"], " ", mount["mountPath"]))
				}
				if name == "k8shell-podman" {
					security = container["securityContext"]
				}
			}
		}
	}
	for container, want := range map[string][2][]string{
		"k8shell-podman": {{
			"storage-home /home/dev", "storage-tmp /scratch", "storage-podman-images /images",
			"storage-podman-shared /shared", "ext-files /b", "podman-storage /home/podman/.local/share/containers",
		}, {"storage-off /off", "ext-files /a"}},
		"k8shell-main": {{"storage-home /home/dev", "ext-files /a"}, {"storage-podman-images /images", "ext-files /b"}},
		"init-storage": {{"storage-podman-images /k8shell/storage/podman-images"}, nil},
	} {
		for _, mount := range want[0] {
			if !slices.Contains(mounts[container], mount) {
				t.Errorf("%s has no %s: %q", container, mount, mounts[container])
			}
		}
		for _, mount := range want[1] {
			if slices.Contains(mounts[container], mount) {
				t.Errorf("%s has %s", container, mount)
			}
		}
	}
	if want := []string{"pvc-alice-a975fae-home", "pvc-alice-a975fae-podman-images"}; !slices.Equal(claims, want) {
		t.Errorf("%q", claims)
	}
	if shared := s.SharedClaims(); len(shared) != 1 || shared[0].Object.GetName() != "pvc-shared" {
		t.Errorf("%+v", shared)
	}
	want := map[string]any{
		"runAsUser": int64(1000), "runAsGroup": int64(1000), "appArmorProfile": map[string]any{"type": "Unconfined"},
	}
	if fmt.Sprint(security) != fmt.Sprint(want) {
		t.Errorf("it runs as %v", security)
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

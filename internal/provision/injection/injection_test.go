package injection

import (
	"encoding/json"
	"maps"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/goldentest"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/userstring"
)

// rendered is what the chart makes of a workspace with something of everything.
const rendered = `
kind: Pod
metadata:
  name: alice-1234567
  labels: {k8shell.io/canonical-id: alice-1234567, k8shell.io/job-id: job, k8shell.io/username: alice}
  annotations: {k8shell.io/userstr: dXNlcg==, k8shell.io/identity: kubernetes/}
spec:
  hostname: alice-1234567
  initContainers:
    - {name: init-base, image: agent, volumeMounts: [{name: agent, mountPath: /agent}]}
  containers:
    - name: k8shell-main
      image: workspace
      ports: [{containerPort: 2822}]
      volumeMounts:
        - {name: runtime, mountPath: /r}
        - {name: agent, mountPath: /agent}
        - {name: git, mountPath: /git}
        - {name: token, mountPath: /token}
        - {name: storage-data, mountPath: /data}
        - {name: storage-build, mountPath: /build}
    - {name: k8shell-podman, image: podman, volumeMounts: [{name: podman, mountPath: /p}]}
  volumes:
    - {name: runtime, configMap: {name: alice-1234567-config}}
    - {name: agent, emptyDir: {}}
    - {name: git, secret: {secretName: alice-1234567-git}}
    - {name: token, projected: {sources: [{secret: {name: t}}]}}
    - {name: podman, emptyDir: {}}
    - {name: storage-data, persistentVolumeClaim: {claimName: pvc-alice-1234567-data}}
    - {name: storage-build, csi: {driver: scratch.berth.dev, volumeAttributes: {afterlife: 6h, storage: build}}}
---
kind: ConfigMap
metadata: {name: alice-1234567-config, labels: {k8shell.io/canonical-id: alice-1234567}}
data: {start.sh: "true"}
---
kind: PersistentVolumeClaim
metadata: {name: pvc-alice-1234567-data}
spec: {accessModes: [ReadWriteOnce]}
---
kind: PersistentVolumeClaim
metadata: {name: pvc-alice-1234567-unused}
---
kind: Service
metadata: {name: alice-1234567}
---
kind: NetworkPolicy
metadata: {name: np-alice-1234567-workspace}
`

func parse(t *testing.T, text string) map[string]any {
	t.Helper()
	var object map[string]any
	if err := yaml.Unmarshal([]byte(text), &object); err != nil {
		t.Fatal(err)
	}
	return object
}

func parts(t *testing.T, kind string) Parts {
	t.Helper()
	var objects []*unstructured.Unstructured
	for text := range strings.SplitSeq(rendered, "\n---\n") {
		objects = append(objects, &unstructured.Unstructured{Object: parse(t, text)})
	}
	p, err := Make("alice-1234567", Workload{Kind: kind, Name: "web"}, objects)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// workloadOf is a workload of a kind, as the API server would have it.
func workloadOf(kind string, extra ...string) string {
	return `
apiVersion: apps/v1
kind: ` + kind + `
metadata: {name: web, namespace: shop, uid: u-1}
spec:
  replicas: 1
  template:
    metadata:
      labels: {app: web, k8shell.io/username: somebody}
    spec:
      containers: [{name: web, image: nginx, ports: [{containerPort: 80}]}]
` + strings.Join(extra, "\n") + "\n"
}

// apply applies a patch as the API server does.
func apply(t *testing.T, object map[string]any, patch []byte) map[string]any {
	t.Helper()
	decoded, err := jsonpatch.DecodePatch(patch)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	if text, err = decoded.Apply(text); err != nil {
		t.Fatalf("%v\n%s", err, patch)
	}
	after := parse(t, string(text))
	for _, path := range [][]string{{"metadata"}, {"spec", "template", "metadata"}} {
		if within, ok := lookup(after, path...).(map[string]any); ok {
			if m, ok := within["annotations"].(map[string]any); ok && len(m) == 0 {
				delete(within, "annotations") // to the API, it is not there
			}
		}
	}
	return after
}

// What becomes of each kind.
func TestTemplates(t *testing.T) {
	for _, kind := range []string{"Deployment", "StatefulSet", "DaemonSet"} {
		workload := parse(t, workloadOf(kind))
		change, err := Inject(workload, parts(t, strings.ToLower(kind)))
		if err != nil {
			t.Fatal(err)
		}
		after := apply(t, workload, change.Patch)
		if diff := cmp.Diff(change.After, after); diff != "" {
			t.Errorf("the patch makes something else of it (-said +made):\n%s", diff)
		}
		got, err := yaml.Marshal(after)
		if err != nil {
			t.Fatal(err)
		}
		goldentest.Check(t, strings.ToLower(kind)+".yaml", string(got))
	}
}

// A patch adds to the lists of a workload, and writes none of them again.
func TestPatchAddsItems(t *testing.T) {
	change, err := Inject(parse(t, workloadOf("Deployment")), parts(t, "deployment"))
	if err != nil {
		t.Fatal(err)
	}
	if got := string(change.Patch); strings.Contains(got, `"path":"/spec/template/spec/containers"`) ||
		!strings.Contains(got, `"op":"add","path":"/spec/template/spec/containers/-"`) {
		t.Error(got)
	}
}

// What goes along, and what does not.
func TestMake(t *testing.T) {
	p := parts(t, "deployment")
	var objects []string
	for _, o := range p.Objects {
		objects = append(objects, o.GetKind()+" "+o.GetName())
		if o.GetLabels()[kube.LabelCanonicalID] != "alice-1234567" || o.GetLabels()[kube.LabelInjected] != "true" {
			t.Errorf("%s cannot be found again: %v", o.GetName(), o.GetLabels())
		}
	}
	if diff := cmp.Diff([]string{"ConfigMap alice-1234567-config", "PersistentVolumeClaim pvc-alice-1234567-data"},
		objects); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"git", "token", containerPodman}, p.LeftOut); diff != "" {
		t.Error(diff)
	}
}

// Eject restores the original template, for every kind and
// each value of shareProcessNamespace, also after a second injection.
func TestEjectLeavesTheTemplateAsItWas(t *testing.T) {
	for _, kind := range []string{"Deployment", "StatefulSet", "DaemonSet"} {
		for _, shared := range []string{"", "      shareProcessNamespace: true", "      shareProcessNamespace: false"} {
			before := parse(t, workloadOf(kind, shared))
			p := parts(t, strings.ToLower(kind))
			roundTrip(t, before, p)
		}
	}
}

func roundTrip(t *testing.T, before map[string]any, p Parts) {
	t.Helper()
	first, err := Inject(before, p)
	if err != nil {
		t.Fatal(err)
	}
	injected := apply(t, before, first.Patch)
	p.Labels[kube.LabelJobID] = "another"
	p.Volumes = append(p.Volumes, map[string]any{"name": "alice-1234567-new", "emptyDir": map[string]any{}})
	second, err := Inject(injected, p)
	if err != nil {
		t.Fatal(err)
	}
	injected = apply(t, injected, second.Patch)
	out, err := Eject(injected, p.ID)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, apply(t, injected, out.Patch)); diff != "" {
		t.Errorf("(-before +after):\n%s", diff)
	}
	if again, err := Eject(out.After, p.ID); again.Patch != nil || err != nil {
		t.Errorf("what is out is taken out again: %s, %v", again.Patch, err)
	}
}

// The same for random templates.
func FuzzEjectLeavesTheTemplateAsItWas(f *testing.F) {
	f.Add(uint16(0), uint8(0), "k8shell.io/username", "x")
	f.Add(uint16(0xffff), uint8(7), "a/b~c", "y")
	f.Add(uint16(0x0f0f), uint8(3), kube.AnnotationUserString, "z")
	f.Fuzz(func(t *testing.T, bits uint16, n uint8, key, value string) {
		bit := func(i int) bool { return bits&(1<<i) != 0 }
		spec := map[string]any{"containers": items("c", 1+int(n%3))}
		template := map[string]any{"metadata": map[string]any{"labels": map[string]any{"app": "web"}}, "spec": spec}
		meta, _ := template["metadata"].(map[string]any)
		object := map[string]any{
			"kind": "Deployment", "spec": map[string]any{"template": template},
			"metadata": map[string]any{"name": "web", "uid": "u-1"},
		}
		if bit(0) {
			spec["volumes"] = items("v", 1+int(n%4))
		}
		if bit(1) {
			spec["initContainers"] = items("i", 1+int(n%2))
		}
		if bit(2) {
			spec["shareProcessNamespace"] = bit(3)
		}
		if bit(4) {
			meta["annotations"] = map[string]any{key: value}
		}
		if bit(5) {
			meta["labels"] = map[string]any{key: value, "app": "web"}
		}
		if bit(6) {
			object["metadata"] = map[string]any{"name": "web", "uid": "u-1", "annotations": map[string]any{"x": key}}
		}
		text, err := json.Marshal(object) // invalid UTF-8 is not valid JSON either
		if err != nil {
			t.Skip()
		}
		roundTrip(t, parse(t, string(text)), parts(t, "deployment"))
	})
}

func items(name string, n int) (all []any) {
	for i := range n {
		all = append(all, map[string]any{"name": name + string(rune('a'+i)), "image": "x"})
	}
	return all
}

// There is room for one workspace, and none of what is there is overwritten.
func TestNoRoom(t *testing.T) {
	p := parts(t, "deployment")
	agent, _ := p.Containers[0].(map[string]any) // which declares no port
	delete(agent, "ports")
	agent["command"] = []any{kube.AgentProgram}
	bob := p
	bob.ID = "bob-1"
	change, err := Inject(parse(t, workloadOf("Deployment")), bob)
	if err != nil {
		t.Fatal(err)
	}
	clash := parse(t, strings.Replace(workloadOf("Deployment"), "{name: web, image",
		"{name: alice-1234567-k8shell-main, image", 1))
	volume := parse(t, workloadOf("Deployment", "      volumes: [{name: alice-1234567-runtime, emptyDir: {}}]"))
	port := parse(t, strings.Replace(workloadOf("Deployment"), "containerPort: 80", "containerPort: 2822", 1))
	broken := parse(t, strings.Replace(workloadOf("Deployment"), "metadata: {",
		"metadata: {annotations: {k8shell.io/injection: x}, ", 1))
	for says, workload := range map[string]map[string]any{
		"bob-1": change.After, "already has a volume alice-1234567-runtime": volume, "already": clash,
		"port 2822/TCP": port, "cannot be read": broken,
	} {
		_, err := Inject(workload, p)
		problems := strings.Join(append(fault.From(err).Problems, err.Error()), " ")
		if fault.CodeOf(err) != fault.Conflict || !strings.Contains(problems, says) {
			t.Errorf("%v %q, want CONFLICT with %q", err, problems, says)
		}
	}
}

// What another tool has injected, following the convention only, can be taken
// out; what was changed since is left as it is.
func TestEjectKeepsToTheConvention(t *testing.T) {
	workload := parse(t, `
kind: Deployment
metadata:
  annotations: {k8shell.io/injection: '{"canonicalId":"alice-1","containers":["alice-1-x"],`+
		`"initContainers":[],"volumes":["alice-1-v","gone"],"sharePID":true}'}
spec:
  template:
    metadata:
      labels: {app: web, k8shell.io/job-id: j, k8shell.io/injected: "true"}
      annotations: {k8shell.io/userstr: u}
    spec: {shareProcessNamespace: false, containers: [{name: web}, {name: alice-1-x}], volumes: [{name: alice-1-v}]}
`)
	change, err := Eject(workload, "alice-1")
	if err != nil {
		t.Fatal(err)
	}
	want := parse(t, `
kind: Deployment
metadata: {}
spec:
  template:
    metadata: {labels: {app: web}}
    spec: {shareProcessNamespace: false, containers: [{name: web}]}
`)
	if diff := cmp.Diff(want, apply(t, workload, change.Patch)); diff != "" {
		t.Error(diff)
	}
	if other, err := Eject(workload, "bob-1"); other.Patch != nil || err != nil {
		t.Error("another workspace is taken out")
	}
}

// An annotation that others wrote makes nothing of the workload's own go.
func TestEjectOfAForgedRecord(t *testing.T) {
	const own = `
spec:
  template:
    metadata: {labels: {app: web, k8shell.io/username: x}, annotations: {theirs: a}}
    spec: {containers: [{name: web}, {name: alice-1}], initContainers: [{name: alice-12}], volumes: [{name: data}]}
`
	forged := `{"canonicalId":"alice-1","containers":["web","alice-1"],"initContainers":["alice-12"],` +
		`"volumes":["data"],"labels":["app"],"annotations":["theirs"],` +
		`"replaced":{"labels":{"app":"mine"},"annotations":{"theirs":"b"}}}`
	workload := parse(t, own)
	set(workload, forged, "metadata", "annotations", kube.AnnotationInjection)
	change, err := Eject(workload, "alice-1")
	if err != nil {
		t.Fatal(err)
	}
	want := parse(t, own)
	want["metadata"] = map[string]any{}
	if diff := cmp.Diff(want, apply(t, workload, change.Patch)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, id := range []string{"", "$(reboot)", "UP", "a b", strings.Repeat("a", 300)} {
		if _, err := RecordOf(map[string]string{kube.AnnotationInjection: `{"canonicalId":"` + id +
			`"}`}); fault.CodeOf(err) != fault.Conflict || len(err.Error()) > 400 {
			t.Errorf("%q: %v", id, err)
		}
	}
}

// A mark changes nothing but itself, is taken away with the workspace or alone, and
// keeps away every patch that was computed before it.
func TestMark(t *testing.T) {
	before := parse(t, strings.Replace(workloadOf("Deployment"), "uid: u-1", "uid: u-1, resourceVersion: '7'", 1))
	older, err := Inject(before, parts(t, "deployment"))
	if err != nil {
		t.Fatal(err)
	}
	if none, err := Mark(before, ""); err != nil || len(none.Patch) > 0 || !reflect.DeepEqual(none.After, before) {
		t.Errorf("without a mark there is a patch: %s, %v", none.Patch, err)
	}
	mark, err := Mark(before, "12 alice")
	if err != nil {
		t.Fatal(err)
	}
	marked := apply(t, before, mark.Patch)
	set(marked, "8", "metadata", "resourceVersion")
	if got := text(marked, "metadata", "annotations", kube.AnnotationLock); got != "12 alice" {
		t.Errorf("it is marked %q", got)
	}
	p := parts(t, "deployment")
	p.Lock = "13 bob"
	newer, err := Inject(marked, p)
	if err != nil {
		t.Fatal(err)
	}
	injected := apply(t, marked, newer.Patch)
	if got := text(injected, "metadata", "annotations", kube.AnnotationLock); got != "13 bob" {
		t.Errorf("it is marked %q", got)
	}
	for name, workload := range map[string]map[string]any{"alone": marked, "with the workspace": injected} {
		change, err := Eject(workload, "alice-1234567")
		if err != nil {
			t.Fatal(err)
		}
		left := apply(t, workload, change.Patch)
		set(left, "7", "metadata", "resourceVersion")
		if diff := cmp.Diff(before, left); diff != "" {
			t.Errorf("%s (-before +after):\n%s", name, diff)
		}
		set(left, "9", "metadata", "resourceVersion")
		content, _ := json.Marshal(left)
		patch, err := jsonpatch.DecodePatch(older.Patch)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := patch.Apply(content); err == nil {
			t.Errorf("%s: the patch of an older version applies", name)
		}
	}
}

// A patch is for the template that it was made for, where workloads have no versions;
// what else was written meanwhile is not in its way, and stays.
func TestAPatchMeetsOtherWriters(t *testing.T) {
	seen := parse(t, workloadOf("StatefulSet"))
	change, err := Inject(seen, parts(t, "statefulset"))
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		old, written string
		applies      bool
	}{
		"its status":        {"spec:\n", "status: {readyReplicas: 1}\nspec:\n", true},
		"its scale":         {"replicas: 1", "replicas: 5", true},
		"its image":         {"image: nginx", "image: nginx:2", false},
		"another one":       {"uid: u-1", "uid: u-2", false},
		"first annotation":  {"uid: u-1", "uid: u-1, annotations: {theirs: x}", false},
		"another injection": {"app: web", "app: web, k8shell.io/canonical-id: bob-1", false},
	} {
		text, err := json.Marshal(parse(t, strings.Replace(workloadOf("StatefulSet"), test.old, test.written, 1)))
		if err != nil {
			t.Fatal(err)
		}
		patch, err := jsonpatch.DecodePatch(change.Patch)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := patch.Apply(text); (err == nil) != test.applies {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Only what differs but for the job makes an injection another one.
func TestCurrent(t *testing.T) {
	p := parts(t, "deployment")
	change, err := Inject(parse(t, workloadOf("Deployment")), p)
	if err != nil {
		t.Fatal(err)
	}
	record, err := RecordOf(annotationsOf(change.After))
	if err != nil {
		t.Fatal(err)
	}
	p.Labels[kube.LabelJobID] = "another"
	if !Current(record, p) {
		t.Error("another job makes it another one")
	}
	p.TemplateAnnotations[kube.AnnotationStrictScripts] = "true"
	if !Current(record, p) {
		t.Error("what is made of a script that fails makes it another one")
	}
	p.Labels[kube.LabelBlueprint] = "other"
	if Current(record, p) || Current(nil, p) {
		t.Error("another blueprint does not")
	}
}

// What was injected once has the same hash today, so that it is not another blueprint: whatever base64 the user string
// is in.
func TestHashStays(t *testing.T) {
	for name, annotation := range map[string]string{"before": "dXNlcg==", "now": "dXNlcg"} {
		p := parts(t, "deployment")
		p.TemplateAnnotations[kube.AnnotationUserString] = annotation
		if hash, err := p.hash(); hash != "e65f8ff207068260" || err != nil {
			t.Errorf("%s: %s, %v", name, hash, err)
		}
	}
}

// A workspace has one hash in both schemes, as it has one ID: k8shell's has another order of keys, and encoding.
func TestHashInEitherScheme(t *testing.T) {
	for _, text := range []string{
		"alice~Dev+workload=deployment/web+ns=shop", "alice~repo=acme/Shop+ref=Main+workload=daemonset/a+ns=x",
	} {
		u, err := userstring.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		hashes := map[string]bool{}
		for _, scheme := range []userstring.Scheme{userstring.Own, userstring.K8shell} {
			p := parts(t, "deployment")
			p.TemplateAnnotations[kube.AnnotationUserString] = u.In(scheme).Annotation()
			hashes[hashOf(t, p)] = true
		}
		if len(hashes) != 1 || u.Annotation() == u.In(userstring.K8shell).Annotation() {
			t.Errorf("%s: %v", text, hashes)
		}
	}
}

// The scripts of the runtime are in a ConfigMap of the workspace: another one of a later berth is another workspace.
func TestHashHasTheRuntime(t *testing.T) {
	before, now := parts(t, "deployment"), parts(t, "deployment")
	for _, object := range now.Objects {
		if object.GetKind() == "ConfigMap" {
			object.Object["data"] = map[string]any{"start.sh": "of the next berth"}
		}
	}
	if Current(&Record{Hash: hashOf(t, before)}, now) || !Current(&Record{Hash: hashOf(t, before)}, before) {
		t.Error("another script is the same, or the same script another")
	}
}

func hashOf(t *testing.T, p Parts) string {
	t.Helper()
	hash, err := p.hash()
	if err != nil {
		t.Fatal(err)
	}
	return hash
}

// The labels that every workspace has so that k8shell finds it are no reason to inject it again where they say nothing.
func TestNoNewInjection(t *testing.T) {
	before, now := parts(t, "deployment"), parts(t, "deployment")
	for name, c := range map[string]struct {
		labels map[string]string
		same   bool
	}{
		"nothing": {
			map[string]string{kube.LabelOrganization: "", kube.LabelAgentVersion: kube.NoVersion},
			true,
		},
		"an organization": {map[string]string{kube.LabelOrganization: "acme"}, false},
		"an agent":        {map[string]string{kube.LabelAgentVersion: "0.17.1"}, false},
	} {
		now.Labels = maps.Clone(before.Labels)
		maps.Copy(now.Labels, c.labels)
		was, err := before.hash()
		is, err2 := now.hash()
		if err != nil || err2 != nil || (was == is) != c.same {
			t.Errorf("%s: %v, %v, the same: %t", name, err, err2, was == is)
		}
	}
}

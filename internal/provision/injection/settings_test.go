package injection

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
)

// The settings of a workspace are those of its main container, wherever it is in the workload.
func TestSettings(t *testing.T) {
	change, err := Inject(parse(t, workloadOf("Deployment")), parts(t, "deployment"))
	if err != nil {
		t.Fatal(err)
	}
	containers := Containers(change.After)
	if len(containers) != 2 {
		t.Fatalf("%v", containers)
	}
	main, _ := containers[1].(map[string]any)
	main["env"] = []any{
		map[string]any{"name": "HOME", "value": "/work"},
		map[string]any{"name": "TEAM", "value": "blue"},
	}
	main["resources"] = map[string]any{"limits": map[string]any{"cpu": "1"}}
	want := map[string]any{
		"image": "workspace", "env": map[string]any{"HOME": "/work", "TEAM": "blue"},
		"resources": main["resources"],
	}
	if diff := cmp.Diff(want, Settings("alice-1234567", containers)); diff != "" {
		t.Error(diff)
	}
	if other := Settings("bob-1", containers); len(other) > 0 {
		t.Errorf("of another workspace: %v", other)
	}
}

// What says nothing of a pod is no workspace, and what is odd in a pod is left out. What is
// said of its scripts goes along.
func TestMakeOfOddObjects(t *testing.T) {
	if _, err := Make("alice-1", Workload{Kind: "deployment", Name: "web"}, nil); fault.CodeOf(err) != fault.Internal {
		t.Errorf("without a pod: %v", err)
	}
	odd := &unstructured.Unstructured{Object: parse(t, `
kind: Pod
metadata: {name: x, annotations: {k8shell.io/userstr: "not base64", `+kube.AnnotationStrictScripts+`: "true"}}
spec:
  containers:
  - nonsense
  - name: k8shell-main
    volumeMounts: [nonsense, {name: empty, mountPath: /x}]
    volumeDevices: [{name: disk, devicePath: /dev/x}]
  volumes: [nonsense, {name: empty}, {name: disk}, {name: unused}]
`)}
	p, err := Make("alice-1", Workload{Kind: "deployment", Name: "web"}, []*unstructured.Unstructured{odd})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]any{map[string]any{
		"name": "alice-1-k8shell-main", "volumeMounts": []any{map[string]any{
			"name":      "alice-1-empty",
			"mountPath": "/x",
		}},
		"volumeDevices": []any{map[string]any{"name": "alice-1-disk", "devicePath": "/dev/x"}},
	}}, p.Containers); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"alice-1-empty", "alice-1-disk"}, names(p.Volumes)); diff != "" {
		t.Error(diff)
	}
	if p.TemplateAnnotations[kube.AnnotationStrictScripts] != "true" || p.userString() != "" {
		t.Errorf("%v, %q", p.TemplateAnnotations, p.userString())
	}
}

// A workload whose template cannot be written, and parts that are none, are errors.
func TestWhatIsNoJSON(t *testing.T) {
	p := parts(t, "deployment")
	p.Containers = append(p.Containers, map[string]any{"name": "x", "image": func() {}})
	if Current(&Record{}, p) {
		t.Error("what is no JSON is current")
	}
	if _, err := p.hash(); err == nil {
		t.Error("what is no JSON has a hash")
	}
	if _, err := changeTo(map[string]any{}, map[string]any{"x": func() {}}); err == nil ||
		!strings.HasPrefix(err.Error(), "patch: ") {
		t.Errorf("%v", err)
	}
	annotated := parse(t, strings.Replace(workloadOf("Deployment"), "uid: u-1",
		"uid: u-1, annotations: {k8shell.io/injection: x}", 1))
	for name, change := range map[string]func() (Change, error){
		"inject": func() (Change, error) { return Inject(annotated, parts(t, "deployment")) },
		"eject":  func() (Change, error) { return Eject(annotated, "alice-1234567") },
	} {
		if _, err := change(); fault.CodeOf(err) != fault.Conflict || !strings.Contains(err.Error(), "cannot be read") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// What others have written of shareProcessNamespace since stays.
func TestShareProcessNamespace(t *testing.T) {
	for name, test := range map[string]struct {
		before string // of the injection
		now    any
		want   any
	}{
		"it was absent":              {"null", true, nil},
		"it was false":               {"false", true, false},
		"it was true":                {"true", true, true},
		"others have set it false":   {"true", false, false},
		"others, where it was none":  {"null", false, false},
		"others have taken it away":  {"false", nil, nil},
		"others, where it was false": {"false", false, false},
	} {
		w := parse(t, workloadOf("Deployment"))
		set(w, `{"canonicalId":"alice-1","sharePID":`+test.before+`}`, "metadata", "annotations",
			kube.AnnotationInjection)
		if test.now != nil {
			set(w, test.now, "spec", "template", "spec", "shareProcessNamespace")
		}
		change, err := Eject(w, "alice-1")
		if got := lookup(change.After, "spec", "template", "spec", "shareProcessNamespace"); err != nil ||
			got != test.want {
			t.Errorf("%s: %v, %v; want %v", name, got, err, test.want)
		}
	}
}

// A text that is no record is shown as far as 200 letters.
func TestShownText(t *testing.T) {
	long := strings.Repeat("x", 300)
	_, err := RecordOf(map[string]string{kube.AnnotationInjection: long})
	if err == nil || strings.Contains(err.Error(), long[:201]) || !strings.Contains(err.Error(), long[:200]) {
		t.Errorf("%v", err)
	}
}

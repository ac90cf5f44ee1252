package inventory

import (
	"encoding/base64"
	"strings"
	"testing"

	helm "helm.sh/helm/v3/pkg/release"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/provision/injection"
	"github.com/berthdev/berth/internal/provision/workload"
	"github.com/berthdev/berth/internal/userstring"
)

func of(text string) map[string]string {
	return map[string]string{kube.AnnotationUserString: base64.StdEncoding.EncodeToString([]byte(text))}
}

func podFor(text string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Annotations: of(text)}}
}

// An object belongs to the user that its user string names, if its label says the same: the label is what selects it.
func TestOwnerOf(t *testing.T) {
	const long = "alice@a-company-with-a-name-that-is-longer-than-a-label-can-be.example.com"
	longer := userstring.UserString{User: long, Blueprint: "dev"}
	for name, test := range map[string]struct {
		user, label, want string
	}{
		"both say it":                {"alice~dev", "alice", "alice"},
		"the label is shorter":       {longer.String(), userstring.OwnerLabel(long), long},
		"they disagree":              {"alice~dev", "bob", "bob"},
		"no user string":             {"", "alice", "alice"},
		"a user string that lies":    {"a b c", "alice", "alice"},
		"nothing says it":            {"", "", ""},
		"only a user string says it": {"alice~dev", "", ""},
	} {
		o := &metav1.ObjectMeta{Labels: map[string]string{}}
		if test.user != "" {
			o.Annotations = of(test.user)
		}
		if test.label != "" {
			o.Labels[kube.LabelUsername] = test.label
		}
		if got := OwnerOf(o); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

// Two user strings that have one ID are not one workspace, wherever that is found.
func TestOneIDForTwo(t *testing.T) {
	const mine, other = "alice~bp7936", "alice~bp7947"
	asked, err := userstring.Parse(mine)
	if err != nil {
		t.Fatal(err)
	}
	if theirs, err := userstring.Parse(other); err != nil || theirs.ID() != asked.ID() || theirs.Key() == asked.Key() {
		t.Fatalf("%s and %s are not a case of it: %s, %v", mine, other, theirs.ID(), err)
	}
	carrier := &unstructured.Unstructured{}
	carrier.SetAnnotations(of(other))
	record := func(text string) *helm.Release {
		return &helm.Release{Manifest: "---\napiVersion: v1\nkind: Pod\nmetadata: {name: x, annotations: {" +
			kube.AnnotationUserString + ": " + of(text)[kube.AnnotationUserString] + "}}\n"}
	}
	for name, test := range map[string]struct {
		found    Found
		conflict bool
	}{
		"nothing":                       {Found{}, false},
		"its pod":                       {Found{Pod: podFor(mine)}, false},
		"its pod, typed in another way": {Found{Pod: podFor("Alice~bp7936+user=root")}, false},
		"the pod of the other":          {Found{Pod: podFor(other)}, true},
		"a pod that does not say":       {Found{Pod: &corev1.Pod{}}, false},
		"a pod that says nonsense":      {Found{Pod: podFor("a b c")}, false},
		"a pod that somebody named":     {Found{Pod: podFor("alice~pod=x")}, false},
		"its record":                    {Found{Record: record(mine)}, false},
		"the record of the other":       {Found{Record: record(other)}, true},
		"a record that cannot be read":  {Found{Record: &helm.Release{Manifest: "{"}}, false},
		"the injection of the other": {Found{Workload: &workload.Workload{
			ID:     "x",
			Record: &injection.Record{CanonicalID: "x", UserString: other},
		}}, true},
		"an injection that does not say": {Found{Workload: &workload.Workload{
			ID:     "x",
			Record: &injection.Record{CanonicalID: "x"},
		}}, false},
		"a pod that is left of the other": {Found{Leaving: []*corev1.Pod{podFor(mine), podFor(other)}}, true},
		"one of its pods": {
			Found{objects: Objects{Pods: []*corev1.Pod{podFor(mine), podFor(other)}}},
			true,
		},
		"what a killed run left of it": {Found{Objects: []*unstructured.Unstructured{carrier}}, true},
	} {
		err := test.found.BelongsTo(asked)
		if (err != nil) != test.conflict {
			t.Errorf("%s: %v", name, err)
		}
		if err == nil {
			continue
		}
		f := fault.From(err)
		if f.Code != fault.Conflict || !strings.Contains(f.Message, mine) || !strings.Contains(f.Message, other) ||
			!strings.Contains(f.Hint, "id/"+asked.ID()) {
			t.Errorf("%s: %s %s, %s", name, f.Code, f.Message, f.Hint)
		}
		if err := test.found.BelongsTo(userstring.UserString{}); err != nil {
			t.Errorf("%s: by its ID: %v", name, err)
		}
	}
}

package release

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	helm "helm.sh/helm/v3/pkg/release"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clientset "k8s.io/client-go/kubernetes/fake"

	"github.com/berthdev/berth/internal/fault"
)

// What is recorded is read as it was, to the last digit; only Helm sees that definitions
// are to be kept.
func TestManifest(t *testing.T) {
	object := func(kind string, metadata map[string]any, rest map[string]any) *unstructured.Unstructured {
		metadata["name"] = "a"
		return &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "v1", "kind": kind, "metadata": metadata,
			"spec": rest,
		}}
	}
	keep := map[string]any{"helm.sh/resource-policy": "keep"}
	for name, o := range map[string]*unstructured.Unstructured{
		"texts": object("ConfigMap", map[string]any{},
			map[string]any{
				"a": "one\n---\ntwo\n", "b": "---", "c": "", "d": "1", "e": "yes", "f": "a: b # {{ c }}",
				"g": " \t\n\n",
			}),
		"numbers": object("Crew", map[string]any{},
			map[string]any{"a": int64(math.MaxInt64), "b": int64(-1), "c": 0.5, "d": 1e300, "e": int64(1_000_000)}),
		"nothing": object("Crew", map[string]any{},
			map[string]any{"a": nil, "b": map[string]any{}, "c": []any{}}),
		"a definition": object("CustomResourceDefinition", map[string]any{}, map[string]any{}),
		"one with an annotation": object("CustomResourceDefinition",
			map[string]any{"annotations": map[string]any{"a": "b"}}, map[string]any{}),
		"one that is kept anyway": object("CustomResourceDefinition", map[string]any{"annotations": keep},
			map[string]any{}),
	} {
		text, err := Manifest([]*unstructured.Unstructured{o})
		if err != nil {
			t.Fatal(err)
		}
		if kept := strings.Contains(text,
			"helm.sh/resource-policy: keep"); kept != (o.GetKind() == "CustomResourceDefinition") {
			t.Errorf("%s: Helm keeps it: %t", name, kept)
		}
		read, err := Objects(text)
		if err != nil || len(read) != 1 {
			t.Fatalf("%s: %d objects, %v", name, len(read), err)
		}
		if diff := cmp.Diff(o.Object, read[0].Object); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// The notes of a chart are kept, wherever there is room for them.
func TestNotes(t *testing.T) {
	for name, size := range map[string]int{"in the record": 10, "in chunks": 10_000} {
		client := clientset.NewClientset()
		records := Records{Secrets: client.CoreV1().Secrets("ns"), Namespace: "ns", most: 2000}
		content := bundleOf(t, 10)
		content.Notes = bundleOf(t, size).Manifest
		upgrade(t, records, content, 3)
		found, err := records.Latest(t.Context(), "a")
		if err != nil || found.Info.Notes != content.Notes || found.Manifest != content.Manifest {
			t.Errorf("%s: %v, %+v", name, err, found)
		}
		if chunked := len(secretNames(t, client)) > 1; chunked != (size > 10) {
			t.Errorf("%s: %v", name, secretNames(t, client))
		}
		if err := records.Succeeded(t.Context(), found, 3, time.Now()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// What a record becomes, when it was deployed first and last, and the version it replaces.
func TestStates(t *testing.T) {
	first, second := time.Unix(1795218685, 0), time.Unix(1795218785, 0)
	old := func(version int, status helm.Status, label string) *helm.Release {
		r := NewRevision("a", "ns", Content{}, nil, first)
		r.Version, r.Info.Status = version, status
		r.Labels = map[string]string{labelVersion: label}
		return r
	}
	fresh := func() *helm.Release { return NewRecord("a", "ns", &Rendered{}, second) }
	for name, test := range map[string]struct {
		become func(r *helm.Release)
		want   string
	}{
		"new": {func(*helm.Release) {}, "1 pending-install, Initial install underway, 100-100 "},
		"deployed": {
			func(r *helm.Release) { Deployed(r, first) },
			"1 deployed, Install complete, 100-0 ",
		},
		"the second, deployed": {
			func(r *helm.Release) { r.Version = 2; Deployed(r, first) },
			"2 deployed, Upgrade complete, 100-0 ",
		},
		"after another": {
			func(r *helm.Release) { Follow(r, old(3, helm.StatusDeployed, "7")) },
			"4 pending-upgrade, Preparing upgrade, 0-100 ",
		},
		"instead of the first": {
			func(r *helm.Release) { Succeed(r, old(1, helm.StatusFailed, "7")) },
			"1 pending-install, Initial install underway, 0-100 7",
		},
		"instead of a later one": {
			func(r *helm.Release) { Succeed(r, old(2, helm.StatusFailed, "7")) },
			"2 pending-upgrade, Preparing upgrade, 0-100 7",
		},
		"instead of one that is there": {
			func(r *helm.Release) { Succeed(r, old(2, helm.StatusDeployed, "7")) },
			"2 pending-install, Initial install underway, 0-100 7",
		},
		"instead of an unknown one": {
			func(r *helm.Release) { Succeed(r, old(1, helm.StatusFailed, "")) },
			"1 pending-install, Initial install underway, 0-100 ",
		},
		"refused": {
			func(r *helm.Release) { Refused(r, "pod/a", "no: more") },
			"1 failed, Refused by the cluster: pod/a: no: more, 100-100 ",
		},
		"failed": {func(r *helm.Release) { Failed(r, "no") }, "1 failed, no, 100-100 "},
	} {
		record := fresh()
		test.become(record)
		info := record.Info
		got := fmt.Sprintf("%d %s, %s, %d-%d %s", record.Version, info.Status, info.Description,
			info.FirstDeployed.Unix()-first.Unix(), info.LastDeployed.Unix()-first.Unix(), record.Labels[labelVersion])
		if got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
		if pending := strings.Contains(test.want, "pending-upgrade"); Unsettled(record) != pending {
			t.Errorf("%s: others may still be marked as deployed: %t", name, !pending)
		}
	}
}

// A refusal is told apart from any other failure, with the object and the reason.
func TestRefusal(t *testing.T) {
	for description, want := range map[string][2]string{
		"Refused by the cluster: pod/a: exceeded quota: q": {"pod/a", "exceeded quota: q"},
		"no": {}, "": {},
	} {
		for status, counts := range map[helm.Status]bool{helm.StatusFailed: true, helm.StatusDeployed: false} {
			release := &helm.Release{Info: &helm.Info{Status: status, Description: description}}
			object, reason, ok := Refusal(release)
			if is := counts && want[0] != ""; ok != is || is && [2]string{object, reason} != want || !is &&
				object+reason != "" {
				t.Errorf("%s, %q: %q, %q, %t", status, description, object, reason, ok)
			}
		}
	}
}

// Two records are of one version if both were read from it.
func TestSameVersion(t *testing.T) {
	a, b := &helm.Release{Labels: map[string]string{labelVersion: "1"}},
		&helm.Release{Labels: map[string]string{labelVersion: "2"}}
	if !SameVersion(a, a) || SameVersion(a, b) {
		t.Error("a version is another")
	}
}

// What is in the way of a record is named, and what to do about it.
func TestTaken(t *testing.T) {
	err := Records{Namespace: "ns"}.Taken("a")
	if fault.CodeOf(err) != fault.Conflict || !strings.Contains(err.Error(),
		"Secret ns/sh.helm.release.v1.a.v1 exists") ||
		!strings.Contains(fault.From(err).Hint, "kubectl get secret sh.helm.release.v1.a.v1 --namespace ns") {
		t.Errorf("%v: %s", err, fault.From(err).Hint)
	}
}

// What Helm knows its objects by.
func TestOwner(t *testing.T) {
	owner := Owner("a", "ns")
	if owner.Name != "release a" || owner.Labels["app.kubernetes.io/managed-by"] != "Helm" ||
		owner.Annotations["meta.helm.sh/release-name"] != "a" ||
		owner.Annotations["meta.helm.sh/release-namespace"] != "ns" {
		t.Errorf("%+v", owner)
	}
}

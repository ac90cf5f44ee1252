package bundle_test

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/berthdev/berth/internal/apply"
	"github.com/berthdev/berth/internal/commands/bundle"
)

func object(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	o := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(text), &o.Object); err != nil {
		t.Fatal(err)
	}
	return o
}

// What a Secret holds is nowhere in a diff: not in its data, and not in what kubectl apply
// keeps of it.
func TestDiffOfASecret(t *testing.T) {
	secret := func(a, b string) *unstructured.Unstructured {
		data := fmt.Sprintf(`{"a": %q, "b": %q}`, base64.StdEncoding.EncodeToString([]byte(a)),
			base64.StdEncoding.EncodeToString([]byte(b)))
		return object(t, fmt.Sprintf("{apiVersion: v1, kind: Secret, metadata: {name: s, annotations: "+
			"{kubectl.kubernetes.io/last-applied-configuration: %q}}, data: %s, stringData: {c: %s}}",
			`{"kind":"Secret","data":`+data+`}`, data, a))
	}
	without := object(t, "{apiVersion: v1, kind: Secret, metadata: {name: s}, data: {}}")
	for name, c := range map[string]apply.Change{
		"created":  {Action: apply.Created, Object: secret("first", "same")},
		"deleted":  {Action: apply.Deleted, Before: secret("first", "same"), Object: secret("first", "same")},
		"changed":  {Action: apply.Updated, Before: secret("first", "same"), Object: secret("second", "same")},
		"added to": {Action: apply.Updated, Before: without, Object: secret("second", "same")},
		"emptied":  {Action: apply.Updated, Before: secret("second", "same"), Object: without},
	} {
		item, err := bundle.Compare(c)
		if err != nil || !strings.Contains(item.Diff, "a: '***") || strings.Contains(item.Diff, "last-applied") ||
			strings.Contains(item.Diff, "annotations") {
			t.Errorf("%s: %v\n%s", name, err, item.Diff)
		}
		for _, value := range []string{"first", "second", "same"} {
			if strings.Contains(item.Diff, value) ||
				strings.Contains(item.Diff, base64.StdEncoding.EncodeToString([]byte(value))) {
				t.Errorf("%s: the diff has %q in it:\n%s", name, value, item.Diff)
			}
		}
	}
}

// A kind of another group may be named like it, and hold anything.
func TestDiffOfAnotherSecret(t *testing.T) {
	before := object(t, "{apiVersion: example.com/v1, kind: Secret, metadata: {name: s}, data: {a: {b: [one]}}}")
	after := object(t, "{apiVersion: example.com/v1, kind: Secret, metadata: {name: s}, data: {a: {b: [two]}}}")
	item, err := bundle.Compare(apply.Change{Action: apply.Updated, Before: before, Object: after})
	if err != nil || !strings.Contains(item.Diff, "-  a: '*** (before)'\n+  a: '*** (after)'") {
		t.Errorf("%v\n%s", err, item.Diff)
	}
}

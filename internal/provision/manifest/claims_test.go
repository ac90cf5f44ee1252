package manifest

import (
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// A claim can follow its blueprint upwards, and in nothing else. What the blueprint does not
// say, the API server has filled in.
func TestGrowthOf(t *testing.T) {
	const have = "{accessModes: [ReadWriteOnce], storageClassName: fast, volumeMode: Filesystem, resources: " +
		"{requests: {storage: 8Mi}}}"
	for name, c := range map[string]struct {
		wanted string
		want   Growth
	}{
		"the same":           {have, Growth{}},
		"less is said":       {"{resources: {requests: {storage: 8Mi}}}", Growth{}},
		"the same, as bytes": {"{resources: {requests: {storage: 8388608}}}", Growth{}},
		"nothing is said":    {"{}", Growth{}},
		"larger": {
			"{accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}",
			Growth{From: "8Mi", To: "1Gi"},
		},
		"smaller": {
			"{resources: {requests: {storage: 4Mi}}}",
			Growth{Problems: []string{"claimSpec.resources.requests.storage is 8Mi, the blueprint says 4Mi"}},
		},
		"no size": {
			"{resources: {requests: {storage: large}}}",
			Growth{Problems: []string{"claimSpec.resources.requests.storage is 8Mi, the blueprint says large"}},
		},
		"another class": {
			"{storageClassName: slow}",
			Growth{Problems: []string{"claimSpec.storageClassName is fast, the blueprint says slow"}},
		},
		"another mode": {
			"{accessModes: [ReadWriteMany]}",
			Growth{Problems: []string{"claimSpec.accessModes is [ReadWriteOnce], the blueprint says [ReadWriteMany]"}},
		},
		"larger, another class": {
			"{storageClassName: slow, resources: {requests: {storage: 16Mi}}}",
			Growth{From: "8Mi", To: "16Mi", Problems: []string{"claimSpec.storageClassName is fast, the " +
				"blueprint says slow"}},
		},
	} {
		if got := GrowthOf(claimOfSpec(t, c.wanted), claimOfSpec(t, have)); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

// What is no quantity is compared with nothing.
func TestIsLarger(t *testing.T) {
	for _, c := range []struct {
		a, b    string
		larger  bool
		invalid bool
	}{
		{"2Gi", "1Gi", true, false},
		{"1Gi", "1024Mi", false, false},
		{"large", "1Gi", false, true},
		{"1Gi", "large", true, true},
	} {
		if got, err := isLarger(c.a, c.b); (err != nil) != c.invalid || err == nil && got != c.larger {
			t.Errorf("%s, %s: %t, %v", c.a, c.b, got, err)
		}
	}
}

func claimOfSpec(t *testing.T, spec string) *unstructured.Unstructured {
	t.Helper()
	var content map[string]any
	if err := yaml.Unmarshal([]byte(spec), &content); err != nil {
		t.Fatal(err)
	}
	return &unstructured.Unstructured{Object: map[string]any{"kind": "PersistentVolumeClaim", "spec": content}}
}

// What an existing claim has otherwise than is wanted, by its fields; quantities are compared
// as such, and what is not set says so.
func TestClaimChanges(t *testing.T) {
	const have = "{accessModes: [ReadWriteOnce], storageClassName: fast, resources: {requests: {storage: 1024Mi}}}"
	for wanted, want := range map[string][]string{
		have: nil,
		"{resources: {requests: {storage: 1Gi}}}": nil,
		"{volumeName: v, storageClassName: slow}": {"claimSpec.storageClassName is fast, the " +
			"blueprint says slow", "claimSpec.volumeName is not set, the blueprint says v"},
		"{resources: {requests: {storage: large}}}": {"claimSpec.resources.requests.storage is 1024Mi, the " +
			"blueprint says large"},
		"{resources: {limits: {storage: 1Gi}}}": {"claimSpec.resources.limits.storage is not set, the " +
			"blueprint says 1Gi"},
		"{storageClassName: {a: b}, accessModes: [a, b, c]}": {"claimSpec.accessModes is [ReadWriteOnce], the " +
			"blueprint says [a b c]", "claimSpec.storageClassName.a is not set, the blueprint says b"},
	} {
		if diff := cmp.Diff(want, ClaimChanges(claimOfSpec(t, wanted), claimOfSpec(t, have))); diff != "" {
			t.Errorf("%s: %s", wanted, diff)
		}
	}
	if got := jsonValue(func() {}); got != nil {
		t.Errorf("what is no JSON is %v", got)
	}
}

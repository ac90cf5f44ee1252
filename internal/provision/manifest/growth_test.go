package manifest

import (
	"reflect"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// A claim can follow its blueprint upwards, and in nothing else. What the blueprint does not
// say, the API server has filled in.
func TestGrowthOf(t *testing.T) {
	const have = "{accessModes: [ReadWriteOnce], storageClassName: fast, volumeMode: Filesystem, resources: {requests: {storage: 8Mi}}}"
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
			Growth{From: "8Mi", To: "16Mi", Problems: []string{"claimSpec.storageClassName is fast, the blueprint says slow"}},
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

// What a blueprint asks of a claim is that of the storage which has it.
func TestClaimSpec(t *testing.T) {
	values := map[string]any{"storages": []any{
		map[string]any{"name": "tmp"},
		map[string]any{"claim": "a", "claimSpec": "of a"},
		map[string]any{"claim": "b", "claimSpec": "of b"},
		"nonsense",
	}}
	for claim, want := range map[string]any{"a": "of a", "b": "of b", "c": nil} {
		if got := ClaimSpec(values, claim); got != want {
			t.Errorf("%s: %v, want %v", claim, got, want)
		}
	}
	if got := ClaimSpec(nil, "a"); got != nil {
		t.Errorf("of nothing: %v", got)
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

package manifest

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berthdev/berth/internal/blueprint"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
)

// A claim is known by the storage that it is for, and else by its own name.
func TestStorageOfAClaim(t *testing.T) {
	values := map[string]any{"storages": []any{
		"nonsense",
		map[string]any{"name": "tmp"},
		map[string]any{"name": "data", "claim": "a"},
	}}
	for claim, want := range map[string]string{"a": "data", "b": "b"} {
		if got := StorageOf(values, claim); got != want {
			t.Errorf("%s is for %s, want %s", claim, got, want)
		}
	}
	if got := StorageOf(nil, "a"); got != "a" {
		t.Errorf("of no values: %s", got)
	}
	for claim, want := range map[string]string{
		claimName("alice-1", "data"): "data",
		"pvc-bob-1-data":             "pvc-bob-1-data",
	} {
		if got := StorageNamed("alice-1", claim); got != want {
			t.Errorf("%s is named after %s, want %s", claim, got, want)
		}
	}
}

// The values of a job become those of another one, and stay what they are beside that.
func TestOfJob(t *testing.T) {
	values := map[string]any{
		"image":  "x",
		"labels": map[string]any{kube.LabelJobID: "one", kube.LabelBlueprint: "dev", "a": "b"},
	}
	got, b := OfJob(values, "two")
	want := map[string]any{
		"image":  "x",
		"labels": map[string]any{kube.LabelJobID: "two", kube.LabelBlueprint: "dev", "a": "b"},
	}
	if diff := cmp.Diff(want, got); diff != "" || b.Name != "dev" || JobOf(got) != "two" || JobOf(values) != "one" {
		t.Errorf("of blueprint %q, jobs %q and %q: %s", b.Name, JobOf(values), JobOf(got), diff)
	}
	theirs := map[string]any{jobValue: "one", blueprintValue: "dev", "image": "x"} // of k8shell's chart
	got, b = OfJob(theirs, "two")
	want = map[string]any{jobValue: "two", blueprintValue: "dev", "image": "x"}
	if diff := cmp.Diff(want, got); diff != "" || b.Name != "dev" || theirs[jobValue] != "one" {
		t.Errorf("of blueprint %q: %s", b.Name, diff)
	}
	for _, values := range []map[string]any{nil, {"image": "x"}, {"labels": "nonsense"}} {
		if got, b := OfJob(values, "two"); cmp.Diff(values, got) != "" || b.Name != "" || JobOf(got) != "" {
			t.Errorf("of %v: %v, %q", values, got, b.Name)
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

// What differs is named, with values where they are short and not secret.
func TestDrift(t *testing.T) {
	running := map[string]any{
		"id": "a", "labels": map[string]any{"job": "1"},
		"image": "alpine:3", "env": map[string]any{"TOKEN": "hunter2", "SAME": "x", "GONE": "1"},
		"resources":   map[string]any{"cpu": "1", "memory": ""},
		"initScripts": []any{map[string]any{"file": "01-a", "script": "echo 1"}},
		"storages": []any{
			map[string]any{"name": "data", "path": "/data"},
			map[string]any{"name": "home", "path": "/home/dev"},
		},
		"agent": nil,
	}
	for _, test := range []struct {
		name   string
		change func(values map[string]any)
		want   string
	}{
		{"nothing", func(map[string]any) {}, ""},
		{"another job", func(v map[string]any) { v["labels"] = map[string]any{"job": "2"} }, ""},
		{"the image", func(v map[string]any) { v["image"] = "alpine:4" }, "image alpine:3 → alpine:4"},
		{
			"a variable", func(v map[string]any) { v["env"] = map[string]any{"TOKEN": "hunter3", "SAME": "x"} },
			"env.GONE; env.TOKEN",
		},
		{
			"a limit more", func(v map[string]any) { v["resources"] = map[string]any{"cpu": "1", "memory": "1Gi"} },
			"resources.memory not set → 1Gi",
		},
		{"a script", func(v map[string]any) { v["initScripts"] = []any{} }, "initScripts"},
		{"limits", func(v map[string]any) { v["limits"] = map[string]any{"maxActiveHours": 8} }, ""},
		{
			"an agent", func(v map[string]any) { v["agent"] = map[string]any{"image": "agent:1"} },
			"agent.image not set → agent:1",
		},
		{
			"a secret of a registry", func(v map[string]any) { v["imagePullSecrets"] = []any{"one", "two"} },
			"imagePullSecrets.1 not set → one; imagePullSecrets.2 not set → two",
		},
		{"a storage less", func(v map[string]any) {
			v["storages"] = []any{map[string]any{"name": "home", "path": "/home/dev"}}
		}, "storages.data.name data → not set; storages.data.path /data → not set"},
	} {
		wanted, _ := jsonValue(running).(map[string]any)
		test.change(wanted)
		if got := strings.Join(Drift(running, wanted), "; "); got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}

// Limits are in the values, from which they can be read again, and in nothing that is made
// of them: other limits are no other pod.
func TestLimitsAreNotInThePod(t *testing.T) {
	b := blueprint.Blueprint{Name: "dev", Image: "alpine"}
	without := render(t, spec(t, "alice~dev", b))
	b.Limits = blueprint.Limits{MaxActiveHours: new(0.5), MaxAgeHours: new(0.0)}
	with := render(t, spec(t, "alice~dev", b))
	if diff := cmp.Diff(without.Objects, with.Objects); diff != "" {
		t.Errorf("limits change objects: %s", diff)
	}
	if diff := cmp.Diff(b.Limits, LimitsIn(with.Values)); diff != "" {
		t.Error(diff)
	}
	if got := Drift(without.Values, with.Values); got != nil {
		t.Errorf("limits are a difference: %q", got)
	}
}

// What somebody else has written limits nothing.
func TestLimitsInAnyValues(t *testing.T) {
	for name, value := range map[string]any{
		"nothing": nil, "a text": "soon", "a list": []any{1.0},
		"a negative number": map[string]any{"maxAgeHours": -1.0},
		"another type":      map[string]any{"maxAgeHours": "1", "maxActiveHours": 1.0},
	} {
		if got := LimitsIn(map[string]any{limitsValue: value}); got != (blueprint.Limits{}) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// What this chart did not make of values is not made of them now: it is said what to do.
func TestRenderable(t *testing.T) {
	labels := map[string]any{kube.LabelCanonicalID: "alice-1"}
	for name, c := range map[string]struct {
		values map[string]any
		want   bool
	}{
		"a shell":   {map[string]any{"labels": labels, "agent": nil}, true},
		"k8shell's": {map[string]any{"__canonicalid__": "alice-1", "image": "x"}, false},
		"an agent": {map[string]any{
			"labels": labels, "agent": map[string]any{"image": "k8shelld:1"},
			k8shellValue: map[string]any{"__configyaml__": "system: {}"},
		}, true},
		"an agent of an earlier berth": {
			map[string]any{"labels": labels, "agent": map[string]any{"image": "k8shelld:1"}}, false,
		},
	} {
		err := Renderable(c.values)
		if (err == nil) != c.want || err != nil && !strings.Contains(fault.From(err).Hint, "berth update") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

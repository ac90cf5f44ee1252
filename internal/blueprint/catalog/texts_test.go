package catalog

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/berthdev/berth/internal/blueprint"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/yamldoc"
)

// A problem is about a field if it is of that field, or of something that has the field in it.
func TestAbout(t *testing.T) {
	paths := []string{"env.A", "initScripts[0].script"}
	for problem, want := range map[string]bool{
		"env.A: x": true, "env: x": true, "initScripts[0]: x": true, "initScripts: x": true,
		"initScripts[0].script: x": true,
		"env.AB: x":                false, "en: x": false, "env.A.B: x": false, "initScripts[1]: x": false,
		"initScripts[0].scr: x": false,
		"image: x":              false,
	} {
		if got := about(problem, paths); got != want {
			t.Errorf("%s: %t", problem, got)
		}
	}
}

func TestShorten(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "abcde": "abcde", "abcdef": "abcd…", "a \n  b": "a b",
		"äöüäö": "äöüäö", "äöüäöü": "äöüä…",
	} {
		if got := shorten(text, 5); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestSplitPath(t *testing.T) {
	for path, want := range map[string][]string{
		"": {""}, "a": {"a"}, "a.b": {"a", "b"}, `a\.b.c`: {"a.b", "c"}, `a\\.b`: {`a\`, "b"}, "a.": {"a", ""},
		".a": {"", "a"}, `a\`: {"a"},
	} {
		if got := splitPath(path); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", path, got, want)
		}
	}
}

// A flag sets fields of claims, of any type, and those behind pointers are none.
func TestOverrideInside(t *testing.T) {
	b, err := resolve(t, platformSet(t), setting(
		"storages.x.type=local", "storages.x.path=/data", "storages.x.claimSpec.accessModes=[ReadWriteOnce]",
		"storages.x.claimSpec.resources.requests.storage=1Gi",
	))
	if err != nil || fmt.Sprint(b.Storages["x"].ClaimSpec) !=
		"map[accessModes:[ReadWriteOnce] resources:map[requests:map[storage:1Gi]]]" {
		t.Errorf("%+v, %v: %q", b.Storages["x"], err, problemsOf(err))
	}
	for text, says := range map[string]string{
		"storages.x.enabled.y=1": "--set storages.x.enabled.y: unknown field: " +
			"storages.x.enabled is a boolean",
		"storages.x.fsOwnerUid.y=1": "--set storages.x.fsOwnerUid.y: unknown field: " +
			"storages.x.fsOwnerUid is an integer",
		"apps" + strings.Repeat(".a", 64) + "=1": "path has more than 64 parts",
		"env" + strings.Repeat(".a", 63) + "=1":  "unknown field: env.a is a string",
	} {
		if _, err := resolve(t, platformSet(t), setting(text)); len(problemsOf(err)) != 1 ||
			!strings.Contains(problemsOf(err)[0], says) {
			t.Errorf("%s: %q", text, problemsOf(err))
		}
	}
}

// One problem is counted in the singular, and a commit is shortened if it is longer.
func TestInvalid(t *testing.T) {
	one := []yamldoc.Problem{{Message: "a"}}
	for commit, want := range map[string]string{
		"": "invalid blueprints: 1 problem", "0123456789ab": "invalid blueprints, at commit 0123456789ab: 1 problem",
		"0123456789abc": "invalid blueprints, at commit 0123456789ab: 1 problem",
		"01":            "invalid blueprints, at commit 01: 1 problem",
	} {
		if err := newSet().invalid(one, entry{commit: commit}); err.Error() != want ||
			fault.CodeOf(err) != fault.InvalidArgument {
			t.Errorf("%q: %v, want %q", commit, err, want)
		}
	}
	if err := newSet().invalid(append(one, yamldoc.Problem{Message: "b"}),
		entry{}); err.Error() != "invalid blueprints: 2 problems" {
		t.Error(err)
	}
}

// At most 32 blueprints inherit from each other.
func TestLongestLineage(t *testing.T) {
	for n, want := range map[int]string{31: "", 32: "inheritance chain longer than 32 blueprints"} {
		var text strings.Builder
		text.WriteString("blueprints:\n- {name: b0, template: base}\n") // which is one of them
		for i := 1; i < n; i++ {
			fmt.Fprintf(&text, "- {name: b%d, template: b%d}\n", i, i-1)
		}
		s := platformSet(t)
		if problems := s.add(blueprint.Source{Name: "x.yaml", Text: []byte(text.String())}); len(problems) > 0 {
			t.Fatal(problems)
		}
		_, err := resolve(t, s, Order{Name: fmt.Sprintf("b%d", n-1)})
		if all := strings.Join(problemsOf(err), "\n"); (want == "") != (err == nil) || !strings.Contains(all, want) {
			t.Errorf("%d: %v, %q", n+1, err, all)
		}
	}
}

// Flags that are wrong are refused together, and which can be right is said.
func TestInvalidFlags(t *testing.T) {
	_, err := resolve(t, platformSet(t), setting("a=1", "image=x", "b=2"))
	if err == nil || err.Error() != "invalid flags: 2 problems" ||
		!strings.Contains(fault.From(err).Hint, "flags can set the fields of a custom blueprint: splash, image") {
		t.Errorf("%v: %q", err, fault.From(err).Hint)
	}
}

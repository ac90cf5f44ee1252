package expression

import (
	"runtime/metrics"
	"strings"
	"testing"
	"time"
)

func language(t testing.TB) *Language {
	t.Helper()
	l, err := New()
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func known() Facts {
	return Facts{
		User: User{
			Username: "alice", UID: 1000, GID: 100, Email: "alice@example.com", Organization: "acme",
			Roles: []string{"dev", "ops"}, Blueprints: []string{"*"},
		},
		WorkspaceName: "alice-a975fae",
		Metadata:      Metadata{Name: "repo-org-proj", RepoOwner: "org", RepoName: "proj", Ref: "Main"},
	}
}

func TestEvaluate(t *testing.T) {
	blueprint := map[string]any{"image": "alpine", "env": map[string]any{"A": "1"}}
	for text, want := range map[string]any{
		`user.username + "@" + user.organization`: "alice@acme",
		`user.uid`:                                 int64(1000),
		`user.gid + 1`:                             int64(101),
		`"ops" in user.roles ? "2Gi" : "512Mi"`:    "2Gi",
		`user.roles.exists(r, r.startsWith("d"))`:  true,
		`user.blueprints[0]`:                       "*",
		`user.email.split("@")[0]`:                 nil, // no extension
		`workspaceName`:                            "alice-a975fae",
		`metadata.repoOwner + "/" + metadata.name`: "org/repo-org-proj",
		`metadata.repoName + metadata.ref`:         "projMain",
		`blueprint.image`:                          "alpine",
		`blueprint.env.A`:                          "1",
		`has(blueprint.env.B)`:                     false,
	} {
		got, err := language(t).Evaluate(t.Context(), text, Scalar, known(), blueprint)
		if got != want || (err != nil) != (want == nil) {
			t.Errorf("%s gives %v (%T), %v; want %v", text, got, got, err, want)
		}
	}
}

func TestWhatIsWrongIsFoundWithoutAUser(t *testing.T) {
	for text, tc := range map[string]struct {
		wanted Result
		says   string
	}{
		`user.nme`:      {Text, "character 5 of the expression: undefined field 'nme'"},
		`usr.name`:      {Text, "undeclared reference to 'usr'"},
		`user.uid +`:    {Text, "Syntax error"},
		`user.roles`:    {Text, "expected a string, the expression returns list(string)"},
		`user.username`: {Number, "expected an integer, the expression returns string"},
		`user.uid`:      {Bool, "expected a boolean, the expression returns int"},
		`user.uid > 0`:  {Number, "returns bool"},
		`0.5`:           {Number, "expected an integer, the expression returns double"},
		`1.0 < 2.0`:     {Float, "expected a number, the expression returns bool"},
		`1 + "a"`:       {Text, "no matching overload"},
	} {
		if err := language(t).Check(text, tc.wanted); err == nil || !strings.Contains(err.Error(), tc.says) ||
			strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want %q", text, err, tc.says)
		}
	}
}

// Whatever a user writes, evaluation ends soon and takes little memory.
func TestHostileExpressionsAreRefused(t *testing.T) {
	list := "[1,2,3,4,5,6,7,8,9,10]"
	loops := strings.Repeat(list+".all(x, ", 9) + "true" + strings.Repeat(")", 9)
	grown := func(begin, step string, times int, end string) string {
		return "[" + begin + "]" + strings.Repeat(".map(a, "+step+")", times) + end
	}
	for name, text := range map[string]string{
		"loops in loops":           loops,
		"a text doubled":           grown(`"0123456789"`, "a + a", 14, "[0]"),
		"a list doubled":           grown("[1]", "a + a", 14, ".all(z, z == z)"),
		"lists of lists, compared": grown("[1]", "[a, a]", 14, ".all(z, z == z)"),
		"lists of lists, searched": grown("[1]", "[a, a]", 14, ".all(z, z in [z])"),
		"mappings of mappings":     grown("{1: 1}", "{1: a, 2: a}", 14, ".all(z, z == z)"),
		"lists in dynamic ones":    grown("dyn([1])", "dyn([a, a])", 12, ".all(z, z != z)"),
		"a large pattern":          `"a".matches("((a{30}){30}){30}")`,
		"deep":                     strings.Repeat("(", 400) + "1" + strings.Repeat(")", 400),
		"deep ternary":             strings.Repeat("true ? ", 400) + "1" + strings.Repeat(": 1", 400),
		"long":                     strings.Repeat("1 + ", 5000) + "1",
		"many macros":              strings.Repeat("[1].map(a, ", 45) + "1" + strings.Repeat(")", 45) + " == [1]",
	} {
		t.Run(name, func(t *testing.T) {
			l := language(t)
			before, began := allocated(), time.Now()
			got, err := l.Evaluate(t.Context(), text, Scalar, known(), nil)
			took, bytes := time.Since(began), allocated()-before
			t.Logf("%s, %d MB allocated: %v", took, bytes>>20, err)
			if err == nil {
				t.Errorf("it gives %v", got)
			}
			// The clock of a busy machine proves little; what is allocated bounds the work as well.
			if bytes > 8<<20 {
				t.Errorf("%d MB were allocated", bytes>>20)
			}
		})
	}
}

func FuzzEvaluate(f *testing.F) {
	for _, text := range []string{
		"user.uid", "user.roles.map(r, r + r)[0]", "blueprint.image", "[1].all(x, x in [x])",
		"-(-1)",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		_, _ = language(t).Evaluate(t.Context(), text, Text, known(), map[string]any{"image": "x"})
	})
}

func allocated() uint64 {
	samples := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(samples)
	return samples[0].Value.Uint64()
}

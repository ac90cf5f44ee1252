package catalog

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime/metrics"
	"strings"
	"testing"
	"time"

	"github.com/berthdev/berth/internal/fault"
)

// hostile are files that must be refused, and the errors for them.
func hostile() map[string]struct{ text, says string } {
	laughs := "x0: &x0 [lol, lol, lol, lol, lol, lol, lol, lol, lol]\n"
	for i := 1; i < 20; i++ {
		laughs += fmt.Sprintf("x%d: &x%d [%s*x%d]\n", i, i, strings.Repeat(fmt.Sprintf("*x%d, ", i-1), 8), i-1)
	}
	long := "- name: a\n  extFiles:\n    /a: &long " + strings.Repeat("x", 500_000) + "\n"
	for i := range 5000 {
		long += fmt.Sprintf("    /b%d: *long\n", i)
	}
	chain := "blueprints:\n- {name: b0}\n"
	for i := 1; i < 40; i++ {
		chain += fmt.Sprintf("- {name: b%d, template: b%d}\n", i, i-1)
	}
	return map[string]struct{ text, says string }{
		"aliases of aliases": {laughs + "blueprints: *x19\n", "larger than 4 MiB with its aliases expanded"},
		"aliases of a text":  {"blueprints:\n" + long, "larger than 4 MiB with its aliases expanded"},
		"alias of itself":    {"blueprints: &a [*a]\n", `alias "a" refers to itself`},
		"merge of itself":    {"blueprints:\n- &a {name: a, <<: *a}\n", `alias "a" refers to itself`},
		"deep lists": {
			"blueprints: " + strings.Repeat("[", 100) + strings.Repeat("]", 100),
			"nested more than 64 levels deep",
		},
		"very deep lists":  {"blueprints: " + strings.Repeat("[", 500_000), "too many values"},
		"deep, not closed": {"blueprints: " + strings.Repeat("[", 100_000), "a.yaml"},
		"deep mappings":    {"blueprints:\n" + strings.Repeat("- ", 5000) + "x\n", "nested more than 64"},
		"deep by aliases": {"a: &a " + strings.Repeat("[", 40) + strings.Repeat("]", 40) + "\nblueprints: " +
			strings.Repeat("[", 40) + "*a" + strings.Repeat("]", 40), "nested more than 64"},
		"huge":        {"blueprints: " + strings.Repeat("x", 2<<20), "larger than 1 MiB"},
		"many values": {"blueprints: [" + strings.Repeat("a,", 500_000) + "a]", "too many values"},
		"many lines":  {"blueprints:\n" + strings.Repeat("- a\n", 250_000), "too many values"},
		"a long line": {
			"blueprints: [" + strings.Repeat("a, ", 90_000) + "a]",
			"expected a blueprint, found a string",
		},
		"many generations": {chain, "inheritance chain longer than 32 blueprints"},
		"two documents":    {"blueprints: []\n---\nblueprints: []\n", "more than one document"},
		"no YAML":          {"\x00\x01\x02", "control characters"},
	}
}

// Every one is refused within a second and 100 MB. The clock of a busy machine proves little; what is allocated bounds
// the work as well.
func TestHostileFilesAreRefused(t *testing.T) {
	for name, tc := range hostile() {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "a.yaml")
			if err := os.WriteFile(file, []byte(tc.text), 0o600); err != nil {
				t.Fatal(err)
			}
			before, began := allocated(), time.Now()
			_, err := Check(t.Context(), Configured{}, []string{file})
			took, bytes := time.Since(began), allocated()-before
			f := fault.From(err)
			all := strings.Join(f.Problems, "\n")
			if f.Code != fault.InvalidArgument || !strings.Contains(all, tc.says) {
				t.Errorf("%v: %.300s\nwant %q", err, all, tc.says)
			}
			t.Logf("%s, %d MB allocated, %d problems", took, bytes>>20, len(f.Problems))
			if bytes > 90<<20 {
				t.Errorf("%d MB were allocated", bytes>>20)
			}
		})
	}
}

// allocated is all that has been allocated so far, whether it was freed or not: more than what was ever held at one
// time.
func allocated() uint64 {
	samples := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(samples)
	return samples[0].Value.Uint64()
}

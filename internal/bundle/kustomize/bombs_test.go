package kustomize_test

import (
	"context"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"time"

	"github.com/berthdev/berth/internal/bundle/kustomize"
	"github.com/berthdev/berth/internal/fault"
)

// bombs are kustomizations that make much of little, or that do not end.
func bombs() map[string]map[string]string {
	doubling := map[string]string{"kustomization.yaml": "resources: [a0, " +
		"b0]\n", "s/kustomization.yaml": "resources: [s.yaml]\n", "s/s.yaml": service}
	for i := range 20 {
		for _, side := range []string{"a", "b"} {
			next := fmt.Sprintf("[../a%d, ../b%d]", i+1, i+1)
			if i == 19 {
				next = "[../s]"
			}
			doubling[fmt.Sprintf("%s%d/kustomization.yaml", side, i)] = "namePrefix: " + side + "\nresources: " +
				"" + next + "\n"
		}
	}
	chain := map[string]string{"kustomization.yaml": "resources: [c0]\n"}
	for i := range 100 {
		chain[fmt.Sprintf("c%d/kustomization.yaml", i)] = fmt.Sprintf("resources: [../c%d]\n", i+1)
	}
	chain["c100/kustomization.yaml"], chain["c100/s.yaml"] = "resources: [s.yaml]\n", service
	config := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {a: xxxxxxxxxxxxxxxx}\n"
	var copies, replacements strings.Builder
	for i := range 40 {
		fmt.Fprintf(&copies, "    - {op: copy, from: /data, path: /data/x%d}\n", i)
		replacements.WriteString("- source: {kind: ConfigMap, fieldPath: data.a}\n  targets: [{select: {kind: " +
			"ConfigMap}, " +
			"fieldPaths: [data.a], options: {delimiter: x, index: -1}}]\n")
	}
	var many strings.Builder
	for i := range 9000 {
		fmt.Fprintf(&many, "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a%d}\n", i)
	}
	return map[string]map[string]string{
		"bases that double": doubling,
		"bases in bases":    chain,
		"copies of copies": {
			"kustomization.yaml": "resources: [a.yaml]\npatches:\n- target: {kind: ConfigMap}\n  patch: " +
				"|-\n" + copies.String(),
			"a.yaml": config,
		},
		"replacements that double": {
			"kustomization.yaml": "resources: [a.yaml]\nreplacements:\n" + replacements.String(), "a.yaml": config,
		},
		"a large annotation of many objects": {
			"kustomization.yaml": "resources: [a.yaml]\ncommonAnnotations: {a: " + strings.Repeat("x", 1<<19) + "}\n",
			"a.yaml":             many.String(),
		},
		"aliases in a resource": {
			"kustomization.yaml": "resources: [a.yaml]\n",
			"a.yaml": config + "x: &x " + strings.Repeat("x", 1<<10) + "\ny: &y [" + strings.Repeat("*x,",
				1<<10) + "]\nz: [" +
				strings.Repeat("*y,", 1<<10) + "]\n",
		},
		"many files": {
			"kustomization.yaml": "resources: [s.yaml]\n", "s.yaml": service, "large": strings.Repeat("x", 33<<20),
		},
		"nested brackets": {
			"kustomization.yaml": "resources: [a.yaml]\n", "a.yaml": strings.Repeat("[", 1<<20),
		},
	}
}

// Whatever a kustomization is, it ends, and says why nothing was built.
func TestBombs(t *testing.T) {
	for name, files := range bombs() {
		t.Run(name, func(t *testing.T) {
			says := map[string]string{
				"bases that double": "kustomization.yaml: more than 1000 kustomizations are read for it",
				"bases in bases":    "is in more than 50 kustomizations, one in the other",
				"many files":        "the directories of the kustomization have more than 32 MiB",
				"nested brackets":   "exceeded max depth",
			}[name]
			begun := time.Now()
			text, err := kustomize.Build(t.Context(), content(files), kustomize.Limits{Time: 5 * time.Second})
			if code := fault.CodeOf(err); code != fault.InvalidArgument && code != fault.Failed || len(text) > 0 ||
				strings.Contains(err.Error(), "has failed (") || !strings.Contains(err.Error(), says) {
				t.Errorf("%d bytes, %v, want %s", len(text), err, says)
			}
			if took := time.Since(begun); took > 10*time.Second {
				t.Errorf("it took %s", took)
			}
			t.Log(err)
		})
	}
}

// A build ends with what asks for it, and at its limits.
func TestLimits(t *testing.T) {
	files := content(map[string]string{"kustomization.yaml": "resources: [a.yaml]\n", "a.yaml": deployment})
	for name, test := range map[string]struct {
		limits kustomize.Limits
		reason string
		says   string
	}{
		"time":   {kustomize.Limits{Time: time.Nanosecond}, kustomize.ReasonTime, "was not built within 1ns"},
		"memory": {kustomize.Limits{Memory: 1 << 20}, kustomize.ReasonMemory, "takes more than 1 MiB"},
		"output": {kustomize.Limits{Output: 100}, "", "the objects of the kustomization are larger"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := kustomize.Build(t.Context(), files, test.limits)
			if err == nil || fault.ReasonOf(err) != test.reason || !strings.Contains(err.Error(), test.says) {
				t.Error(err)
			}
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := kustomize.Build(ctx, files, kustomize.Limits{}); err != context.Canceled { //nolint:errorlint // itself
		t.Error(err)
	}
}

// slow takes its time for each file.
type slow struct {
	fs.FS
	opened *int
}

// Open implements fs.FS.
func (s slow) Open(name string) (fs.File, error) {
	*s.opened++
	time.Sleep(100 * time.Microsecond)
	return s.FS.Open(name)
}

// What is read before a build is bounded as the build is.
func TestCheckEnds(t *testing.T) {
	many := func(n int, comment string) fs.FS {
		files, all := map[string]string{}, make([]string, n)
		for i := range n {
			all[i] = fmt.Sprintf("b%d", i)
			files[all[i]+"/kustomization.yaml"] = "{}\n" + comment
		}
		files["kustomization.yaml"] = "resources: [" + strings.Join(all, ",") + "]\n"
		return content(files)
	}
	for name, test := range map[string]struct {
		files fs.FS
		time  time.Duration
		says  string
		most  int
	}{
		"too many":  {many(5000, ""), time.Minute, "kustomization.yaml: more than 1000 kustomizations are read", 5000},
		"too large": {many(90, "#"+strings.Repeat("x", 1<<19)), time.Minute, "more than 32 MiB of kustomizations", 400},
		"too late":  {many(900, ""), 10 * time.Millisecond, "was not built within 10ms", 200},
	} {
		t.Run(name, func(t *testing.T) {
			opened := 0
			_, err := kustomize.Build(t.Context(), slow{test.files, &opened}, kustomize.Limits{Time: test.time})
			if err == nil || !strings.Contains(err.Error(), test.says) || opened > test.most {
				t.Errorf("%d files, %v, want %s", opened, err, test.says)
			}
		})
	}
}

// A process that did not end itself is explained without its trace.
func TestProcessesThatDie(t *testing.T) {
	const trace = "\n\ngoroutine 1 [running]:\nmain.main()\n\t/src/main.go:3\n"
	for name, test := range map[string]struct {
		status      int
		ended, said string
		code        fault.Code
		want        string
	}{
		"a stack that overflows": {
			2, "exit status 2",
			"runtime: goroutine stack exceeds 67108864-byte limit\nfatal error: stack overflow" + trace,
			fault.InvalidArgument, "the kustomization cannot be built: something in it is nested too deep",
		},
		"a signal": {
			-1, "signal: killed", "", fault.Failed,
			"the process that builds kustomizations was killed (signal: killed)",
		},
		"a signal that is traced": {
			-1, "signal: segmentation fault (core dumped)", "SIGSEGV" + trace, fault.Failed,
			"the process that builds kustomizations was killed (signal: segmentation fault (core dumped))",
		},
		"something else": {
			2, "exit status 2", "fatal error: all goroutines are asleep" + trace, fault.Failed,
			"the process that builds kustomizations has failed (exit status 2): fatal error: all goroutines are asleep",
		},
	} {
		t.Run(name, func(t *testing.T) {
			err := kustomize.Explain(test.status, test.ended, test.said)
			if err.Error() != test.want || fault.CodeOf(err) != test.code {
				t.Errorf("%s: %v, want %s", fault.CodeOf(err), err, test.want)
			}
		})
	}
}

func FuzzBuild(f *testing.F) {
	for _, seed := range []string{
		"resources: [a.yaml]", "bases: [b]\nnamePrefix: x", "resources: [b, a.yaml]\nimages: [{name: x, newTag: y}]",
		"Resources: [a.yaml]", "resources: ['.', '..', '../..', '']", "patches: [{patch: '{}'}]", "kind: Component",
	} {
		f.Add([]byte(seed), []byte(service), []byte("resources: [../a.yaml]"))
	}
	f.Fuzz(func(t *testing.T, root, a, b []byte) {
		files := content(map[string]string{
			"kustomization.yaml": string(root), "a.yaml": string(a), "b/kustomization.yaml": string(b),
		})
		_, err := kustomize.Build(t.Context(), files, kustomize.Limits{Time: 5 * time.Second})
		if err != nil && (fault.CodeOf(err) != fault.InvalidArgument || strings.Contains(err.Error(), "has failed")) {
			t.Error(err)
		}
	})
}

package dump

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Logs are recognized by where they are: in a directory of "oc adm inspect", or between the lines of "kubectl
// cluster-info dump".
func TestLogs(t *testing.T) {
	long := strings.Repeat("2026-11-20T23:50:18.5Z "+strings.Repeat("x", 200)+"\n", 4000) +
		"2026-11-20T23:50:19Z the end\n"
	app := Instance{Namespace: "shop", Pod: "api", Container: "app"}
	before := app
	before.Previous = true
	const inspected = "g/quay-io-x/namespaces/shop/pods/api/app/app/logs/"
	for name, c := range map[string]struct {
		file, text string
		of         Instance
		want       []string
	}{
		"as it runs": {
			inspected + "current.log", "a\nb\n", app, []string{"a", "b"},
		},
		"as it was": {inspected + "previous.log", "a", before, []string{"a"}},
		"not verified by TLS": {
			inspected + "previous.insecure.log", "a", before, []string{"a"},
		},
		"with times": {
			inspected + "current.log", "2026-11-20T23:50:18.123456789Z a\n2026-11-20T23:50:19Z b c\n", app,
			[]string{"a", "b c"},
		},
		"with times of its own": {
			inspected + "current.log", "2026-11-20T23:50:18Z a\n  at main()\n", app,
			[]string{"2026-11-20T23:50:18Z a", "  at main()"},
		},
		"that looks like an object": {inspected + "current.log", podJSON, app, []string{podJSON}},
		"with a long past: ten lines": {
			inspected + "current.log", long, app, append(nTimes(9, strings.Repeat("x", 200)), "the end"),
		},
		"of one line without an end": {
			inspected + "current.log", strings.Repeat("x", 40_000), app,
			[]string{strings.Repeat("x", logBytes)},
		},
		"that is empty":                 {inspected + "current.log", "", app, nil},
		"of an instance somewhere else": {"g/logs/current.log", "a", app, nil},
		"between objects": {
			"dump.txt", podJSON + "\n==== START logs for container app of pod shop/api ====\nkind: a\n" + otherJSON +
				"\n==== END logs for container app of pod shop/api ====\n" + otherJSON, app,
			[]string{"kind: a", otherJSON},
		},
		"of cluster-info dump": {
			"shop/api/logs.txt", "==== START logs for container app of pod shop/api ====\n1\n2\n3\n4\n5\n6\n7\n8\n9\n" +
				"10\n11\n" +
				"==== END logs for container app of pod shop/api ====\n", app,
			[]string{"2", "3", "4", "5", "6", "7", "8", "9", "10", "11"},
		},
		"of cluster-info dump, with times of its own": {
			"shop/api/logs.txt", "==== START logs for container app of pod shop/api ====\n2026-11-20T23:50:18Z a\n" +
				"==== END logs for container app of pod shop/api ====\n", app, []string{"2026-11-20T23:50:18Z a"},
		},
		"cut off": {"shop/api/logs.txt", "==== START logs for container app of pod shop/api ====\n1\n", app, nil},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, filepath.Join(dir, "pod.json"), podJSON)
			write(t, filepath.Join(dir, filepath.FromSlash(c.file)), c.text)
			contents, err := Open(dir)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, contents.Logs[c.of]); diff != "" || c.want == nil && len(contents.Logs) > 0 {
				t.Error(diff, contents.Logs)
			}
			for _, skipped := range contents.Skipped {
				if c.want != nil {
					t.Error(skipped)
				}
			}
		})
	}
}

func nTimes(n int, line string) []string {
	return strings.Split(strings.Repeat("\n"+line, n)[1:], "\n")
}

// What is kept of logs is bounded, and it is said that there was more.
func TestLimitOfLogs(t *testing.T) {
	r := &reader{limits: defaults()}
	r.limits.logs = 10
	for _, pod := range []string{"a", "b", "c"} {
		r.keep("f", Instance{Pod: pod}, []string{"12345678"})
	}
	if len(r.logs) != 1 || len(r.problems) != 1 {
		t.Error(r.logs, r.problems)
	}
}

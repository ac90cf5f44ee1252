package resolve_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berthdev/berth/internal/commands/cmdtest"
	"github.com/berthdev/berth/internal/goldentest"
	"github.com/berthdev/berth/internal/schematest"
)

func TestResolveOffline(t *testing.T) {
	cmdtest.Offline(t)
	t.Setenv("BERTH_CONFIG", "/does/not/exist")
	for _, tc := range []struct {
		in, form, key, id, canonical string
		fields                       map[string]any
	}{
		{"Alice", "implicit", "u=alice", "alice-a975fae", "alice", map[string]any{"username": "alice"}},
		{
			"alice~dev+user=root", "explicit", "u=alice|bp=dev", "alice-59936c3", "alice~dev+user=root",
			map[string]any{"username": "alice", "blueprint": "dev", "user": "root"},
		},
		{
			"alice~pod=ws1+ns=x", "named", "", "ws1", "alice~ns=x+pod=ws1",
			map[string]any{"username": "alice", "pod": "ws1", "ns": "x"},
		},
		{
			"alice~repo=Proj+ref=Main", "repo", "u=alice|r=alice/proj|ref=main|bp=repo-alice-proj", "",
			"alice~ref=Main+repo=alice/proj",
			map[string]any{"username": "alice", "repo": "alice/proj", "ref": "Main"},
		},
		{
			"alice~dev+workload=Deployment/web+ns=shop", "explicit", "u=alice|bp=dev|workload=deployment/web|ns=shop",
			"",
			"alice~dev+ns=shop+workload=deployment/web",
			map[string]any{"username": "alice", "blueprint": "dev", "workload": "deployment/web", "ns": "shop"},
		},
		{
			"b64-YWxpY2V-ZGV2", "explicit", "u=alice|bp=dev", "alice-59936c3", "alice~dev",
			map[string]any{"username": "alice", "blueprint": "dev"},
		},
	} {
		stdout, stderr := cmdtest.Must(t, 0, "resolve", tc.in, "--offline", "-o", "json")
		schematest.Validate(t, []byte(stdout))
		var got map[string]any
		if err := json.Unmarshal([]byte(stdout), &got); err != nil {
			t.Fatal(err)
		}
		if tc.id == "" {
			tc.id, _ = got["id"].(string)
		}
		want := map[string]any{
			"apiVersion": "berth.dev/v1", "kind": "Resolution", "form": tc.form, "fields": tc.fields,
			"key": tc.key, "id": tc.id, "canonical": tc.canonical,
		}
		if diff := cmp.Diff(want, got); diff != "" || stderr != "" {
			t.Errorf("%s: %s%s", tc.in, diff, stderr)
		}
	}
	text, _ := cmdtest.Must(t, 0, "resolve", "alice~repo=Org/Proj+ref=Main", "--offline")
	goldentest.Check(t, "offline.txt", text)
	if id, _ := cmdtest.Must(t, 0, "resolve", "alice", "--offline", "-o", "jsonpath={.id}"); id != "alice-a975fae" {
		t.Errorf("the ID is %q", id)
	}
}

func TestResolveErrors(t *testing.T) {
	cmdtest.Offline(t)
	stdout, _ := cmdtest.Must(t, 2, "resolve", "alice~color=red", "--offline", "-o", "json")
	schematest.Validate(t, []byte(stdout))
	if !strings.Contains(stdout, `"INVALID_ARGUMENT"`) || !strings.Contains(stdout, "character 7") {
		t.Error(stdout)
	}
	stdout, stderr := cmdtest.Must(t, 2, "resolve", "al ice", "--offline")
	if stdout != "" || !strings.Contains(stderr, "character 3") {
		t.Errorf("%q %q", stdout, stderr)
	}
	cmdtest.Must(t, 2, "resolve")
}

package manifest

import (
	"strings"
	"testing"
)

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

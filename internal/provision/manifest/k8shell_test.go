package manifest

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/berthdev/berth/internal/blueprint"
)

// What stands in lists and tables of a blueprint has k8shell's form as well: every field, and no other.
func TestItemsOfK8shell(t *testing.T) {
	s := withAgent(t, func(s *Spec) {
		storage := blueprint.Storage{Type: "local", Path: "/images", Afterlife: "7d", ClaimSpec: map[string]any{}}
		s.Blueprint.Podman.Storages = map[string]blueprint.Storage{"images": storage}
		storage.Path = "/kept"
		s.Blueprint.Storages["kept"] = storage
		s.Blueprint.Storages["quick"] = blueprint.Storage{
			Type: blueprint.StorageScratch, Path: "/quick",
			Enabled: new(false),
		}
		s.Blueprint.Podman.ParentStorages = []string{"data"}
		s.Blueprint.InitScripts = []blueprint.InitScript{
			{Name: "tools", Script: "echo 1", Always: true},
			{Name: "none"},
		}
		s.Blueprint.Apps = map[string]any{"editor": map[string]any{"listen": "8080"}, "bare": nil}
	})
	storage := strings.Fields("claimSpec claimSpecAnnotations enabled existingClaim fsOwnerGid fsOwnerUid id path " +
		"readonly sizeLimit type")
	app := strings.Fields("autoStart binary enabled install installAsRoot listen maxRestartBackoff name protocol " +
		"restartPolicy start versionCmd versionRegex")
	script := []string{"name", "script"}
	for path, want := range map[string]any{
		"storages.kept": storage, "storages.data": storage, "podman.storages.images": storage,
		"apps.editor": app, "apps.bare": app, "initScripts.0": script, "initScripts.1": script,
		"storages.kept.enabled": true, "podman.storages.images.enabled": true, "podman.storages.images.path": "/images",
		"storages.quick.enabled": false, "storages.quick.type": "emptyDir", "storages.given.fsOwnerUid": 7.0,
		"storages.given.fsOwnerGid": nil, "apps.editor.listen": "8080", "apps.editor.start": []any{},
		"initScripts.0.script": "echo 1", "podman.parentStorages": []any{"data"},
	} {
		have := inAgentsBlueprint(t, s, path)
		if table, is := have.(map[string]any); is {
			have = slices.Sorted(maps.Keys(table))
		}
		if diff := cmp.Diff(want, have); diff != "" {
			t.Errorf("%s: %s", path, diff)
		}
	}
	if have := inAgentsBlueprint(t, withAgent(t, nil), "podman.parentStorages"); !cmp.Equal(have, []any{}) {
		t.Errorf("without parentStorages: %#v", have)
	}
}

// inAgentsBlueprint is what the blueprint.yaml of an agent has at a path.
func inAgentsBlueprint(t *testing.T, s Spec, path string) any {
	t.Helper()
	values, err := s.Values()
	if err != nil {
		t.Fatal(err)
	}
	text, _ := at(values, k8shellValue, "__blueprintyaml__").(string)
	var file map[string]any
	if err := yaml.Unmarshal([]byte(text), &file); err != nil {
		t.Fatal(err)
	}
	value := file["blueprint"]
	for field := range strings.SplitSeq(path, ".") {
		if list, is := value.([]any); is {
			value = list[field[0]-'0']
			continue
		}
		value = at(value, field)
	}
	return value
}

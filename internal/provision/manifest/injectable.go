package manifest

import (
	"maps"
	"path"
	"slices"

	"github.com/berthdev/berth/internal/blueprint"
)

// Injectable removes from a blueprint what an injected workspace does not have: the
// podman sidecar and home directories. It also returns the names of those.
func Injectable(b blueprint.Blueprint) (blueprint.Blueprint, []string) {
	var homes []string
	kept := map[string]blueprint.Storage{}
	for _, name := range slices.Sorted(maps.Keys(b.Storages)) {
		if s := b.Storages[name]; s.On() && isHome(name, s.Path, b.Env["HOME"]) {
			homes = append(homes, name)
		} else {
			kept[name] = s
		}
	}
	b.Storages = kept
	b.Podman.Enabled = false // so that nothing speaks of a sidecar that is not there
	return b, homes
}

// isHome is true for a storage that is called home, or mounted where homes are:
// a person's files do not belong in a workload that several people share.
func isHome(name, at, home string) bool {
	at = path.Clean(at)
	return name == "home" || at == "/root" || at == "/home" || path.Dir(at) == "/home" || home != "" && at == path.Clean(home)
}

package manifest

import (
	"fmt"
	"maps"
	"slices"

	"github.com/berthdev/berth/internal/blueprint"
)

// Injectable removes what an injected workspace does not have: the podman sidecar,
// home directories, and credentials. It also returns what a user may miss, as
// messages.
func (s Spec) Injectable() (injectable Spec, leftOut []string) {
	kept := map[string]blueprint.Storage{}
	for _, name := range slices.Sorted(maps.Keys(s.Blueprint.Storages)) {
		if storage := s.Blueprint.Storages[name]; storage.On() && s.Blueprint.IsHome(name) {
			leftOut = append(leftOut, fmt.Sprintf("storage %s is skipped: it is a home directory, which an injected workspace does not have", name))
		} else {
			kept[name] = storage
		}
	}
	if r, ok := s.credentials(); ok {
		leftOut = append(leftOut, fmt.Sprintf("the credentials of %s are left out: an injected workspace has no Secrets, so it clones its repository only if that is public", r.URL))
	}
	s.Blueprint.Storages = kept
	s.Blueprint.Podman.Enabled = false // so that nothing speaks of a sidecar that is not there
	s.Injected = true
	return s, leftOut
}

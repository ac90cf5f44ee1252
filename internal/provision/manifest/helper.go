package manifest

import (
	"maps"

	"github.com/berthdev/berth/internal/blueprint"
)

// nobody is the user of a container that must not be root where the blueprint names
// no other.
const nobody = 65534

// helper is what the containers run that prepare a workspace: never the workspace's
// own image and environment, which a repository may have chosen.
func helper(b blueprint.Blueprint) map[string]any {
	asUser := confined(b.SecurityContext)
	if _, named := asUser["runAsUser"]; !named {
		if uid := homeOwner(b); uid != 0 {
			asUser["runAsUser"] = uid
		} else if asUser["runAsNonRoot"] == true {
			asUser["runAsUser"] = nobody
		}
	}
	asRoot := maps.Clone(asUser)
	delete(asRoot, "runAsGroup")
	asRoot["runAsUser"], asRoot["runAsNonRoot"] = 0, false
	asRoot["capabilities"] = map[string]any{"drop": []any{"ALL"}, "add": []any{"CHOWN"}}
	return map[string]any{"image": b.HelperImage, "env": b.Proxies, "asUser": asUser, "asRoot": asRoot}
}

// confined is the security context of a container with no rights but those of its
// user: what the blueprint's own demands, and nothing that it allows.
func confined(context map[string]any) map[string]any {
	out := map[string]any{
		"allowPrivilegeEscalation": false, "readOnlyRootFilesystem": true,
		"capabilities":   map[string]any{"drop": []any{"ALL"}},
		"seccompProfile": map[string]any{"type": "RuntimeDefault"},
	}
	for _, field := range []string{
		"appArmorProfile", "runAsGroup", "runAsNonRoot", "runAsUser", "seLinuxOptions",
		"seccompProfile",
	} {
		if value, ok := context[field]; ok {
			out[field] = value
		}
	}
	return out
}

// homeOwner is the user that the home directory is given to; 0 for none but root. It
// may be closed to everybody else, root without capabilities included.
func homeOwner(b blueprint.Blueprint) int64 {
	_, storage := b.Home()
	if uid := b.Storages[storage].FsOwnerUID; uid != nil {
		return *uid
	}
	return 0
}

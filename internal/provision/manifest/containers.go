package manifest

import (
	"cmp"
	"fmt"
	"maps"
	"net/url"
	"path"
	"strconv"

	"github.com/berthdev/berth/internal/blueprint"
)

func resources(r blueprint.Resources) map[string]any {
	return map[string]any{"cpu": r.CPU, "memory": r.Memory}
}

// podman is nil without the sidecar.
func podman(b blueprint.Blueprint) any {
	p := b.Podman
	if !p.Enabled {
		return nil
	}
	return map[string]any{
		"image": p.Image, "imagePullPolicy": cmp.Or(p.ImagePullPolicy, blueprint.DefaultPullPolicy),
		"resources": resources(p.Resources), "sizeLimit": p.SizeLimit, "securityContext": p.Security(),
		"mounts": podmanMounts(b),
	}
}

// privileged names what in a workspace is, and the field that decides it; empty for nothing.
func privileged(b blueprint.Blueprint) string {
	switch {
	case b.SecurityContext["privileged"] == true:
		return "its container is privileged (securityContext)"
	case b.Podman.Enabled && b.Podman.Security()["privileged"] == true:
		return "its podman sidecar is privileged (podman.securityContext)"
	}
	return ""
}

// nobody is the user of a container that must not be root where the blueprint names no other.
const nobody = 65534

// helper is what the containers run that prepare a workspace: never the workspace's
// own image and environment, which a repository may have chosen.
func helper(s Spec) map[string]any {
	b := s.Blueprint
	asUser := confined(b.SecurityContext)
	if _, named := asUser["runAsUser"]; !named {
		if uid := homeOwner(b); uid != 0 {
			asUser["runAsUser"] = uid
		} else if asUser["runAsNonRoot"] == true {
			asUser["runAsUser"] = nobody
		}
	}
	if hasAgent(b) { // which runs as root, and its user's commands as the user
		asUser["runAsUser"], asUser["runAsGroup"] = s.Identity.UID, s.Identity.GID
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

// podmanSocket is where the podman sidecar answers: an agent looks for it in one place.
func podmanSocket(b blueprint.Blueprint) string {
	if hasAgent(b) {
		return "unix:///var/run/podman/podman.sock"
	}
	return "unix:///k8shell/podman/podman.sock"
}

// environment is the blueprint's, and what it does not say: where the home directory and the podman sidecar are, and
// how git gets the credentials, if the workspace has them.
func environment(s Spec) map[string]string {
	b := s.Blueprint
	env := map[string]string{}
	if b.Podman.Enabled {
		env["CONTAINER_HOST"], env["DOCKER_HOST"] = podmanSocket(b), podmanSocket(b)
	}
	maps.Copy(env, b.Env)
	if dir, _ := b.Home(); dir != "" && env["HOME"] == "" {
		env["HOME"] = dir
	}
	if r, ok := s.credentials(); ok && r.InWorkspace {
		configureGit(env, s.Repository.URL)
	}
	if hasAgent(b) {
		maps.Copy(env, agentEnvironment(s))
	}
	return env
}

// configureGit makes git ask for the credentials of the repository's host, and of no
// other, in addition to what the environment configures already.
func configureGit(env map[string]string, repository string) {
	u, err := url.Parse(repository)
	if err != nil {
		return // it has been read before
	}
	count, _ := strconv.Atoi(env["GIT_CONFIG_COUNT"])
	count = max(0, count)
	env[fmt.Sprintf("GIT_CONFIG_KEY_%d", count)] = "credential." + u.Scheme + "://" + u.Host + ".helper"
	env[fmt.Sprintf("GIT_CONFIG_VALUE_%d", count)] = "!/bin/sh /k8shell/runtime/credentials.sh"
	env["GIT_CONFIG_COUNT"] = strconv.Itoa(count + 1)
}

// home is the chart's value. Commands begin in the home directory if a storage is mounted there; anywhere else the
// container's runtime would make the directory as root.
func home(b blueprint.Blueprint) map[string]any {
	dir, storage := b.Home()
	value := map[string]any{"path": dir, "storage": storage}
	if storage != "" && path.Clean(b.Storages[storage].Path) == dir {
		value["workingDir"] = dir
	}
	return value
}

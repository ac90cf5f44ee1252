package manifest

import (
	"fmt"
	"maps"
	"net/url"
	"path"
	"strconv"

	"github.com/berthdev/berth/internal/blueprint"
)

// podmanSocket is where the podman sidecar answers.
const podmanSocket = "unix:///k8shell/podman/podman.sock"

// environment is the blueprint's, and what it does not say: where the home directory
// and the podman sidecar are, and how git gets the credentials, if the workspace has
// them.
func environment(s Spec) map[string]string {
	b := s.Blueprint
	env := map[string]string{}
	if b.Podman.Enabled {
		env["CONTAINER_HOST"], env["DOCKER_HOST"] = podmanSocket, podmanSocket
	}
	maps.Copy(env, b.Env)
	if dir, _ := b.Home(); dir != "" && env["HOME"] == "" {
		env["HOME"] = dir
	}
	if r, ok := s.credentials(); ok && r.InWorkspace {
		configureGit(env, s.Repository.URL)
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

// home is the chart's value. Commands begin in the home directory if a storage is
// mounted there; anywhere else the container's runtime would make the directory as
// root.
func home(b blueprint.Blueprint) map[string]any {
	dir, storage := b.Home()
	value := map[string]any{"path": dir, "storage": storage}
	if storage != "" && path.Clean(b.Storages[storage].Path) == dir {
		value["workingDir"] = dir
	}
	return value
}

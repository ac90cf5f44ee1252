package injection

import (
	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/kube"
)

// Settings are what a person tells two versions of a blueprint apart by: the image,
// the environment and the resources of the workspace's main container, among others.
func Settings(id string, containers []any) map[string]any {
	settings := map[string]any{}
	for _, item := range containers {
		c, _ := item.(map[string]any)
		if nameOf(c) != kube.Name(id, v1.MainContainer) {
			continue
		}
		env := map[string]any{}
		for _, variable := range list(c, "env") {
			fields, _ := variable.(map[string]any)
			env[nameOf(fields)] = fields["value"]
		}
		settings["image"], settings["env"], settings["resources"] = c["image"], env, c["resources"]
	}
	return settings
}

// Containers are those of a workload's pods.
func Containers(workload map[string]any) []any {
	return list(workload, "spec", "template", "spec", "containers")
}

package catalog

import (
	"github.com/berthdev/berth/internal/blueprint"
	"github.com/berthdev/berth/internal/registry"
)

// fillIn gives a blueprint what no layer of it sets, and its images their registry.
func fillIn(b *blueprint.Blueprint, registryHost string) {
	for _, field := range []struct {
		path  string
		value *string
		unset string
	}{
		{"helperImage", &b.HelperImage, blueprint.DefaultHelperImage},
		{"imagePullPolicy", &b.ImagePullPolicy, blueprint.DefaultPullPolicy},
		{"resources.cpu", &b.Resources.CPU, blueprint.DefaultCPU},
		{"resources.memory", &b.Resources.Memory, blueprint.DefaultMemory},
	} {
		if *field.value == "" {
			*field.value, b.Origins[field.path] = field.unset, "default (built in)"
		}
	}
	for _, image := range []*string{&b.Image, &b.HelperImage, &b.K8shelld.Image, &b.Podman.Image} {
		*image = registry.Qualify(*image, registryHost)
	}
}

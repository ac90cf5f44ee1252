package blueprint

import (
	"fmt"
	"maps"
	"regexp"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

func validatePodman(report, relate reporter, b Blueprint) {
	p := b.Podman
	if p.Enabled && p.Image == "" {
		relate("podman.image: required")
	}
	imageName(report, "podman.image", p.Image)
	pullPolicy(report, "podman.imagePullPolicy", p.ImagePullPolicy)
	validateResources(report, "podman.resources", p.Resources)
	quantity(report, "podman.sizeLimit", p.SizeLimit, disk())
	var c corev1.SecurityContext
	if structured(report, "podman.securityContext", p.SecurityContext, &c) {
		validateSecurity(report, "podman.securityContext", c)
	}
	for _, file := range slices.Sorted(maps.Keys(p.ExtFiles)) {
		validatePath(report, "podman.extFiles", file)
	}
	validateStorages(report, relate, "podman.storages.", p.Storages)
	validatePodmanStorages(report, relate, b)
}

// podmanPaths are where the sidecar keeps its images and containers, as root and as another user.
func podmanPaths() []string {
	return []string{"/var/lib/containers", "/home/podman/.local/share/containers"}
}

// validatePodmanStorages checks what the sidecar has of storages, all together.
func validatePodmanStorages(report, relate reporter, b Blueprint) {
	for i, name := range b.Podman.ParentStorages {
		if _, known := b.Storages[name]; !known && name != allParents {
			relate("podman.parentStorages[%d]: the blueprint has no storage %q", i, shorten(name))
		}
	}
	taken := map[string]string{}
	for _, path := range podmanPaths() {
		taken[path] = "the one of its images"
	}
	for _, name := range b.Parents() {
		path := b.Storages[name].Path
		if what, twice := taken[path]; twice && b.Podman.Enabled {
			relate("podman.parentStorages: storage %s has the path %q, which is %s", name, path, what)
		}
		taken[path] = "that of storage " + name
	}
	for _, name := range slices.Sorted(maps.Keys(b.Podman.Storages)) {
		s, field := b.Podman.Storages[name], "podman.storages."+name
		if s.Type == StorageScratch {
			report("%s.type: %q: must be one of local, shared, emptyDir, memory", field, s.Type)
		}
		if _, twice := b.Storages[PodmanStorage+name]; twice {
			relate("%s: the workspace has a storage %s, which is the name of this one there", field, PodmanStorage+name)
		}
		if what, twice := taken[s.Path]; twice && s.On() && b.Podman.Enabled {
			relate("%s.path: duplicate path %q: it is %s", field, s.Path, what)
		}
	}
}

func validateOrphans(report reporter, patterns []string) {
	for i, pattern := range patterns {
		if _, err := regexp.Compile(pattern); err != nil {
			report("k8shelld.ignoreOrphans[%d]: invalid regular expression %q", i, shorten(pattern))
		}
	}
}

// validateApps checks the fields of applications that are known; an agent may have more.
func validateApps(report reporter, apps map[string]any) {
	for _, name := range slices.Sorted(maps.Keys(apps)) {
		app, ok := apps[name].(map[string]any)
		if !ok {
			continue
		}
		field := func(name2 string) string { return fmt.Sprintf("apps.%s.%s", name, name2) }
		for _, known := range []string{"enabled", "installAsRoot", "autoStart"} {
			isBool(report, field(known), app[known])
		}
		for _, known := range []string{"name", "binary", "versionRegex", "install", "listen"} {
			if value := app[known]; value != nil {
				if _, ok := value.(string); !ok {
					report("%s: must be a string", field(known))
				}
			}
		}
		for _, known := range []string{"versionCmd", "start"} {
			isTexts(report, field(known), app[known])
		}
		isOneOf(report, field("restartPolicy"), app["restartPolicy"], "always", "on-failure", "never")
		isOneOf(report, field("protocol"), app["protocol"], "http", "https", "ws", "wss", "tcp", "udp")
	}
}

func isBool(report reporter, field string, value any) {
	if _, ok := value.(bool); value != nil && !ok {
		report("%s: must be true or false", field)
	}
}

// isTexts requires a list of what programs can be given as arguments.
func isTexts(report reporter, field string, value any) {
	if value == nil {
		return
	}
	all, ok := value.([]any)
	for _, item := range all {
		switch item.(type) {
		case map[string]any, []any, nil:
			ok = false
		}
	}
	if !ok {
		report("%s: must be a list of strings", field)
	}
}

func isOneOf(report reporter, field string, value any, allowed ...string) {
	if value != nil {
		oneOf(report, field, fmt.Sprint(value), allowed...)
	}
}

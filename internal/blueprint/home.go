package blueprint

import (
	"maps"
	"path"
	"slices"
)

// storageHome is the name of the storage that is a home directory wherever it is
// mounted.
const storageHome = "home"

// Home is the home directory of a workspace: what HOME says; else the path of the
// storage that is called home; else that of the only one that is mounted at /root
// or right below /home. It is empty if the blueprint says none of this: then it is
// the image's. The storage is the one that the directory is in; empty if it is in
// none, so that it ends with the container.
func (b Blueprint) Home() (dir, storage string) {
	dir = b.homeDir()
	if dir == "" {
		return "", ""
	}
	longest := ""
	for _, name := range b.mounted() {
		if at := path.Clean(b.Storages[name].Path); inside(dir, at) && len(at) > len(longest) {
			storage, longest = name, at
		}
	}
	return dir, storage
}

func (b Blueprint) homeDir() string {
	if home := b.Env["HOME"]; home != "" {
		return path.Clean(home)
	}
	if s, ok := b.Storages[storageHome]; ok && s.On() {
		return path.Clean(s.Path)
	}
	var homes []string
	for _, name := range b.mounted() {
		if at := path.Clean(b.Storages[name].Path); at == "/root" || path.Dir(at) == "/home" {
			homes = append(homes, at)
		}
	}
	if len(homes) != 1 {
		return ""
	}
	return homes[0]
}

// mounted are the names of the storages that are switched on.
func (b Blueprint) mounted() []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(b.Storages)),
		func(name string) bool { return !b.Storages[name].On() })
}

// IsHome reports whether a storage holds home directories: the workspace's own, or
// others'.
func (b Blueprint) IsHome(name string) bool {
	at := path.Clean(b.Storages[name].Path)
	_, own := b.Home()
	return name == own || name == storageHome || at == "/root" || at == "/home" || path.Dir(at) == "/home"
}

// validateHome refuses a home directory that is elsewhere than the storage for it:
// what a user keeps in it would be lost with the pod. One that is in another
// storage is not.
func validateHome(report, relate reporter, b Blueprint) {
	home := b.Env["HOME"]
	if home != "" && !path.IsAbs(home) {
		report("env.HOME: invalid path %q: must be absolute", home)
		return
	}
	s, ok := b.Storages[storageHome]
	if home == "" || !ok || !s.On() || !path.IsAbs(s.Path) {
		return
	}
	if dir, storage := b.Home(); storage == "" {
		relate("env.HOME: %q is not in the storage home, which is mounted at %q: leave HOME out, or mount the storage there", dir, s.Path)
	}
}

package blueprint

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"unicode"
)

// storageHome is the name of the storage that is a home directory wherever it is mounted.
const storageHome = "home"

// Home is the home directory of a workspace: what HOME says; else the path of the storage that is called home; else
// that of the only one that is mounted at /root or right below /home. It is empty if the blueprint says none of this:
// then it is the image's. The storage is the one that the directory is in; empty if it is in none, so that it ends with
// the container.
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

// IsHome reports whether a storage holds home directories: the workspace's own, or others'.
func (b Blueprint) IsHome(name string) bool {
	at := path.Clean(b.Storages[name].Path)
	_, own := b.Home()
	return name == own || name == storageHome || at == "/root" || at == "/home" || path.Dir(at) == "/home"
}

// validateHome refuses a home directory that is elsewhere than the storage for it: what a user keeps in it would be
// lost with the pod. One that is in another storage is not.
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
		relate("env.HOME: %q is not in the storage home, which is mounted at %q: leave HOME out, or mount "+
			"the storage there", dir, s.Path)
	}
}

// runtimeDir is where workspaces have what berth puts into them.
const runtimeDir = "/k8shell"

func validatePath(report reporter, field, file string) {
	if problem := pathProblem(file); problem != "" {
		report("%s: %s", field, problem)
	}
}

// pathProblem is why nothing can be mounted at a path, of which Kubernetes allows no colon, or not without hiding the
// runtime; empty if something can.
func pathProblem(file string) string {
	switch {
	case !path.IsAbs(file), path.Clean(file) != file, strings.ContainsRune(file, ':'),
		strings.ContainsFunc(file, unicode.IsControl):
		return fmt.Sprintf("invalid path %q: must be absolute and clean, without colons", file)
	case overlaps(file, runtimeDir):
		return fmt.Sprintf("%q would hide what a workspace runs on: / and %s are not available", file, runtimeDir)
	}
	return ""
}

// userPaths are where users may mount storages of their own, and below, beside the home directory.
func userPaths() []string {
	return []string{
		"/cache", "/data", "/home", "/mnt", "/opt", "/root", "/scratch", "/srv", "/tmp", "/workspace",
		"/workspaces",
	}
}

// systemPaths are what a home directory does not make available to users.
func systemPaths() []string {
	return []string{
		"/bin", "/boot", "/dev", "/etc", runtimeDir, "/lib", "/lib32", "/lib64", "/libx32", "/proc", "/run", "/sbin",
		"/sys", "/usr", "/var/run",
	}
}

// available reports whether users may mount storages of their own at a path; home is the home directory that the
// platform has chosen.
func available(at, home string) bool {
	at = path.Clean(at)
	within := func(dir string) bool { return inside(at, dir) }
	if slices.ContainsFunc(userPaths(), within) {
		return true
	}
	system := func(dir string) bool { return overlaps(at, dir) }
	return home != "" && inside(at, home) && !slices.ContainsFunc(systemPaths(), system)
}

// inside reports whether a path is a directory or below it. Both are clean.
func inside(at, dir string) bool {
	return at == dir || strings.HasPrefix(at, strings.TrimSuffix(dir, "/")+"/")
}

// overlaps reports whether one of two clean paths is inside the other.
func overlaps(a, b string) bool { return inside(a, b) || inside(b, a) }

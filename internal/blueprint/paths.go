package blueprint

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode"
)

// runtimeDir is where workspaces have what berth puts into them.
const runtimeDir = "/k8shell"

func validatePath(report reporter, field, file string) {
	if problem := pathProblem(file); problem != "" {
		report("%s: %s", field, problem)
	}
}

// pathProblem is why nothing can be mounted at a path, of which Kubernetes allows no
// colon, or not without hiding the runtime; empty if something can.
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

// userPaths are where users may mount storages of their own, and below, beside the
// home directory.
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

// available reports whether users may mount storages of their own at a path; home
// is the home directory that the platform has chosen.
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

package binaries

import (
	"fmt"
	"slices"
	"strings"
)

// Version is one Kubernetes that a cluster can be made of.
type Version struct {
	// Minor is how it is asked for: 1.31.
	Minor string
	// Full is what its programs say they are: v1.31.0.
	Full string
	// Module is the file with what it requires; main.go is the same for all.
	Module string
}

// Newest is what a cluster has unless it is asked for another.
const Newest = "1.36"

// Versions are the newest one, the oldest that berth promises to work with, and
// one between. Of 1.31 the module proxy has all parts at .0 only.
func Versions() []Version {
	return []Version{
		{Minor: "1.31", Full: "v1.31.0", Module: "v1.31.mod"},
		{Minor: "1.34", Full: "v1.34.4", Module: "v1.34.mod"},
		{Minor: Newest, Full: "v1.36.3", Module: "go.mod"},
	}
}

// Find returns the version with a minor version, the newest for "".
func Find(minor string) (Version, error) {
	if minor == "" {
		minor = Newest
	}
	var names []string
	for _, v := range Versions() {
		if v.Minor == minor {
			return v, nil
		}
		names = append(names, v.Minor)
	}
	return Version{}, fmt.Errorf("there is no test cluster of Kubernetes %q: name one of %s", minor,
		strings.Join(names, ", "))
}

// files are the sources of a build.
func (v Version) files() []string {
	return []string{v.Module, strings.TrimSuffix(v.Module, ".mod") + ".sum", "main.go"}
}

// AtLeast says whether v is not older than another of Versions.
func (v Version) AtLeast(minor string) bool {
	at := func(minor string) int {
		return slices.IndexFunc(Versions(), func(v Version) bool { return v.Minor == minor })
	}
	return at(v.Minor) >= at(minor)
}

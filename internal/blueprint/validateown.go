package blueprint

import (
	"fmt"
	"maps"
	"path"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// ValidateOwn returns the problems of what a user has set in a resolved blueprint,
// each as "path: message", that would be none in a platform blueprint; own says of a
// field whether it is the user's. That is a security boundary, as CustomFields is:
// what a repository mounts is not over what its platform relies on, no root
// prepares it where the template is none, and what others may have stays theirs.
func (b Blueprint) ValidateOwn(own func(field string) bool) (problems []string) {
	report := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	home := b.platformHome(own)
	forbidden := b.forbidsOwners()
	known := home == "" || path.IsAbs(home) // or it is an expression
	for _, name := range b.mounted() {
		s, field := b.Storages[name], "storages."+name
		if known && own(field+".path") && pathProblem(s.Path) == "" && !available(s.Path, home) {
			report("%s.path: %q is not available to users: mount it in the home directory or in one of %s", field, s.Path,
				strings.Join(userPaths(), ", "))
		}
		validateOwner(report, field, s, forbidden, own)
	}
	return problems
}

// platformHome is the home directory as far as the platform has chosen it.
func (b Blueprint) platformHome(own func(field string) bool) string {
	b.Env, b.Storages = maps.Clone(b.Env), maps.Clone(b.Storages)
	maps.DeleteFunc(b.Env, func(name, _ string) bool { return own("env." + name) })
	maps.DeleteFunc(b.Storages, func(name string, _ Storage) bool { return own("storages." + name + ".path") })
	dir, _ := b.Home()
	return dir
}

// validateOwner reports what of a storage's owner is the user's and must not be, or
// which directory that gets the platform's.
func validateOwner(report reporter, field string, s Storage, forbidden string, own func(field string) bool) {
	inherited := false
	for _, id := range []struct {
		name  string
		given *int64
	}{{"fsOwnerUid", s.FsOwnerUID}, {"fsOwnerGid", s.FsOwnerGID}} {
		switch theirs := own(field + "." + id.name); {
		case !theirs:
			inherited = inherited || id.given != nil
		case forbidden != "":
			report("%s.%s: only root can give a directory away, which the template's %s forbids: leave it out; everybody can write to a storage of type emptyDir, and one with an owner is the platform's to define", field, id.name, forbidden)
		case s.ofOthers():
			report("%s.%s: only the platform gives away the directory of a claim that others may have (existingClaim, type shared): leave it out", field, id.name)
		}
	}
	for _, which := range []string{"type", "id", "existingClaim"} {
		if inherited && s.ofOthers() && own(field+"."+which) {
			report("%s.%s: the template gives this directory to a user, and others may have the one of this claim: leave it out, or mount the claim as a storage of another name", field, which)
		}
	}
}

// ofOthers reports whether the directory is not the workspace's alone.
func (s Storage) ofOthers() bool {
	return s.Claimed() && (s.Type == StorageShared || s.ExistingClaim != "")
}

// forbidsOwners is the field by which the blueprint's own container can give no
// directory away; empty if it can.
func (b Blueprint) forbidsOwners() string {
	var c corev1.SecurityContext
	structured(func(string, ...any) {}, "", b.SecurityContext, &c) // Validate reports what is wrong with it
	switch {
	case c.RunAsNonRoot != nil && *c.RunAsNonRoot:
		return "securityContext.runAsNonRoot"
	case c.RunAsUser != nil && *c.RunAsUser != 0:
		return "securityContext.runAsUser"
	case drops(c.Capabilities, "CHOWN"):
		return "securityContext.capabilities"
	}
	return ""
}

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
// what a repository mounts is not over what its platform relies on, and no root
// prepares it where the template wants none.
func (b Blueprint) ValidateOwn(own func(field string) bool) (problems []string) {
	report := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	home := b.platformHome(own)
	known := home == "" || path.IsAbs(home) // or it is an expression
	for _, name := range b.mounted() {
		s, field := b.Storages[name], "storages."+name
		if known && own(field+".path") && pathProblem(s.Path) == "" && !available(s.Path, home) {
			report("%s.path: %q is not available to users: mount it in the home directory or in one of %s", field, s.Path, strings.Join(userPaths(), ", "))
		}
		if !b.forbidsRoot() {
			continue
		}
		for _, id := range []string{field + ".fsOwnerUid", field + ".fsOwnerGid"} {
			if own(id) {
				report("%s: only root can give a directory away, which the template's securityContext.runAsNonRoot forbids: leave it out", id)
			}
		}
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

func (b Blueprint) forbidsRoot() bool {
	var c corev1.SecurityContext
	structured(func(string, ...any) {}, "", b.SecurityContext, &c) // Validate reports what is wrong with it
	return c.RunAsNonRoot != nil && *c.RunAsNonRoot
}

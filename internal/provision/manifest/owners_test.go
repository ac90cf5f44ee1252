package manifest

import (
	"cmp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// givenAway are the directories that init-storage gives away and the template does
// not: of no one else, and none if the template could not do it itself.
func givenAway(template, pod corev1.Pod) (problems []string) {
	theirs := owners(template)
	for given, own := range owners(pod) {
		if _, has := theirs[given]; has {
			continue
		}
		if !own {
			problems = append(problems, "init-storage gives away what others may have: "+given)
		}
		if !mayChown(containers(template)["k8shell-main"].SecurityContext) {
			problems = append(problems, "init-storage does what the template may not: "+given)
		}
	}
	return problems
}

// owners are what init-storage does, as "owner volume", and whether the volume is
// this workspace's alone.
func owners(pod corev1.Pod) map[string]bool {
	claims := map[string]string{}
	for _, v := range pod.Spec.Volumes {
		if v.PersistentVolumeClaim != nil {
			claims[v.Name] = v.PersistentVolumeClaim.ClaimName
		}
	}
	all := map[string]bool{}
	args := slices.Concat(containers(pod)["init-storage"].Args, containers(pod)["init-base"].Args)
	for pair := range slices.Chunk(args, 2) {
		volume := "storage-" + strings.TrimPrefix(pair[1], "/k8shell/storage/")
		claim, claimed := claims[volume]
		all[pair[0]+" "+cmp.Or(claim, volume)] = !claimed || strings.HasPrefix(claim, "pvc-"+pod.Name+"-")
	}
	return all
}

// mayChown reports whether what runs with a security context can give files away.
func mayChown(c *corev1.SecurityContext) bool {
	switch {
	case c == nil:
		return true
	case c.RunAsNonRoot != nil && *c.RunAsNonRoot, c.RunAsUser != nil && *c.RunAsUser != 0:
		return false
	}
	return c.Capabilities == nil || !slices.Contains(c.Capabilities.Drop, "ALL") ||
		slices.Contains(c.Capabilities.Add, "CHOWN")
}

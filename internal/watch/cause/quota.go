package cause

import (
	"fmt"
	"strings"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/pattern"
)

const (
	quota pattern.Expr = `exceeded quota: ([^,]+), requested: (.+), used: (.+), limited: (.+)`
	// One limit or several: requests.cpu=1,requests.memory=1Gi.
	amount pattern.Expr = `([a-z][a-zA-Z0-9./-]*)=([^,\s]+)`
	// What a quota counts has to be asked for by every container.
	unsaid pattern.Expr = `failed quota: ([^:]+): must specify (.+)`
)

// quotaText puts the numbers of a quota's refusal in order, and says what helps.
func quotaText(c v1.Cause, a About) string {
	resources := func(ofPod string) string { return a.field(v1.Cause{}, "resources", ofPod) }
	raise := "have the quota raised (`kubectl describe quota" + a.option() + "`)."
	if m := unsaid.FindStringSubmatch(c.Message); m != nil {
		// A blueprint has no field for each of them, such as a limit of CPU.
		return fmt.Sprintf("Quota %s of the namespace counts what the pod does not specify: %s. "+
			"Set that in %s if possible, or have a limit range give containers a default (`kubectl describe limitrange%s`).",
			m[1], m[2], resources("resources"), a.option())
	}
	m := quota.FindStringSubmatch(c.Message)
	if m == nil {
		return "The namespace's quota does not allow it. Lower " + resources("resources") + ", or " + raise
	}
	used, limited := amounts(m[3]), amounts(m[4])
	var parts []string
	lower := ""
	for _, asked := range amount.FindAllStringSubmatch(m[2], -1) {
		name := asked[1]
		parts = append(parts, fmt.Sprintf("%s: %s more wanted, %s of %s in use", name, asked[2], used[name], limited[name]))
		switch {
		case strings.HasSuffix(name, "requests.storage"):
			lower = "Lower " + a.field(v1.Cause{}, "storages", "resources.requests.storage") + ", delete"
		case isResource(name):
			lower = "Lower " + resources("resources") + ", delete"
		}
	}
	if lower == "" { // a number of objects
		lower = "Delete"
	}
	return fmt.Sprintf("Quota %s of the namespace is used up (%s). %s what is not needed, or %s", m[1], strings.Join(parts, "; "), lower, raise)
}

func amounts(list string) map[string]string {
	found := map[string]string{}
	for _, a := range amount.FindAllStringSubmatch(list, -1) {
		found[a[1]] = a[2]
	}
	return found
}

// isResource is true for what a container asks for, not for a number of objects.
func isResource(counted string) bool {
	name := strings.TrimPrefix(strings.TrimPrefix(counted, "requests."), "limits.")
	return name != counted || name == "cpu" || name == "memory" || name == "ephemeral-storage"
}

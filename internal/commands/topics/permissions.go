package topics

import (
	"fmt"
	"slices"
	"strings"

	"github.com/berthdev/berth/internal/rbac"
)

// permissions is the table of what commands need.
func permissions() string {
	var b strings.Builder
	b.WriteString(`The permissions that each command needs. docs/rbac.md has each as a Role to copy.
What a workspace does not have, such as storage, needs no permission either; in
brackets is what happens without an optional permission.

A missing permission is an error before anything is changed. To see what you may do:

  berth doctor
  kubectl auth can-i --list --namespace NAMESPACE
`)
	for _, c := range slices.Concat(rbac.Commands(), rbac.Elsewhere(), rbac.Machines(), rbac.Bundles(), rbac.Volumes(),
		rbac.Serving()) {
		where := ""
		switch {
		case c.Cluster:
			where = " (in the whole cluster)"
		case c.System: // its name says so
		case c.Namespace != "":
			where = " (in namespace " + c.Namespace + ")"
		case c.Feature:
			where = " (in their namespace)"
		}
		fmt.Fprintf(&b, "\n%s%s\n", c.Name, where)
		for _, r := range c.Rules {
			object := rbac.Access{Group: r.Group, Resource: r.Resource}.Object()
			fmt.Fprintf(&b, "  %-42s %s\n", object, strings.Join(r.Verbs, ", "))
			if r.Optional() {
				fmt.Fprintf(&b, "  %-42s (%s)\n", "", r.Without)
			}
		}
	}
	return strings.TrimRight(b.String(), "\n")
}

package commands

import (
	"fmt"
	"slices"
	"strings"

	"github.com/berthdev/berth/internal/rbac"
)

// permissions is the table of what commands take, as a page.
func permissions() string {
	var b strings.Builder
	b.WriteString(`What each command takes, and nothing more. docs/rbac.md has each as a Role that
can be copied. What a workspace does not have, such as storage, takes no
permission either; in brackets is what happens without a permission that is not
necessary.

A permission that is missing is an error before anything is changed. To see what
you have:

  berth doctor
  kubectl auth can-i --list --namespace NAMESPACE
`)
	for _, c := range slices.Concat(rbac.Commands(), rbac.Elsewhere()) {
		where := ""
		switch {
		case c.Cluster:
			where = " (in the whole cluster)"
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

package provision

import (
	"slices"
	"strings"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/userstring"
)

// Supported says whether a form of user string can be provisioned. One that
// cannot is refused before the cluster is asked anything.
func Supported(u userstring.UserString) error {
	if u.Form() == userstring.Named {
		return fault.New(fault.InvalidArgument,
			"%s names an existing workspace: it can be looked up, entered and deleted, not provisioned", u).
			WithHint("provision %s or %s~BLUEPRINT instead", u.User, u.User)
	}
	return nil
}

// InjectionRules say where workspaces may be injected, and how.
type InjectionRules struct {
	// Namespaces are those where injection is allowed; * is all of them. Nil leaves
	// it to the API server; empty allows it nowhere.
	Namespaces []string
	// Force injects even if it makes little sense.
	Force bool
}

// allow says whether a workspace may be where its user string wants it.
func (r InjectionRules) allow(u userstring.UserString) error {
	if u.Workload.IsZero() || r.Namespaces == nil ||
		slices.Contains(r.Namespaces, "*") || slices.Contains(r.Namespaces, u.Namespace) {
		return nil
	}
	where := "nowhere"
	if len(r.Namespaces) > 0 {
		where = "only in " + strings.Join(r.Namespaces, ", ")
	}
	return fault.New(fault.PermissionDenied,
		"injection into namespace %s is not allowed: the configuration allows it %s", u.Namespace, where).
		WithHint("add the namespace to injectNamespaces in the configuration")
}

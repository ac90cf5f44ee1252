package doctor

import (
	"strings"

	"github.com/berthdev/berth/internal/rbac"
)

// Permissions judges whether the caller may do what a command needs. What only
// some workspaces need, or only some options, is a warning.
func Permissions(c rbac.Command, review rbac.Review) Finding {
	if review.Incomplete {
		return Skipped("the API server cannot list your permissions; each is tried when it is used")
	}
	needed, rest := review.Missing(c.Needs()), review.Missing(c.All())
	if len(rest) == 0 {
		return OK("berth " + c.Name)
	}
	f := Failed("berth "+c.Name+" would fail in namespace "+review.Namespace, "")
	if len(needed) == 0 {
		f = Warning("berth "+c.Name+" works in namespace "+review.Namespace+", but not with all features", "")
	}
	for _, a := range rest {
		f.Problems = append(f.Problems, "missing: "+a.String())
	}
	words := []string{
		"ask for the Role", c.ObjectName(), "of docs/rbac.md (`berth help rbac`); afterwards:",
		rbac.CanI(rest[0], review.Namespace),
	}
	f.Hint = strings.Join(words, " ")
	return f
}

package doctor

import (
	"strings"

	"github.com/berthdev/berth/internal/rbac"
)

// Permissions judges what the caller may do of what a command takes. That of
// which only some workspaces have need, or nobody at all, is a warning.
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
		f = Warning("berth "+c.Name+" works in namespace "+review.Namespace+" with less than all of its features", "")
	}
	for _, a := range rest {
		f.Problems = append(f.Problems, "missing: "+a.String())
	}
	words := []string{"ask for the Role", c.ObjectName(), "of docs/rbac.md (`berth help rbac`); afterwards:", rbac.CanI(rest[0], review.Namespace)}
	f.Hint = strings.Join(words, " ")
	return f
}

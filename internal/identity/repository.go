package identity

import "github.com/berthdev/berth/internal/userstring"

// refsToTry are the ref as it was typed, and then as it stands in the key. An
// empty one is the default branch.
func refsToTry(u userstring.UserString) []string {
	if u.RefTyped == u.Ref {
		return []string{u.Ref}
	}
	return []string{u.RefTyped, u.Ref}
}

package provision

import (
	"github.com/berthdev/berth/internal/blueprint"
	"github.com/berthdev/berth/internal/identity"
	"github.com/berthdev/berth/internal/userstring"
)

// Allowed says whether the user may have what the workspace is made of. Lists of
// allowed blueprints are of platform blueprints. One of the user's own stands
// upon a platform blueprint, and that is the one which has to be allowed.
func Allowed(user identity.User, u userstring.UserString, b blueprint.Blueprint) error {
	name := b.Name
	if u.Form() == userstring.Repo && len(b.Lineage) > 1 {
		name = b.Lineage[1]
	}
	return user.May(name)
}

package provision

import (
	"github.com/berthdev/berth/internal/blueprint"
	"github.com/berthdev/berth/internal/identity"
)

// Allowed says whether the user may have what the workspace is made of. Lists of
// allowed blueprints are of platform blueprints. One of the user's own stands
// upon a platform blueprint, and that is the one which has to be allowed.
func Allowed(user identity.User, b blueprint.Blueprint) error { return user.May(b.Platform) }

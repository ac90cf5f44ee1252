package identity

import (
	"slices"
	"strings"

	"github.com/berthdev/berth/internal/fault"
)

// mayWork says whether the user may have workspaces at all.
func (u User) mayWork() error {
	switch u.Status {
	case "", Active:
		return nil
	case Locked:
		return fault.New(fault.PermissionDenied, "user %s is locked (according to %s)", u.Username, u.Provider).
			WithReason(ReasonLocked).WithHint("ask the administrator of %s to unlock %s", u.Provider, u.Username)
	default:
		return fault.New(fault.PermissionDenied, "user %s is invalid (according to %s)", u.Username, u.Provider).
			WithReason(ReasonInvalid).WithHint("ask the administrator of %s about %s", u.Provider, u.Username)
	}
}

// MayUse says whether the user may use a platform blueprint.
func (u User) MayUse(blueprint string) error {
	if slices.Contains(u.Blueprints, allBlueprints) || slices.Contains(u.Blueprints, blueprint) {
		return nil
	}
	err := fault.New(fault.PermissionDenied, "user %s may not use blueprint %q (according to %s)", u.Username, blueprint,
		u.Provider).
		WithReason(ReasonNotAllowed)
	if len(u.Blueprints) == 0 {
		return err.WithHint("%s allows %s no blueprints: ask its administrator", u.Provider, u.Username)
	}
	return err.WithHint("%s may use: %s", u.Username, strings.Join(u.Blueprints, ", "))
}

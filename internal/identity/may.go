package identity

import (
	"slices"
	"strings"

	"github.com/berthdev/berth/internal/fault"
)

// MayWork says whether the user may have workspaces at all.
func (u User) MayWork() error {
	switch u.Status {
	case "", Active:
		return nil
	case Locked:
		return fault.New(fault.PermissionDenied, "user %s is locked (says %s)", u.Username, u.Provider).
			WithReason(ReasonLocked).WithHint("ask who administers %s to unlock %s", u.Provider, u.Username)
	default:
		return fault.New(fault.PermissionDenied, "user %s is invalid (says %s)", u.Username, u.Provider).
			WithReason(ReasonInvalid).WithHint("ask who administers %s what is wrong with %s", u.Provider, u.Username)
	}
}

// May says whether the user may use a platform blueprint.
func (u User) May(blueprint string) error {
	if slices.Contains(u.Blueprints, anything) || slices.Contains(u.Blueprints, blueprint) {
		return nil
	}
	err := fault.New(fault.PermissionDenied, "user %s may not use blueprint %q (says %s)", u.Username, blueprint, u.Provider).
		WithReason(ReasonNotAllowed)
	if len(u.Blueprints) == 0 {
		return err.WithHint("%s allows %s no blueprint: ask who administers it", u.Provider, u.Username)
	}
	return err.WithHint("%s may use: %s", u.Username, strings.Join(u.Blueprints, ", "))
}

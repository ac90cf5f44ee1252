package identity

import (
	"strings"

	"github.com/berthdev/berth/internal/fault"
)

// The reasons of errors, in addition to those of packages git and credential.
const (
	ReasonUnknown      = "USER_UNKNOWN"
	ReasonLocked       = "USER_LOCKED"
	ReasonInvalid      = "USER_INVALID"
	ReasonMayNotActFor = "USER_NOT_YOURS"
	ReasonNotAllowed   = "BLUEPRINT_NOT_ALLOWED"
	ReasonUnavailable  = "PROVIDER_UNAVAILABLE"
)

// Unknown is a user that the providers do not know. Its exit status is 4, not 7:
// the login is wrong, no workspace is missing.
func Unknown(username string, providers ...string) error {
	return fault.New(fault.Unauthenticated, "user %s is unknown to %s", username, strings.Join(providers, ", ")).
		WithReason(ReasonUnknown).
		WithHint("check the spelling, or add %s there; the providers are those of identity.providers in the configuration",
			username)
}

// unavailable is a provider that could not be asked. It says nothing about the
// user.
func unavailable(provider string, err error) *fault.Error {
	return fault.New(fault.Unavailable, "identity provider %s could not be reached: %w", provider, err).
		WithReason(ReasonUnavailable).
		WithHint("try again; if it persists, check the provider's settings under identity.providers in the configuration")
}

func timedOut(p Provider) error {
	return fault.New(fault.Unavailable, "identity provider %s did not answer within %s", p.Name, p.Timeout).
		WithReason(ReasonUnavailable).
		WithHint("try again, or set a longer `timeout` under identity.providers in the configuration")
}

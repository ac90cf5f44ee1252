package identity

import (
	"strings"
	"time"

	"github.com/berthdev/berth/internal/fault"
)

// The reasons by which scripts tell the errors of identity apart.
const (
	ReasonUnknown      = "USER_UNKNOWN"
	ReasonLocked       = "USER_LOCKED"
	ReasonInvalid      = "USER_INVALID"
	ReasonNotAllowed   = "BLUEPRINT_NOT_ALLOWED"
	ReasonUnavailable  = "PROVIDER_UNAVAILABLE"
	reasonMayNotActFor = "USER_NOT_YOURS"
)

// unknown is a user whom one provider does not know; the chain asks the next.
func unknown(username, provider string) error {
	return nobodyKnows(username, []string{provider})
}

// nobodyKnows has exit status 4, not 7: it is the login that is wrong, not a
// workspace that is missing.
func nobodyKnows(username string, asked []string) error {
	return fault.New(fault.Unauthenticated, "user %s is unknown to %s", username, strings.Join(asked, ", ")).
		WithReason(ReasonUnknown).
		WithHint("check the spelling, or have %s added there; identity.providers in the configuration says who is asked", username)
}

// unavailable is a provider that could not be asked. It says nothing about the
// user.
func unavailable(provider string, err error) *fault.Error {
	return fault.New(fault.Unavailable, "identity provider %s could not be reached: %w", provider, err).
		WithReason(ReasonUnavailable).
		WithHint("try again; if it stays away, check its settings under identity.providers in the configuration")
}

func timedOut(provider string, after time.Duration) *fault.Error {
	return fault.New(fault.Unavailable, "identity provider %s did not answer within %s", provider, after).
		WithReason(ReasonUnavailable).
		WithHint("try again, or give it more time with `timeout` under identity.providers in the configuration")
}

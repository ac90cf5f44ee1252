// Package identity says who a username is, and whether the caller may act for
// that user.
package identity

import (
	"context"

	"github.com/berthdev/berth/internal/userstring"
)

// User is somebody a workspace is made for.
type User struct {
	Username     string
	Organization string
	UID, GID     int
	// Provider is the one that knew the user.
	Provider string
}

// Provider knows users.
type Provider interface {
	// Resolve says who username is. An error tells an unknown user, one that the
	// caller may not act for, and a provider out of reach apart by its code.
	Resolve(ctx context.Context, username string) (User, error)
	// Caller is the username of whoever runs the command.
	Caller(ctx context.Context) (string, error)
	// Custom is the blueprint of their own that u names: the .k8shell.yaml of the
	// repository at its ref, or one that the user has by that name. It is nil if
	// there is none.
	Custom(ctx context.Context, u userstring.UserString) (*Custom, error)
}

// Custom is a user's own blueprint as it was found.
type Custom struct {
	YAML []byte
	// Origin says where it was found, for messages: github.com/org/proj@main:.k8shell.yaml.
	Origin string
}

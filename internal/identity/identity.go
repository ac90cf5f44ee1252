// Package identity says who a username is, and whether the caller may act for
// that user.
package identity

import "context"

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
}

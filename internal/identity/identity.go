// Package identity says who a username is, and whether the caller may act for
// that user. It asks a chain of providers; the first one that knows the user
// wins.
package identity

import (
	"context"
	"errors"

	"github.com/berthdev/berth/internal/userstring"
)

// User is somebody a workspace is made for.
type User struct {
	Username string
	UID, GID int
	Fullname string
	Email    string
	// Organization is one that the provider vouches for, never what a user says
	// about themselves: network policies go by it.
	Organization string
	Roles        []string
	// Blueprints are those that the user may use; * is all.
	Blueprints []string
	Sudo       bool
	Status     Status
	// Provider is the one that knew the user.
	Provider string
}

// Status says whether a user may work.
type Status string

// The statuses of users.
const (
	Active  Status = "active"
	Locked  Status = "locked"
	Invalid Status = "invalid"
)

// What a provider says of a user who has nothing else said of them.
const (
	defaultUID = 1000
	defaultGID = 1000
	anything   = "*"
)

// newUser is a user of whom nothing but the name is known.
func newUser(username, provider string) User {
	return User{
		Username: username, UID: defaultUID, GID: defaultGID,
		Blueprints: []string{anything}, Status: Active, Provider: provider,
	}
}

// Provider knows users.
type Provider interface {
	// Resolve says who username is. An error tells an unknown user, one that is
	// locked, one that the caller may not act for, and a provider out of reach
	// apart by its reason.
	Resolve(ctx context.Context, username string) (User, error)
	// Caller is the username of whoever runs the command; empty where a provider
	// has no way to tell.
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

// errElsewhere is what a provider in a chain says to a question that is not its
// own: the next one is asked. Nil with no error is an answer: there is none.
var errElsewhere = errors.New("another provider may know")

// CustomFile is where a repository has its blueprint.
const CustomFile = ".k8shell.yaml"

// Package identity says who a user is, whether the caller may act for them, and
// which blueprints are their own. A chain of providers is asked in order; package
// provider has them.
package identity

import (
	"context"
	"errors"

	"github.com/berthdev/berth/internal/blueprint"
	"github.com/berthdev/berth/internal/userstring"
)

// User is the user that a workspace is made for.
type User struct {
	Username string
	// Name is the whole name by which the API server knows the user; empty if it was not asked.
	Name     string
	UID, GID int
	Fullname string
	Email    string
	// Organization is one that the provider vouches for, never what users say about
	// themselves: network policies depend on it.
	Organization string
	Roles        []string
	// Blueprints are the platform blueprints that the user may use; * is all.
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

const (
	defaultID     = 1000 // of user and group
	allBlueprints = "*"
)

// NewUser is an active user with the defaults of all other fields.
func NewUser(username, provider string) User {
	return User{
		Username: username, UID: defaultID, GID: defaultID,
		Blueprints: []string{allBlueprints}, Status: Active, Provider: provider,
	}
}

// Users says who users are.
type Users interface {
	// Resolve returns the user of that name. The reason of its error says whether the
	// user is unknown or locked, the caller may not act for them, or a provider could
	// not be reached.
	Resolve(ctx context.Context, username string) (User, error)
	// Caller is the username of the caller; empty if it is not known.
	Caller(ctx context.Context) (string, error)
}

// Repositories has users' own blueprints: the .k8shell.yaml of git repositories,
// and those that a user owns by name.
type Repositories interface {
	// Custom is the blueprint that u names; nil if there is none. The error is
	// ErrNotResponsible if another provider has to be asked.
	Custom(ctx context.Context, u userstring.UserString) (*blueprint.Source, error)
}

// ErrNotResponsible is the answer of a provider to a question that the next one
// may answer.
var ErrNotResponsible = errors.New("the provider is not responsible")

// DefaultRemote is where repositories are if nothing is configured.
const DefaultRemote = "https://github.com/{owner}/{name}.git"

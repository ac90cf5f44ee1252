package identity

import (
	"context"
	"sync"
)

// Cached resolves each username only once, for a command that works on several
// workspaces at a time. It keeps errors, too, and must not outlive the command.
func Cached(users Users) Users {
	return &cache{Users: users}
}

type cache struct {
	Users
	known sync.Map // of functions by username
}

// Resolve asks once; concurrent callers wait for the answer.
func (c *cache) Resolve(ctx context.Context, username string) (User, error) {
	known, _ := c.known.LoadOrStore(username,
		sync.OnceValues(func() (User, error) { return c.Users.Resolve(ctx, username) }))
	return known.(func() (User, error))() //nolint:forcetypeassert // nothing else is stored
}

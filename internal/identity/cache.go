package identity

import (
	"context"
	"sync"
)

// Cached resolves each username only once, for a command that works on several
// workspaces at a time. It keeps errors, too, and must not outlive the command.
func Cached(users Users) Users {
	return &cache{Users: users, known: map[string]func() (User, error){}}
}

type cache struct {
	Users
	mu    sync.Mutex
	known map[string]func() (User, error)
}

// Resolve asks once; concurrent callers wait for the answer.
func (c *cache) Resolve(ctx context.Context, username string) (User, error) {
	c.mu.Lock()
	resolve, ok := c.known[username]
	if !ok {
		resolve = sync.OnceValues(func() (User, error) { return c.Users.Resolve(ctx, username) })
		c.known[username] = resolve
	}
	c.mu.Unlock()
	return resolve()
}

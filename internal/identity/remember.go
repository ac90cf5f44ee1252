package identity

import (
	"context"
	"sync"
)

// Remember is a provider that asks another one about each username only once,
// for a command that works for many at the same time; blueprints of their own are
// asked for every time. It keeps errors, too: it
// is made for one command and must not outlive it.
func Remember(p Provider) Provider {
	return &remembering{Provider: p, known: map[string]*answer{}}
}

type remembering struct {
	Provider
	mu    sync.Mutex
	known map[string]*answer
}

// answer is what was said about one username, or will be.
type answer struct {
	once sync.Once
	user User
	err  error
}

// Resolve asks if nobody has asked before; whoever asks meanwhile waits.
func (r *remembering) Resolve(ctx context.Context, username string) (User, error) {
	r.mu.Lock()
	a := r.known[username]
	if a == nil {
		a = &answer{}
		r.known[username] = a
	}
	r.mu.Unlock()
	a.once.Do(func() { a.user, a.err = r.Provider.Resolve(ctx, username) })
	return a.user, a.err
}

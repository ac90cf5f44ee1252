package identity

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
)

// counting counts how often it is asked.
type counting struct {
	Users
	asked atomic.Int32
}

func (c *counting) Resolve(_ context.Context, username string) (User, error) {
	c.asked.Add(1)
	if username == "nobody" {
		return User{}, errors.New("unknown")
	}
	return User{Username: username}, nil
}

// However many ask at the same time, each username is asked about once.
func TestCached(t *testing.T) {
	source := &counting{}
	p := Cached(source)
	var wg sync.WaitGroup
	for range 20 {
		for _, name := range []string{"alice", "bob", "nobody"} {
			wg.Go(func() {
				user, err := p.Resolve(t.Context(), name)
				if (err != nil) != (name == "nobody") || err == nil && user.Username != name {
					t.Errorf("%s is %+v, %v", name, user, err)
				}
			})
		}
	}
	wg.Wait()
	if n := source.asked.Load(); n != 3 {
		t.Errorf("asked %d times, want 3", n)
	}
}

//go:build linux

package driver

import (
	"context"
	"sync"
)

// locks are locks by key: work on one volume is done one after the other.
type locks struct {
	mu   sync.Mutex
	held map[string]chan struct{}
}

// take waits for the lock of a key until ctx ends.
func (l *locks) take(ctx context.Context, key string) (release func(), err error) {
	for {
		if ctx.Err() != nil { // nobody waits for what would be done
			return nil, ctx.Err()
		}
		release, busy := l.try(key)
		if busy == nil {
			return release, nil
		}
		select {
		case <-busy:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// try takes the lock of a key; if somebody has it, busy is closed when it is released.
func (l *locks) try(key string) (release func(), busy <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if held, ok := l.held[key]; ok {
		return nil, held
	}
	if l.held == nil {
		l.held = map[string]chan struct{}{}
	}
	mine := make(chan struct{})
	l.held[key] = mine
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.held, key)
		close(mine)
	}, nil
}

package ssh

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/berthdev/berth/internal/provision/inventory"
)

// What is looked up while the client introduces itself serves the first channel, if that comes at once: a workspace may
// have been replaced since.
func TestLookedUpAhead(t *testing.T) {
	for name, c := range map[string]struct {
		wait time.Duration
		asks int // until the first channel is served
	}{
		"at once": {0, 1}, "soon": {time.Second, 1}, "late": {3 * time.Second, 2},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				asked := 0
				f := &finder{name: Name{Workspace: "alice-2bd806c"}, workspaces: func() (inventory.Reader, error) {
					asked++
					return inventory.Reader{}, errors.New("no cluster")
				}}
				f.begin(t.Context())
				synctest.Wait()
				time.Sleep(c.wait)
				if l := f.located(t.Context()); l.err == nil || asked != c.asks {
					t.Errorf("asked %d times: %v", asked, l.err)
				}
				_ = f.located(t.Context())
				if asked != c.asks+1 {
					t.Errorf("asked %d times for two channels", asked)
				}
			})
		})
	}
}

// A channel that gives up does not wait for what is being looked up.
func TestLookedUpAheadForNobody(t *testing.T) {
	hangs := make(chan struct{})
	defer close(hangs)
	f := &finder{name: Name{Workspace: "alice-2bd806c"}, workspaces: func() (inventory.Reader, error) {
		<-hangs
		return inventory.Reader{}, errors.New("no cluster")
	}}
	f.begin(t.Context())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if l := f.located(ctx); !errors.Is(l.err, context.Canceled) {
		t.Error(l.err)
	}
}

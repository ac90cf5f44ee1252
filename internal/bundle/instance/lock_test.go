package instance

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/berthdev/berth/internal/event"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
)

// A run that meets another's work on an instance says so; an uninstallation waits for the
// end of a server's pass.
func TestLock(t *testing.T) {
	for name, test := range map[string]struct {
		of, meets string
		waits     bool
	}{
		"a pass meets an installation":            {forPass, forInstall, false},
		"an installation meets a pass":            {forInstall, forPass, false},
		"an uninstallation meets a pass":          {forUninstall, forPass, true},
		"an uninstallation meets an upgrade":      {forUninstall, forInstall, false},
		"an uninstallation meets its own kind":    {forUninstall, forUninstall, false},
		"an installation meets an uninstalling":   {forInstall, forUninstall, false},
		"one pass meets another, of a new leader": {forPass, forPass, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client, met := fake.NewClientset(), make(chan struct{})
			meet := sync.OnceFunc(func() { close(met) })
			r := Reconciler{Own: &kube.Client{Interface: client}, System: "ns", Now: time.Now}
			other := r.locker(test.meets)
			other.Self.Nonce = "other"
			theirs, _, err := other.Try(t.Context(), lockID("web"), nil)
			if err != nil {
				t.Fatal(err)
			}
			client.PrependReactor("get", "leases", func(clienttesting.Action) (bool, runtime.Object, error) {
				meet()
				return false, nil, nil
			})
			steps := event.NewSteps(event.NewStream("", time.Now), time.Now)
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			if test.waits {
				go func() {
					<-met
					theirs.Release(context.WithoutCancel(ctx))
				}()
			} else {
				defer theirs.Release(context.WithoutCancel(ctx))
			}
			held, err := r.lock(ctx, "web", test.of, steps)
			if held != nil {
				defer held.Release(context.WithoutCancel(ctx))
			}
			if test.waits != (held != nil) || !test.waits &&
				(fault.CodeOf(err) != fault.Conflict || !strings.Contains(err.Error(), test.meets)) {
				t.Errorf("%v, %v", held, err)
			}
		})
	}
}

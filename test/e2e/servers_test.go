//go:build e2e

package e2e

import (
	"strings"
	"sync"
	"testing"

	"golang.org/x/sync/errgroup"
)

// TestServers are the tests of what works on the instances of the whole cluster: one
// after the other, beside tests of anything but bundles.
func TestServers(t *testing.T) {
	t.Parallel()
	instances.alone(t)
	for _, test := range []struct {
		name string
		run  func(*testing.T)
	}{
		{"serve", testServe},
		{"content", testServeContent},
		{"terminal", testServeAndTerminal},
		{"causes", testServeCauses},
		{"killed", testServeKilled},
		{"narrow role", testServeWithANarrowRole},
		{"endless charts", testServeEndlessCharts},
		{"slow sources", testServeSlowSources},
		{"attacked", testServeAttacked},
		{"narrow author", testServeForANarrowAuthor},
		{"ServiceAccount", testServeAsServiceAccount},
		{"role", testRolesOfServing},
		{"bundle of another provisioner", testServeBundleOfAnotherProvisioner},
		{"reconcile a bundle of another provisioner", testReconcileBundleOfAnotherProvisioner},
		{"reconcile what renders again", testBundleThatRendersAgain},
	} {
		t.Run(test.name, test.run)
	}
}

// beside runs subtests beside each other, in the place of their test. One that is parallel has
// to wait for a place of its own behind all the tests that wait for theirs.
func beside(t *testing.T, limit int, tests map[string]func(*testing.T)) {
	t.Helper()
	var group errgroup.Group
	group.SetLimit(limit)
	for name, test := range tests {
		group.Go(func() error {
			t.Run(name, test)
			return nil
		})
	}
	_ = group.Wait() // nothing fails
}

// instances is who works on bundle instances.
var instances = gate{changed: sync.NewCond(&sync.Mutex{}), shared: map[string]int{}}

// gate lets in any number of tests, or one alone. A test that is alone waits for the others, and
// nobody waits for him who waits: all of a test's own subtests come in.
type gate struct {
	changed  *sync.Cond
	shared   map[string]int // by the test, with its subtests
	occupied bool           // by one alone
}

// share lets a test in with others until it ends.
func (g *gate) share(t *testing.T) {
	test, _, _ := strings.Cut(t.Name(), "/")
	g.enter(t, func() bool { return !g.occupied }, func(by int) {
		if g.shared[test] += by; g.shared[test] == 0 {
			delete(g.shared, test)
		}
	})
}

// alone lets in one test until it ends.
func (g *gate) alone(t *testing.T) {
	g.enter(t, func() bool { return !g.occupied && len(g.shared) == 0 }, func(by int) { g.occupied = by > 0 })
}

func (g *gate) enter(t *testing.T, open func() bool, count func(by int)) {
	g.changed.L.Lock()
	defer g.changed.L.Unlock()
	for !open() {
		g.changed.Wait()
	}
	count(1)
	t.Cleanup(func() {
		g.changed.L.Lock()
		defer g.changed.L.Unlock()
		count(-1)
		g.changed.Broadcast()
	})
}

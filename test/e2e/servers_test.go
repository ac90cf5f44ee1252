//go:build e2e

package e2e

import (
	"testing"

	"golang.org/x/sync/errgroup"
)

// TestServers are the tests of what works on the instances of the whole cluster: one
// after the other, beside tests of anything but bundles.
func TestServers(t *testing.T) {
	instances.announce() // it takes longest, so it comes first
	t.Parallel()
	instances.alone(t)
	places.take(t)
	for _, test := range []struct {
		name string
		run  func(*testing.T)
	}{
		{"serve", testServe},
		{"mends", testServeMends},
		{"content", testServeContent},
		{"terminal", testServeAndTerminal},
		{"causes", testServeCauses},
		{"killed", testServeKilled},
		{"narrow role", testServeWithANarrowRole},
		{"endless charts", testServeEndlessCharts},
		{"slow sources", testServeSlowSources},
		{"signed images", testServeSignedImages},
		{"signed archives", testServeSignedArchives},
		{"attacked", testServeAttacked},
		{"narrow author", testServeForANarrowAuthor},
		{"ServiceAccount", testServeAsServiceAccount},
		{"role", testRolesOfServing},
		{"bundle of another provisioner", testServeBundleOfAnotherProvisioner},
		{"reconcile a bundle of another provisioner", testReconcileBundleOfAnotherProvisioner},
		{"of nobody", testBundleOfNobody},
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

package detect

import (
	"testing"

	"github.com/berthdev/berth/internal/watch/cause"
	"github.com/berthdev/berth/internal/watch/watchtest"
)

// A node without a network is named with the word that the kubelet has for it.
func TestNoNetwork(t *testing.T) {
	e := watchtest.Event("web", "1", "", "NetworkNotReady", "cni plugin not initialized").Warn()
	f := noNetwork(podOf(watchtest.NewPod("web", "1", watchtest.OnNode)), e.Event)
	if f.Code != cause.NetworkNotReady || f.Reason != "NetworkNotReady" || f.Object != "node/node1" {
		t.Errorf("%+v", f.Cause)
	}
}

//go:build linux

package driver

import (
	"context"
	"os"
	"testing"

	"google.golang.org/grpc/codes"
)

// A repetition that fails is not final: after a final error the kubelet would not unpublish
// what was published before.
func TestPublishAgainFails(t *testing.T) {
	n := newNode(t)
	n.publish("v")
	unmountBelow(t, n.target("v"))
	if err := os.Remove(n.target("v")); err != nil {
		t.Fatal(err)
	}
	n.write(n.target("v"), "in the way")
	_, err := n.NodePublishVolume(t.Context(), n.request("v"))
	n.wantCode(err, codes.Unavailable, "is not a directory")
	if r, ok := n.queue.Get("v"); !ok || r.Waits() || !n.there(n.data("v")) {
		t.Errorf("its record is %+v", r)
	}
}

// What a pod may only read is not published again for writing with success.
func TestPublishReadOnlyThenNot(t *testing.T) {
	n := newNode(t)
	r := n.request("v")
	r.Readonly = true
	if _, err := n.NodePublishVolume(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	_, err := n.NodePublishVolume(t.Context(), n.request("v"))
	n.wantCode(err, codes.AlreadyExists, "read-only")
	if r, ok := n.queue.Get("v"); !ok || r.Waits() {
		t.Errorf("its record is %+v", r)
	}
}

// A request that nobody waits for any more is not begun.
func TestPublishTooLate(t *testing.T) {
	n := newNode(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := n.NodePublishVolume(ctx, n.request("v")); err == nil || n.there(n.data("v")) {
		t.Errorf("it was published, %v", err)
	}
}

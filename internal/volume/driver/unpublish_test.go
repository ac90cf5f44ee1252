//go:build linux

package driver

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	csi "github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc/codes"
)

// Unpublish, 1: unmount; if that fails, the error goes to the kubelet, which tries again,
// and nothing is queued.
func TestUnpublishBusy(t *testing.T) {
	n := newNode(t)
	n.publish("v")
	file, err := os.Create(n.target("v") + "/open")
	if err != nil {
		t.Fatal(err)
	}
	n.wantCode(n.tryUnpublish("v"), codes.Internal, "busy")
	n.wantWaiting("")
	n.clock.add(24 * time.Hour)
	n.prune()
	if !n.there(n.target("v") + "/open") {
		t.Error("it was removed under its user")
	}
	file.Close()
	n.unpublish("v")
	n.wantWaiting("v")
}

// Unpublish, 2: queue path, time and lifespan, durably, then answer; the target is gone,
// the data is there.
func TestUnpublishQueues(t *testing.T) {
	n := newNode(t)
	n.publish("v", "afterlife", "30m")
	n.write(n.target("v")+"/file", "x")
	n.clock.add(time.Minute)
	n.unpublish("v")
	if n.there(n.target("v")) {
		t.Error("the target is left")
	}
	if !n.there(n.data("v") + "/file") {
		t.Error("the data is gone")
	}
	n.again()
	if v := n.one(); v.ID != "v" || v.PodUID != "pod-v" || !v.Deleted.Equal(time.Unix(1e9+60, 0)) ||
		v.Lifespan != 30*time.Minute {
		t.Errorf("queued is %+v", v)
	}
}

// Unpublish: the order is unmount, queue, answer.
func TestUnpublishOrder(t *testing.T) {
	var n *node
	seen := map[Step]string{}
	n = newNode(t, func(o *Options) {
		o.Step = func(s Step) {
			_, mounted := n.mountedAt(n.target("v"))
			if mounted {
				seen[s] += "mounted "
			}
			seen[s] += n.waitingIDs()
		}
	})
	n.publish("v")
	n.unpublish("v")
	if seen[UnpublishUnmounted] != "" || seen[UnpublishQueued] != "v" || seen[UnpublishAnswering] != "v" {
		t.Errorf("seen is %q", seen)
	}
}

// Unpublish, 2: not mounted any more, target gone, volume unknown: fine, and queued all the
// same if the directory is there.
func TestUnpublishWithout(t *testing.T) {
	t.Run("not mounted any more", func(t *testing.T) {
		n := newNode(t)
		n.publish("v")
		unmountBelow(t, n.root)
		n.unpublish("v")
		n.wantWaiting("v")
	})
	t.Run("the target is gone", func(t *testing.T) {
		n := newNode(t)
		n.publish("v")
		unmountBelow(t, n.root)
		if err := os.RemoveAll(n.root + "/pods"); err != nil {
			t.Fatal(err)
		}
		n.unpublish("v")
		n.wantWaiting("v")
	})
	t.Run("the volume is unknown, its directory is there", func(t *testing.T) {
		n := newNode(t)
		n.publish("v")
		if err := n.queue.Forget("v"); err != nil {
			t.Fatal(err)
		}
		n.unpublish("v")
		if v := n.one(); v.Lifespan != time.Hour || v.PodUID != "pod-v" {
			t.Errorf("queued is %+v", v)
		}
	})
	t.Run("the volume is unknown, and has no directory", func(t *testing.T) {
		n := newNode(t)
		n.unpublish("nobody")
		n.wantWaiting("")
	})
	t.Run("the directory is gone", func(t *testing.T) {
		n := newNode(t)
		n.publish("v")
		unmountBelow(t, n.root)
		if err := os.RemoveAll(filepath.Dir(n.data("v"))); err != nil {
			t.Fatal(err)
		}
		n.unpublish("v")
		if f := n.queue.Figures(); f.Used+f.Waiting != 0 {
			t.Errorf("records are left: %+v", f)
		}
	})
}

// Unpublish, 2: asked twice: the first time counts.
func TestUnpublishTwice(t *testing.T) {
	n := newNode(t)
	n.gone("v")
	n.clock.add(time.Minute)
	n.unpublish("v")
	if v := n.one(); !v.Deleted.Equal(time.Unix(1e9, 0)) {
		t.Errorf("it is in its afterlife since %s", v.Deleted)
	}
}

// Unpublish, 2: the answer is never success if the queue could not be written.
func TestUnpublishWithoutAQueue(t *testing.T) {
	n := newNode(t)
	n.publish("v")
	if err := n.queue.Close(); err != nil {
		t.Fatal(err)
	}
	n.wantCode(n.tryUnpublish("v"), codes.Internal, "cannot write the record")
	_, err := n.NodePublishVolume(t.Context(), n.request("w"))
	n.wantCode(err, codes.Internal, "cannot write the record")
	if n.there(n.data("w")) {
		t.Error("a directory without a record is left")
	}
	n.start()
	n.unpublish("v")
	n.wantWaiting("v")
}

func TestUnpublishChecks(t *testing.T) {
	n := newNode(t)
	for name, c := range map[string]struct{ id, target, says string }{
		"no volume ID":            {"", "/t", "the volume ID is missing"},
		"no target path":          {"v", "", "the target path is missing"},
		"an ID that leads up":     {"..", "/t", "single path element"},
		"a target of the root":    {"v", "/", "absolute path"},
		"a target that is a name": {"v", "t", "absolute path"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := n.NodeUnpublishVolume(t.Context(), &csi.NodeUnpublishVolumeRequest{
				VolumeId:   c.id,
				TargetPath: c.target,
			})
			n.wantCode(err, codes.InvalidArgument, c.says)
		})
	}
}

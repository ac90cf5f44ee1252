//go:build linux

package driver

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	csi "github.com/container-storage-interface/spec/lib/go/csi"

	"github.com/berthdev/berth/internal/waittest"
)

// patience is how long a request of these tests may take.
const patience = 20 * time.Second

// host is a node whose driver is killed, and a kubelet that tries again.
type host struct {
	*node
	mu        sync.Mutex
	driver    *process
	afterlife time.Duration
}

// newHost starts a driver that is killed at a step; those after it are not.
func newHost(t *testing.T, afterlife time.Duration, step Step) *host {
	t.Helper()
	mounting(t)
	root, err := os.MkdirTemp("", "kill-") //nolint:usetesting // a socket has a path of 107 bytes at most
	if err != nil {
		t.Fatal(err)
	}
	n := &node{T: t, root: root, clock: &clock{}, log: &logged{}}
	t.Cleanup(func() {
		unmountBelow(t, root)
		if err := os.RemoveAll(root); err != nil {
			t.Error(err)
		}
	})
	h := &host{node: n, afterlife: afterlife, driver: start(t, n.root, afterlife, step)}
	t.Cleanup(func() { h.driver.kill() })
	return h
}

// request asks the driver; if that ends meanwhile there is another one, and the request is
// repeated, as the kubelet does.
func (h *host) request(ask func(context.Context, csi.NodeClient) error) {
	h.Helper()
	ctx, cancel := context.WithTimeout(h.Context(), patience)
	defer cancel()
	for {
		h.mu.Lock()
		driver := h.driver
		h.mu.Unlock()
		err := ask(ctx, driver)
		if err == nil {
			return
		}
		// What a driver answers that lives on is no news of its end.
		select {
		case <-driver.gone:
			h.replace(driver)
		case <-ctx.Done():
			h.Errorf("a driver that lives answers %v", err)
			return
		}
	}
}

// replace starts another driver once one has ended.
func (h *host) replace(ended *process) {
	h.Helper()
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.driver == ended {
		ended.kill()
		h.driver = start(h.T, h.root, h.afterlife, "")
	}
}

func (h *host) publish(id string) {
	h.Helper()
	h.request(func(ctx context.Context, c csi.NodeClient) error {
		_, err := c.NodePublishVolume(ctx, h.node.request(id))
		return err
	})
}

func (h *host) unpublish(id string) {
	h.Helper()
	h.request(func(ctx context.Context, c csi.NodeClient) error {
		_, err := c.NodeUnpublishVolume(ctx, &csi.NodeUnpublishVolumeRequest{VolumeId: id, TargetPath: h.target(id)})
		return err
	})
}

// wantNothing waits until nothing is left of any volume.
func (h *host) wantNothing() {
	h.Helper()
	waittest.Until(h.T, "nothing is left", func() bool {
		left, _ := filepath.Glob(h.root + "/work/*/*")
		return len(left) == 0
	})
	targets, _ := filepath.Glob(h.root + "/pods/*/mount")
	if len(targets) > 0 {
		h.Errorf("left are %q", targets)
	}
	h.driver.end()
	h.clock.now = time.Now()
	h.start() // here, to read its records
	h.prune() // of one whose directory was removed before the driver was killed
	if f := h.queue.Figures(); f.Used+f.Waiting != 0 {
		h.Errorf("records are left: %+v", f)
	}
}

// Killed at each step of publish, unpublish and eviction, the driver goes on where it was:
// nothing is removed early, nothing is left.
func TestKilledAtEachStep(t *testing.T) {
	for _, step := range []Step{
		PublishRecorded, PublishMade, PublishMounted, UnpublishUnmounted, UnpublishQueued,
		UnpublishAnswering,
	} {
		t.Run(string(step), func(t *testing.T) {
			h := newHost(t, time.Hour, step)
			first := h.driver
			h.publish("v")
			h.write(h.target("v")+"/file", "x")
			h.unpublish("v")
			if h.driver == first {
				t.Error("the driver was not killed")
			}
			h.driver.kill()
			h.clock.now = time.Now()
			h.start()
			if v := h.one(); v.ID != "v" || v.Lifespan != time.Hour || !h.there(h.data("v")+"/file") ||
				h.there(h.target("v")) {
				t.Errorf("in the queue is %+v", v)
			}
			h.clock.add(2 * time.Hour)
			h.prune()
			h.wantWaiting("")
			if h.there(h.data("v")) {
				t.Error("the directory is left")
			}
		})
	}
	for _, step := range []Step{EvictBegun, EvictRemoved, EvictForgotten} {
		t.Run(string(step), func(t *testing.T) {
			h := newHost(t, 0, step)
			first := h.driver
			h.publish("v")
			h.write(h.target("v")+"/file", "x")
			h.unpublish("v")
			first.wait()
			h.replace(first)
			h.wantNothing()
		})
	}
}

// Killed two hundred times at random, while volumes come and go: nothing that is in use
// is touched, and nothing is left in the end.
func TestKilledAtRandom(t *testing.T) {
	kills := 200
	if testing.Short() {
		kills = 20
	}
	h := newHost(t, 10*time.Millisecond, "")
	var over atomic.Bool
	var pods sync.WaitGroup
	for worker := range 4 {
		pods.Go(func() {
			for i := 0; !over.Load() && !t.Failed(); i++ {
				h.pod(fmt.Sprintf("v-%d-%d", worker, i))
			}
		})
	}
	for range kills {
		time.Sleep(time.Duration(rand.IntN(20_000)) * time.Microsecond)
		h.mu.Lock()
		driver := h.driver
		h.mu.Unlock()
		h.replace(driver)
	}
	over.Store(true)
	pods.Wait()
	h.wantNothing()
}

// pod has a volume for a moment.
func (h *host) pod(id string) {
	h.Helper()
	h.publish(id)
	file := h.target(id) + "/file"
	if err := os.WriteFile(file, []byte(id), 0o600); err != nil {
		h.Error(err)
		return
	}
	time.Sleep(time.Duration(rand.IntN(20_000)) * time.Microsecond)
	if text, err := os.ReadFile(h.data(id) + "/file"); err != nil || string(text) != id {
		h.Errorf("%s has %q while it is in use, %v", id, text, err)
	}
	h.unpublish(id)
}

//go:build linux

package driver

import (
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// What a driver has left of a directory that it was removing goes at the start of the next
// one; a volume that a pod has by then stays.
func TestLeftovers(t *testing.T) {
	n := newNode(t)
	n.publish("v")
	n.write(n.target("v")+"/file", "of now")
	for _, left := range []string{"pod-v/.going-v", "pod-x/.going-x"} {
		if err := os.MkdirAll(n.root+"/work/"+left+"/dir", 0o700); err != nil {
			t.Fatal(err)
		}
	}
	n.again()
	n.completeRemovals(t.Context())
	if left, _ := filepath.Glob(n.root + "/work/*/.going-*"); len(left) > 0 || n.there(n.root+"/work/pod-x") {
		t.Errorf("left are %q", left)
	}
	if !n.there(n.data("v") + "/file") {
		t.Error("a volume that is in use was removed")
	}
	n.wantWaiting("")
}

// A volume that nobody will unpublish, as the kubelet has forgotten it, is queued while the
// driver runs.
func TestAbandoned(t *testing.T) {
	n := newNode(t)
	n.publish("forgotten")
	n.publish("used")
	unmountBelow(t, n.target("forgotten"))
	if err := os.RemoveAll(filepath.Dir(n.target("forgotten"))); err != nil {
		t.Fatal(err)
	}
	n.lookForAbandoned()
	n.wantWaiting("forgotten")
}

// Each of several who list at once sees all.
func TestListAtOnce(t *testing.T) {
	n := newNode(t)
	for _, id := range []string{"a", "b", "c"} {
		n.gone(id)
	}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 50 {
				if found, err := n.dir.List(); len(found) != 3 || err != nil {
					t.Errorf("there are %v, %v", found, err)
				}
			}
		})
	}
	all.Wait()
}

// The node may allow less than it did when a volume was published.
func TestShorterAfterlife(t *testing.T) {
	n := newNode(t)
	n.publish("v")
	n.again(func(o *Options) { o.Afterlife = time.Minute })
	n.unpublish("v")
	if v := n.one(); v.Lifespan != time.Minute {
		t.Errorf("it stays for %s", v.Lifespan)
	}
}

package follow

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	apiwatch "k8s.io/apimachinery/pkg/watch"

	"github.com/berthdev/berth/internal/watch"
	"github.com/berthdev/berth/internal/watch/cause"
	"github.com/berthdev/berth/internal/watch/watchtest"
)

// failure is the nth of many events: each is an object of its own, and says something
// of its own.
func failure(n int) *corev1.Event {
	text := strings.NewReplacer("0", "a", "1", "b", "2", "c", "3", "d", "4", "e", "5", "f", "6", "g", "7", "h", "8",
		"i", "9", "j").Replace(fmt.Sprint(n))
	e := watchtest.Event("alice", "1", "app", "Unhealthy", "the probe failed: "+text+strings.Repeat(" and so on", 20)).
		Warn().At(watchtest.After(time.Duration(n) * time.Second)).Version(n + 10).Event
	e.UID = types.UID(fmt.Sprint("event-", n))
	return e
}

func subject() watch.Subject {
	return watch.Subject{Kind: watch.KindPod, Namespace: "dev", Name: "alice"}
}

// heap is the memory in use after so many events, and what is left to be shown.
func heap(t *testing.T, events int) (bytes int64, change Change) {
	t.Helper()
	f := &Follower{changed: make(chan struct{}), state: watch.NewState(subject()), reported: nothingReported(subject())}
	in := &input{Follower: f}
	in.Apply(apiwatch.Added, watchtest.NewPod("alice", "1", watchtest.OnNode).Pod)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	at := func() time.Time { return watchtest.After(time.Duration(events) * time.Second) }
	for n := range events {
		in.Apply(apiwatch.Added, failure(n))
		if n%5 == 0 { // a reader who is slower
			f.read(f.take(), cause.DefaultPolicy(), at, true, func(c Change) bool { change = c; return false })
		}
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	runtime.KeepAlive(f)
	return int64(after.HeapAlloc) - int64(before.HeapAlloc), change
}

// However many events there are, a follower takes no more memory, and a person has no
// more to read.
func TestManyEvents(t *testing.T) {
	few, _ := heap(t, 1000)
	many, last := heap(t, 20000)
	t.Logf("%d bytes after 1,000 events, %d after 20,000", few, many)
	if many > 2*few+1<<20 {
		t.Errorf("%d bytes after 1,000 events, %d after 20,000", few, many)
	}
	warnings := last.Snapshot.Warnings
	if len(warnings) == 0 || len(warnings) > 5 {
		t.Errorf("%d warnings", len(warnings))
	}
	count := 0
	for _, w := range warnings {
		count += w.Count
	}
	if count < 19990 {
		t.Errorf("of 20,000 events the warnings count %d", count)
	}
}

// What is not read yet is bounded, too, and a change of the pod is not among what is
// left out.
func TestManyPendingEvents(t *testing.T) {
	f := &Follower{changed: make(chan struct{}), state: watch.NewState(subject())}
	in := &input{Follower: f}
	pod := watchtest.NewPod("alice", "1", watchtest.OnNode)
	for round := range 3 {
		in.Apply(apiwatch.Modified, pod.Version(100000*(round+1)).Pod)
		for n := range 2000 {
			in.Apply(apiwatch.Added, failure(10000*round+n))
		}
	}
	if n := len(f.pending); n > 3*(32+1) { // for each of the pod's, and it
		t.Errorf("%d states are pending", n)
	}
	pods := map[string]bool{}
	for _, s := range f.pending {
		p, _ := s.Pod()
		pods[p.ResourceVersion] = true
	}
	if len(pods) != 3 {
		t.Errorf("the pod was seen as %v", pods)
	}
}

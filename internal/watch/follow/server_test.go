package follow

import (
	"context"
	"slices"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	apiwatch "k8s.io/apimachinery/pkg/watch"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/watch"
	"github.com/berthdev/berth/internal/watch/cause"
	"github.com/berthdev/berth/internal/watch/watchtest"
)

// server is an API server for one kind: it answers lists with what it holds and
// watches with what is sent, and counts. A watch from a version gets what was sent
// after that, unless it has been forgotten.
type server struct {
	mu      sync.Mutex
	held    corev1.PodList
	refuse  error // answer to every request
	lists   int
	watches []metav1.ListOptions
	live    *apiwatch.RaceFreeFakeWatcher
	sent    []apiwatch.Event
	oldest  int // what was sent before this version is forgotten
}

func newServer() *server {
	return &server{held: corev1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: "1"}}}
}

func (s *server) List(context.Context, metav1.ListOptions) (runtime.Object, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lists++
	return s.held.DeepCopy(), s.refuse
}

func (s *server) Watch(_ context.Context, opts metav1.ListOptions) (apiwatch.Interface, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.watches = append(s.watches, opts)
	if s.refuse != nil {
		return nil, s.refuse
	}
	s.live = apiwatch.NewRaceFreeFake()
	from, _ := strconv.Atoi(opts.ResourceVersion)
	if from > 0 && from < s.oldest {
		expired := apierrors.NewResourceExpired("too old").Status()
		s.live.Error(&expired)
	}
	for _, e := range s.sent {
		if versionOf(e.Object) > from && from > 0 {
			s.live.Action(e.Type, e.Object)
		}
	}
	return s.live, nil
}

func versionOf(object runtime.Object) int {
	o, _ := meta.Accessor(object)
	n, _ := strconv.Atoi(o.GetResourceVersion())
	return n
}

// add, modify and remove change an object and tell the watch, if there is one.
func (s *server) add(o runtime.Object)    { s.send(apiwatch.Added, o) }
func (s *server) modify(o runtime.Object) { s.send(apiwatch.Modified, o) }
func (s *server) remove(o runtime.Object) { s.send(apiwatch.Deleted, o) }

func (s *server) send(change apiwatch.EventType, object runtime.Object) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sent = append(s.sent, apiwatch.Event{Type: change, Object: object})
	if !s.live.IsStopped() {
		s.live.Action(change, object)
	}
}

// bookmark tells the watch how far it is.
func (s *server) bookmark(version string) {
	s.live.Action(apiwatch.Bookmark, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{ResourceVersion: version}})
}

// forget lets the server hold this, at a version, and no longer know how it came
// about.
func (s *server) forget(version int, held ...*corev1.Pod) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.oldest, s.sent = version, nil
	s.held = corev1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: strconv.Itoa(version)}}
	for _, pod := range held {
		s.held.Items = append(s.held.Items, *pod)
	}
}

func (s *server) set(change func(*server)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(s)
}

// requests are how many lists and watches there were.
func (s *server) requests() (lists, watches int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lists, len(s.watches)
}

var web = watch.Subject{Namespace: "dev", Name: "web"}

// follow opens a follower of pod web on two fake servers and runs it; got
// collects what it hands out.
type follow struct {
	pods, events *server
	f            *Follower
	ended        chan error

	mu  sync.Mutex
	got []Change
}

func start(t *testing.T, ctx context.Context) *follow {
	t.Helper()
	time.Sleep(time.Until(watchtest.Epoch)) // when the pods are made
	fw := &follow{pods: newServer(), events: newServer(), ended: make(chan error, 1)}
	f, err := Open(ctx, web, PodSource(fw.pods, "dev", "web"), EventSource(fw.events, "dev", watch.KindPod, "web"))
	if err != nil {
		t.Fatal(err)
	}
	fw.f = f
	return fw
}

func (fw *follow) run(ctx context.Context) {
	go func() {
		fw.ended <- fw.f.Run(ctx, cause.DefaultPolicy(), time.Now, func(c Change) bool {
			fw.mu.Lock()
			defer fw.mu.Unlock()
			fw.got = append(fw.got, c)
			return false
		})
	}()
	synctest.Wait()
}

// changes are what has been handed out once all is quiet.
func (fw *follow) changes() []Change {
	synctest.Wait()
	fw.mu.Lock()
	defer fw.mu.Unlock()
	return slices.Clone(fw.got)
}

func (fw *follow) stages() []v1.Stage {
	var stages []v1.Stage
	for _, c := range fw.changes() {
		if c.Changed {
			stages = append(stages, c.Snapshot.Stage)
		}
	}
	return slices.Compact(stages)
}

func (fw *follow) last() v1.Snapshot {
	changes := fw.changes()
	return changes[len(changes)-1].Snapshot
}

// following runs a test in a bubble of its own time, with a follower that must
// end when its context does.
func following(t *testing.T, test func(t *testing.T, fw *follow)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		fw := start(t, ctx)
		fw.run(ctx)
		test(t, fw)
		cancel()
		fw.f.Close()
		if err := <-fw.ended; err == nil {
			t.Error("Run ended without an error when its context did")
		}
	})
}

//go:build e2e

package e2e

import (
	"strings"
	"sync"
	"testing"
	"time"
)

// parallel lets a test run beside others, as soon as there is a place for it.
func parallel(t *testing.T) {
	t.Helper()
	t.Parallel()
	places.take(t)
}

// places are how many tests work at a time. They wait for pods more than they work, but not only: there are more places
// than processors, and fewer than a cluster on one host takes. -parallel has to be higher than there are tests: it
// counts those that wait for a place, and once these were all, the tests with a place would wait for it in vain.
var places = semaphore{free: make(chan struct{}, 8), held: map[string]bool{}}

// semaphore counts the tests that work, by name.
type semaphore struct {
	free chan struct{}
	mu   sync.Mutex
	held map[string]bool
}

// take waits for a place and keeps it until the test ends, or until one of its subtests takes a place: then the test
// itself only waits.
func (s *semaphore) take(t *testing.T) {
	t.Helper()
	for i, c := range t.Name() {
		if c == '/' {
			s.leave(t.Name()[:i])
		}
	}
	s.free <- struct{}{}
	s.mu.Lock()
	s.held[t.Name()] = true
	s.mu.Unlock()
	began := time.Now()
	t.Cleanup(func() {
		// The time that -v prints has the wait for a place, too.
		t.Logf("had a place for %.1f s", time.Since(began).Seconds())
		s.leave(t.Name())
	})
}

func (s *semaphore) leave(test string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held[test] {
		delete(s.held, test)
		<-s.free
	}
}

// instances is the gate of the tests that work on bundle instances, which are in no namespace.
var instances = gate{changed: sync.NewCond(&sync.Mutex{}), shared: map[string]int{}}

// gate lets in any number of tests, or one alone. One that is to be alone comes before tests that have not begun. All
// of a test's own subtests come in with it; if they share the gate, the test has to be parallel itself.
type gate struct {
	changed   *sync.Cond
	shared    map[string]int // by the test, with its subtests
	announced bool           // one is to come that is to be alone
	occupied  bool           // by one alone
}

// announce makes tests that have not begun wait for one that is to be alone. It is called before any test is parallel.
func (g *gate) announce() {
	g.changed.L.Lock()
	defer g.changed.L.Unlock()
	g.announced = true
}

// share lets a test in with others until it ends.
func (g *gate) share(t *testing.T) {
	t.Helper()
	test, _, _ := strings.Cut(t.Name(), "/")
	g.enter(t, func() bool { return !g.occupied && (!g.announced || g.shared[test] > 0) }, func(by int) {
		if g.shared[test] += by; g.shared[test] == 0 {
			delete(g.shared, test)
		}
	})
}

// alone lets in one test until it ends.
func (g *gate) alone(t *testing.T) {
	t.Helper()
	g.enter(t, func() bool { return !g.occupied && len(g.shared) == 0 }, func(by int) {
		g.occupied, g.announced = by > 0, false
	})
}

func (g *gate) enter(t *testing.T, open func() bool, count func(by int)) {
	t.Helper()
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

package unpack

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/berthdev/berth/api/bundle/v1alpha1"
	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/bundle/content"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/reconcile"
)

// How fetching is shared out in a server. What is fetched comes from a host that the author of a bundle names, at the
// speed they like, so that no worker is held by it: the fetch goes on, and the object is worked
// on again when it has ended.
const (
	fetchPatience = 500 * time.Millisecond // of a worker; most is fetched in less
	beginTime     = 2 * time.Second        // after which a fetch leaves its place to another
	beginning     = 4                      // fetches that have begun less than beginTime ago
	goingOn       = 8                      // fetches that have begun before that
	keptFor       = 30 * time.Second       // what was fetched, for those who have asked for it
)

// Fetches are those of a server: one for each bundle, and one for those who are sent its content,
// as workers may fetch it from elsewhere by then. One that takes long goes on beside others
// as long as it is not the slowest of too many, by what has come of it in its time.
type Fetches struct {
	cache *content.Cache
	// places are those of fetches that have just begun.
	places                       chan struct{}
	patience, beginTime, keptFor time.Duration
	goingOn                      int

	mu      sync.Mutex
	bundles map[string]*fetch // by their keys
}

// NewFetches makes those of a server.
func NewFetches(cache *content.Cache) *Fetches {
	return &Fetches{
		cache: cache, places: make(chan struct{}, beginning), patience: fetchPatience, beginTime: beginTime,
		keptFor: keptFor,
		goingOn: goingOn, bundles: map[string]*fetch{},
	}
}

// fetch is one of them.
type fetch struct {
	bundle string    // its name
	of     types.UID // of the bundle
	key    string
	what   string // is fetched
	asked  time.Time
	cancel context.CancelCauseFunc
	done   chan struct{} // is closed when it has ended

	// The rest is guarded by the mutex of the fetches.
	begun   time.Time
	came    int64           // bytes
	slow    bool            // is going on since longer than beginTime
	over    bool            // has come to its end
	waiting map[string]bool // for whom the result is kept
	result  fetched
}

// fetched is what a fetch has come to. The content has one owner; others find it by its digest.
type fetched struct {
	content  *content.Content
	digest   string
	signedBy string // which the cache does not know
	resolved v1alpha1.Source
	err      error
}

// doFetch fetches something, and tells how much has come.
type doFetch func(ctx context.Context, progress func(v1.Progress)) (*content.Content, v1alpha1.Source, error)

// gone is why a fetch has ended that nobody waits for any more.
func gone() error {
	return fault.New(fault.Conflict, "the bundle was deleted, or its source was changed, while it was fetched")
}

// gaveWay is why a fetch has ended that was the slowest of too many.
func gaveWay() error {
	return fault.New(fault.Unavailable, "fetching was ended for the sake of others, which come faster").
		WithHint("it is tried again in a while")
}

// keyOf is that of the fetch of a bundle for a worker, and for those who are sent its content.
func keyOf(bundle, who string) string {
	if who == "" {
		return "sent/" + bundle // which is no name
	}
	return bundle
}

// get is the result of a fetch for a worker, which begins with that if no worker has asked. The
// error is reconcile.After for one whose patience is over; then it asks again.
func (s *Fetches) get(ctx context.Context, b *v1alpha1.Bundle, what, who string, do doFetch) (*content.Content,
	v1alpha1.Source, error,
) {
	for {
		f := s.ask(ctx, b, what, who, do)
		if err := s.wait(ctx, f, true); err != nil {
			return nil, v1alpha1.Source{}, err
		}
		r, ok := s.take(f, who)
		if ok || r.err != nil {
			return r.content, copyOf(r.resolved), r.err
		}
		if c, err := s.cache.Get(r.digest); err == nil {
			c.SignedBy = r.signedBy
			return c, copyOf(r.resolved), nil
		}
		s.drop(f) // another has taken it, and the cache has let it go
	}
}

// send is the result of a fetch of content that is to be sent. It is nil once a fetch has ended
// whose content is in the cache, unless it was too large for that, or of another source: that of
// a worker, which goes first, or one that others have shared, of whom one has the content.
func (s *Fetches) send(ctx context.Context, b *v1alpha1.Bundle, what string, do doFetch) (*content.Content, error) {
	s.mu.Lock()
	f := s.bundles[keyOf(b.Name, v1alpha1.KindBundle)]
	s.mu.Unlock()
	if f != nil && !f.ended() {
		return nil, s.wait(ctx, f, false)
	}
	f = s.ask(ctx, b, what, "", do)
	if err := s.wait(ctx, f, false); err != nil {
		return nil, err
	}
	r, _ := s.take(f, "")
	return r.content, r.err
}

// ask finds the fetch that is under way, or that has ended since this worker has asked for it. Any
// other one of that key ends: its source has changed.
func (s *Fetches) ask(ctx context.Context, b *v1alpha1.Bundle, what, who string, do doFetch) *fetch {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := keyOf(b.Name, who)
	if f := s.bundles[key]; f != nil && f.of == b.UID && f.what == what && (!f.ended() || f.waiting[who]) {
		f.waiting[who] = true
		return f
	}
	s.forget(key)
	// It outlives the work on an object that has begun it; a source has a time of its own.
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	f := &fetch{
		bundle: b.Name, of: b.UID, key: key, what: what, asked: time.Now(), cancel: cancel, done: make(chan struct{}),
		waiting: map[string]bool{who: true},
	}
	s.bundles[key] = f
	go s.run(ctx, f, do)
	return f
}

// wait waits for the end of a fetch: a worker for as long as it has patience.
func (s *Fetches) wait(ctx context.Context, f *fetch, worker bool) error {
	var over <-chan time.Time
	if worker {
		timer := time.NewTimer(s.patience - time.Since(f.asked))
		defer timer.Stop()
		over = timer.C
	}
	select {
	case <-f.done:
		return nil
	default:
	}
	select {
	case <-f.done:
		return nil
	case <-over:
		return reconcile.After(f.done)
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// take gives a worker that has asked the result of a fetch; the first one the content as well.
func (s *Fetches) take(f *fetch, who string) (r fetched, owner bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, f.result.content = f.result, nil
	delete(f.waiting, who)
	if len(f.waiting) == 0 && s.bundles[f.key] == f {
		delete(s.bundles, f.key)
	}
	return r, r.content != nil
}

// drop forgets a fetch.
func (s *Fetches) drop(f *fetch) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.bundles[f.key] == f {
		s.forget(f.key)
	}
}

// end ends the fetches of a bundle that is gone, or is another one by that name.
func (s *Fetches) end(bundle string, now types.UID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, who := range []string{v1alpha1.KindBundle, ""} {
		if f := s.bundles[keyOf(bundle, who)]; f != nil && f.of != now {
			s.forget(f.key)
		}
	}
}

// forget ends the fetch of a key, and lets go of what has come of it; s.mu is held.
func (s *Fetches) forget(key string) {
	f := s.bundles[key]
	if f == nil {
		return
	}
	delete(s.bundles, key)
	f.cancel(gone())
	if f.result.content != nil {
		_ = f.result.content.Close()
		f.result = fetched{err: gone()}
	}
}

// ended says whether a fetch has.
func (f *fetch) ended() bool {
	select {
	case <-f.done:
		return true
	default:
		return false
	}
}

// copyOf is a source that shares nothing with the one it is of.
func copyOf(s v1alpha1.Source) (c v1alpha1.Source) {
	text, _ := json.Marshal(s)
	_ = json.Unmarshal(text, &c) // plain fields: cannot fail
	return c
}

// sourceText tells what is fetched for a bundle from anything else.
func sourceText(b *v1alpha1.Bundle, s v1alpha1.Source) string {
	text, _ := json.Marshal(s) // plain fields: cannot fail
	return string(text) + " " + b.Annotations[v1alpha1.AnnotationContent] + " " +
		b.Annotations[v1alpha1.AnnotationCharts]
}

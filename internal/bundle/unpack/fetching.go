package unpack

import (
	"context"
	"log/slog"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"

	"github.com/berthdev/berth/api/bundle/v1alpha1"
	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/reconcile"
)

// run is a fetch, from its place to its end.
func (s *Fetches) run(ctx context.Context, f *fetch, do doFetch) {
	defer f.cancel(nil)
	var r fetched
	select {
	case s.places <- struct{}{}:
		r = s.do(ctx, f, do)
	case <-ctx.Done():
		r.err = context.Cause(ctx)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if ctx.Err() != nil && r.content != nil { // nobody waits for it any more
		_ = r.content.Close()
		r.content = nil
	}
	if ctx.Err() != nil {
		r.err = context.Cause(ctx)
	}
	f.result = r
	close(f.done)
	time.AfterFunc(s.keptFor, func() { s.drop(f) })
}

// do fetches. After a time the place is another's.
func (s *Fetches) do(ctx context.Context, f *fetch, do doFetch) (r fetched) {
	s.mu.Lock()
	f.begun = time.Now()
	s.mu.Unlock()
	late := time.AfterFunc(s.beginTime, func() {
		<-s.places
		s.makeWay(f)
	})
	came := map[string]int64{} // of each thing that is fetched: a chart, and what it depends on
	progress := func(p v1.Progress) {
		s.mu.Lock()
		defer s.mu.Unlock()
		if more := p.Done - came[p.Message]; more > 0 {
			came[p.Message] = p.Done
			f.came += more
		}
	}
	log := slog.New(logr.ToSlogHandler(klog.FromContext(ctx)))
	r.err = reconcile.Guard(log, kube.Object(v1alpha1.KindBundle, f.bundle), func() (err error) {
		r.content, r.resolved, err = do(ctx, progress)
		return err
	})
	if late.Stop() {
		<-s.places
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	f.slow, f.over = false, true
	if r.content != nil {
		r.digest, r.signedBy = r.content.Digest, r.content.SignedBy
	}
	return r
}

// makeWay lets a fetch go on that takes long. If these are too many, the slowest ends.
func (s *Fetches) makeWay(f *fetch) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f.over {
		return
	}
	f.slow = true
	n, slowest := 0, f
	for _, other := range s.bundles {
		if !other.slow {
			continue
		}
		n++
		if other.speed() < slowest.speed() {
			slowest = other
		}
	}
	if n > s.goingOn {
		slowest.slow = false
		slowest.cancel(gaveWay())
	}
}

// speed is how many bytes have come in a second.
func (f *fetch) speed() float64 { return float64(f.came) / time.Since(f.begun).Seconds() }

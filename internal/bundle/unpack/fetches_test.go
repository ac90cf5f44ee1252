package unpack

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/berthdev/berth/api/bundle/v1alpha1"
	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/bundle/content"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/reconcile"
)

func madeBundle(name, uid string) *v1alpha1.Bundle {
	b := &v1alpha1.Bundle{}
	b.Name, b.UID = name, types.UID(uid)
	return b
}

// coming is a fetch of which so many bytes come in a second, for ever.
func coming(bytes int64) doFetch {
	return func(ctx context.Context, progress func(v1.Progress)) (*content.Content, v1alpha1.Source, error) {
		for second := int64(1); ; second++ {
			select {
			case <-ctx.Done():
				return nil, v1alpha1.Source{}, ctx.Err()
			case <-time.After(time.Second):
				progress(v1.Progress{Done: second * bytes})
			}
		}
	}
}

// asks is what get says to the pass over a bundle.
func (s *Fetches) asks(t *testing.T, name string, do doFetch) error {
	t.Helper()
	c, _, err := s.get(t.Context(), madeBundle(name, "1"), "source", v1alpha1.KindBundle, do)
	if c != nil {
		_ = c.Close()
	}
	return err
}

// However many fetches go on and on, a worker is held by none for long, and what comes fast has
// its place: of those that go on, the slowest gives way.
func TestSlowFetchesKeepNobodyWaiting(t *testing.T) {
	u, _ := withCache(t)
	synctest.Test(t, func(t *testing.T) {
		s := NewFetches(u.Fetcher.Cache)
		begun := time.Now()
		for i := range 12 {
			if err := s.asks(t, fmt.Sprint("slow-", i), coming(int64(10+i))); !reconcile.IsAfter(err) {
				t.Fatal(err)
			}
		}
		if held := time.Since(begun); held > 12*fetchPatience {
			t.Errorf("workers were held for %s", held)
		}
		again := time.Now() // the slowest may have been ended for the sake of others, the fastest was not
		if err := s.asks(t, "slow-11", coming(21)); !reconcile.IsAfter(err) || time.Since(again) > 0 {
			t.Errorf("a worker is held a second time, for %s: %v", time.Since(again), err)
		}
		for _, speed := range []int64{0, 1000} { // another slow one, and one that comes fast
			time.Sleep(time.Minute)
			name, asked := fmt.Sprint("other-", speed), time.Now()
			err := s.asks(t, name, coming(speed))
			time.Sleep(beginTime + time.Second)
			synctest.Wait()
			s.mu.Lock()
			if f := s.bundles[name]; !reconcile.IsAfter(err) || f.begun.Sub(asked) > 0 || f.ended() != (speed == 0) {
				t.Errorf("of %d bytes a second the fetch has begun after %s, ended: %v", speed, f.begun.Sub(asked),
					f.ended())
			}
			s.mu.Unlock()
		}
		going := 0
		s.mu.Lock()
		names := slices.Collect(maps.Keys(s.bundles))
		for name, f := range s.bundles {
			if !f.ended() {
				going++
			} else if fault.CodeOf(f.result.err) != fault.Unavailable {
				t.Errorf("%s: %v", name, f.result.err)
			}
		}
		s.mu.Unlock()
		if going != goingOn {
			t.Errorf("%d go on", going)
		}
		quick := sealed(t, u, "a", "quick")
		if err := s.asks(t, "quick", func(context.Context, func(v1.Progress)) (*content.Content, v1alpha1.Source,
			error,
		) {
			return quick, v1alpha1.Source{}, nil
		}); err != nil {
			t.Error(err)
		}
		for _, name := range names {
			s.end(name, "")
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		s.mu.Lock()
		defer s.mu.Unlock()
		if len(s.bundles) != 0 || len(s.places) != 0 {
			t.Errorf("left are %d fetches, and %d places", len(s.bundles), len(s.places))
		}
	})
}

// A fetch ends with its bundle, and with what it was of.
func TestFetchesEndWithTheirBundles(t *testing.T) {
	missing := func(context.Context, func(v1.Progress)) (*content.Content, v1alpha1.Source, error) {
		return nil, v1alpha1.Source{}, fault.New(fault.NotFound, "none")
	}
	for name, end := range map[string]func(context.Context, *Fetches){
		"deleted":    func(_ context.Context, s *Fetches) { s.end("b", living(nil)) },
		"made again": func(_ context.Context, s *Fetches) { s.end("b", living(madeBundle("b", "2"))) },
		"another source": func(ctx context.Context, s *Fetches) {
			_, _, _ = s.get(ctx, madeBundle("b", "1"), "other", v1alpha1.KindBundle, missing)
		},
	} {
		t.Run(name, func(t *testing.T) {
			u, _ := withCache(t)
			synctest.Test(t, func(t *testing.T) {
				s := NewFetches(u.Fetcher.Cache)
				_ = s.asks(t, "b", coming(1))
				s.mu.Lock()
				f := s.bundles["b"]
				s.mu.Unlock()
				s.end("b", "1")
				if f.ended() {
					t.Fatal("it ends with another bundle")
				}
				end(t.Context(), s)
				synctest.Wait()
				if !f.ended() || fault.CodeOf(f.result.err) != fault.Conflict {
					t.Errorf("it has not ended: %v", f.result.err)
				}
				time.Sleep(time.Hour)
			})
		})
	}
}

// What the bundle and its instance ask for is fetched once for both, and a failure is told each
// of them once: then it is tried again.
func TestFetchesAreShared(t *testing.T) {
	u, _ := withCache(t)
	synctest.Test(t, func(t *testing.T) {
		s, fetched := NewFetches(u.Fetcher.Cache), atomic.Int32{}
		var fails error
		text := sealed(t, u, "a", "text")
		slowly := func(context.Context, func(v1.Progress)) (*content.Content, v1alpha1.Source, error) {
			fetched.Add(1)
			time.Sleep(time.Minute)
			if fails != nil {
				return nil, v1alpha1.Source{}, fails
			}
			return text, v1alpha1.Source{Type: v1alpha1.SourceHTTP}, nil
		}
		get := func(who string) (*content.Content, error) {
			c, resolved, err := s.get(t.Context(), madeBundle("b", "1"), "source", who, slowly)
			if err == nil && resolved.Type != v1alpha1.SourceHTTP {
				t.Error(resolved)
			}
			return c, err
		}
		whose := []string{v1alpha1.KindBundle, v1alpha1.KindInstance}
		for round, err := range []error{nil, fault.New(fault.Unavailable, "down")} {
			fails = err
			for _, who := range whose {
				if _, err := get(who); !reconcile.IsAfter(err) {
					t.Fatal(err)
				}
			}
			time.Sleep(time.Minute + time.Second)
			for _, who := range whose {
				c, err := get(who)
				if fault.CodeOf(err) != fault.CodeOf(fails) || (c == nil) != (fails != nil) {
					t.Fatal(c, err)
				}
				if c != nil {
					_ = c.Close()
				}
			}
			if int(fetched.Load()) != round+1 {
				t.Errorf("fetched %d times in round %d", fetched.Load(), round+1)
			}
		}
		if _, err := get(whose[0]); !reconcile.IsAfter(err) || fetched.Load() != 3 {
			t.Errorf("it is not tried again: %v", err)
		}
		time.Sleep(time.Hour) // nobody comes for it
		s.mu.Lock()
		defer s.mu.Unlock()
		if len(s.bundles) != 0 {
			t.Errorf("%d are kept", len(s.bundles))
		}
	})
}

// Content is sent once a worker's fetch has ended, which it neither ends nor takes the result of.
// A defect in one is the error of that one.
func TestFetchesOfWhatIsSent(t *testing.T) {
	u, _ := withCache(t)
	u.Fetcher.Cache = content.NewCache(t.TempDir(), 0) // which has let everything go
	synctest.Test(t, func(t *testing.T) {
		s, begun, fetched := NewFetches(u.Fetcher.Cache), time.Now(), 0
		theirs := sealed(t, u, "a", "theirs")
		slowly := func(context.Context, func(v1.Progress)) (*content.Content, v1alpha1.Source, error) {
			fetched++
			time.Sleep(time.Minute)
			return theirs, v1alpha1.Source{}, nil
		}
		if err := s.asks(t, "b", slowly); !reconcile.IsAfter(err) {
			t.Fatal(err)
		}
		failing := func(context.Context, func(v1.Progress)) (*content.Content, v1alpha1.Source,
			error,
		) {
			panic("a defect")
		}
		if c, err := s.send(t.Context(), madeBundle("b", "1"), "resolved", failing); c != nil || err != nil ||
			time.Since(begun) != time.Minute {
			t.Errorf("after %s: %v, %v", time.Since(begun), c, err)
		}
		for _, what := range []string{"resolved", "source"} {
			if c, err := s.send(t.Context(), madeBundle("b", "1"), what, failing); c != nil ||
				fault.CodeOf(err) != fault.Internal {
				t.Errorf("%v, %v", c, err)
			}
		}
		if err := s.asks(t, "b", slowly); err != nil || fetched != 1 {
			t.Errorf("the worker's was fetched %d times, %v", fetched, err)
		}
		time.Sleep(time.Hour)
	})
}

// What is too large for the cache is fetched again each time that it is sent, and what comes slowly
// does not delay what else is sent.
func TestSendingKeepsNobodyWaiting(t *testing.T) {
	u, _ := withCache(t)
	u.Fetcher.Cache = content.NewCache(t.TempDir(), 0)
	synctest.Test(t, func(t *testing.T) {
		s, sent := NewFetches(u.Fetcher.Cache), atomic.Int32{}
		contents := make(chan *content.Content, 3)
		for range cap(contents) {
			contents <- sealed(t, u, "a", "text")
		}
		taking := func(took time.Duration) doFetch {
			return func(context.Context, func(v1.Progress)) (*content.Content, v1alpha1.Source, error) {
				time.Sleep(took)
				return <-contents, v1alpha1.Source{}, nil
			}
		}
		send := func(name string, took time.Duration) {
			for {
				c, err := s.send(t.Context(), madeBundle(name, "1"), "source", taking(took))
				if err != nil {
					t.Error(err)
				}
				if err != nil || c != nil {
					sent.Add(1)
					_ = c.Close()
					return
				}
			}
		}
		for range 2 {
			go send("slow", time.Minute)
		}
		time.Sleep(90 * time.Second) // the second of them is at it
		begun := time.Now()
		send("quick", time.Second)
		if took := time.Since(begun); took != time.Second || sent.Load() != 2 {
			t.Errorf("it took %s, and %d are sent", took, sent.Load())
		}
		time.Sleep(time.Hour)
		if sent.Load() != 3 || len(s.bundles) != 0 {
			t.Errorf("%d are sent, and left are %d fetches", sent.Load(), len(s.bundles))
		}
	})
}

// Of two workers that wait for one fetch, both know by whom its content is signed: either may be the one that writes
// that on the bundle.
func TestSharedFetchIsSigned(t *testing.T) {
	u, _ := withCache(t)
	s := NewFetches(u.Fetcher.Cache)
	c := sealed(t, u, "a", "signed")
	c.SignedBy = "key sha256:1"
	begun, end := make(chan struct{}), make(chan struct{})
	do := func(context.Context, func(v1.Progress)) (*content.Content, v1alpha1.Source, error) {
		close(begun)
		<-end
		return c, v1alpha1.Source{}, nil
	}
	b := madeBundle("b", "1")
	for _, who := range []string{v1alpha1.KindBundle, v1alpha1.KindInstance} {
		s.ask(t.Context(), b, "source", who, do)
	}
	<-begun
	close(end)
	for _, who := range []string{v1alpha1.KindBundle, v1alpha1.KindInstance} {
		got, _, err := s.get(t.Context(), b, "source", who, do)
		if err != nil {
			t.Fatal(err)
		}
		if got.SignedBy != "key sha256:1" {
			t.Errorf("%s: signed by %q", who, got.SignedBy)
		}
		_ = got.Close()
	}
}

package serve

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func election(l *leases, identity string) Election {
	return Election{Leases: l, Namespace: "ns", Name: "lease", Identity: identity, Log: slog.New(slog.DiscardHandler)}
}

// untilDone is work that goes on until it is told to stop.
func untilDone(ctx context.Context) error {
	<-ctx.Done()
	return context.Cause(ctx)
}

func TestOneLeads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &leases{}
		first, endFirst := context.WithCancel(t.Context())
		second, endSecond := context.WithCancel(t.Context())
		done := make(chan string, 2)
		var working atomic.Value
		working.Store("")
		run := func(ctx context.Context, name string) {
			election(l, name).Lead(ctx, func(ctx context.Context) error {
				if other := working.Swap(name); other != "" {
					t.Errorf("%s and %s work at once", other, name)
				}
				<-ctx.Done()
				time.Sleep(5 * time.Second) // what is under way
				working.Store("")
				return nil
			})
			done <- name
		}
		go run(first, "a")
		synctest.Wait()
		go run(second, "b")
		time.Sleep(time.Minute)
		if working.Load() != "a" || l.holder() != "a" {
			t.Fatalf("%q works, %q holds the lease, want a", working.Load(), l.holder())
		}
		endFirst()
		time.Sleep(4 * time.Second)
		if l.holder() != "a" {
			t.Error("the lease was given back before the work had ended")
		}
		for waited := time.Duration(0); working.Load() != "b" && waited < time.Minute; waited += time.Second {
			time.Sleep(time.Second) // until the end of the work, and the next look of the other
		}
		if working.Load() != "b" || l.holder() != "b" {
			t.Errorf("%q works, %q holds the lease, want b", working.Load(), l.holder())
		}
		endSecond()
		<-done
		<-done
		if l.holder() != "" {
			t.Errorf("%q holds the lease", l.holder())
		}
	})
}

// A leader that cannot renew its lease stops before another one can take it, and leads again when it can.
func TestLeaseIsLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &leases{}
		ctx, end := context.WithCancel(t.Context())
		defer end()
		causes := make(chan error, 1)
		var begun atomic.Int64
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			election(l, "a").Lead(ctx, func(ctx context.Context) error {
				begun.Add(1)
				<-ctx.Done()
				causes <- context.Cause(ctx)
				return nil
			})
		}()
		time.Sleep(time.Minute)
		l.fail(true)
		failed := time.Now()
		if cause := <-causes; !errors.Is(cause, ErrNotLeader) {
			t.Errorf("the work ended by %v", cause)
		}
		if took := time.Since(failed); took >= leaseFor {
			t.Errorf("it worked for %s after the last renewal; another may lead after %s", took, leaseFor)
		}
		l.fail(false)
		time.Sleep(time.Minute)
		if n := begun.Load(); n != 2 {
			t.Errorf("it led %d times, want again", n)
		}
		end()
		if cause := <-causes; cause == nil {
			t.Error("the work ended without a cause")
		}
		<-ended
	})
}

func TestHold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &leases{}
		failure := errors.New("failed")
		if err := election(l, "a").Hold(t.Context(), func(context.Context) error { return failure }); !errors.Is(err,
			failure) {
			t.Errorf("the error of the work is %v", err)
		}
		if l.holder() != "" {
			t.Error("the lease was not given back")
		}
		ctx, end := context.WithCancel(t.Context())
		go func() { _ = election(l, "server").Hold(ctx, untilDone) }()
		synctest.Wait()
		// A terminal gives up as soon as it sees that another one leads.
		given := errors.New("given up")
		waiting, giveUp := context.WithCancelCause(t.Context())
		terminal := election(l, "terminal")
		terminal.Other = func(identity string) { giveUp(errors.Join(given, errors.New(identity))) }
		err := terminal.Hold(waiting, func(context.Context) error { t.Error("it worked"); return nil })
		if !errors.Is(err, given) {
			t.Errorf("it ended with %v", err)
		}
		end()
		time.Sleep(time.Second)
		synctest.Wait()
	})
}

func TestLeader(t *testing.T) {
	for name, c := range map[string]struct {
		holder string
		age    time.Duration // of the last renewal, by this host's clock
		renews bool
		want   string
		takes  time.Duration
	}{
		"given back":                            {"", time.Second, false, "", 0},
		"renewed just now":                      {"a", time.Second, true, "a", 0},
		"dead for long":                         {"a", time.Hour, false, "", 0},
		"dead for a moment":                     {"a", 20 * time.Second, false, "", 16 * time.Second},
		"alive with a clock that is behind":     {"a", time.Minute, true, "a", 2 * time.Second},
		"alive with a clock that is far ahead":  {"a", -time.Hour, true, "a", 2 * time.Second},
		"dead, with a clock that was far ahead": {"a", -time.Hour, false, "", 16 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := &leases{}
				renewed, seconds := metav1.NewMicroTime(time.Now().Add(-c.age)), int32(15)
				lease := &coordinationv1.Lease{Spec: coordinationv1.LeaseSpec{
					HolderIdentity: &c.holder, RenewTime: &renewed,
					LeaseDurationSeconds: &seconds,
				}}
				_, _ = l.Create(t.Context(), lease, metav1.CreateOptions{})
				if c.renews {
					go func() {
						time.Sleep(1500 * time.Millisecond)
						l.mu.Lock()
						defer l.mu.Unlock()
						l.put(lease)
					}()
				}
				begun := time.Now()
				got, err := Leader(t.Context(), l, "system", "lease", time.Now)
				if took := time.Since(begun); err != nil || got != c.want || took != c.takes {
					t.Errorf("the leader is %q after %s, %v; want %q after %s", got, took, err, c.want, c.takes)
				}
				time.Sleep(2 * time.Second)
			})
		})
	}
	if got, err := Leader(t.Context(), &leases{}, "system", "lease", time.Now); got != "" || err != nil {
		t.Errorf("without a lease the leader is %q, %v", got, err)
	}
}

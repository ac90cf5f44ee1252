package controller

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/provision"
	"github.com/berthdev/berth/internal/provision/inventory"
	"github.com/berthdev/berth/internal/waittest"
)

// running lets the controller of a world run until the test ends, and returns when it knows
// everything.
func (w *world) running() {
	w.t.Helper()
	ctx, stop := context.WithCancel(w.t.Context())
	ready, over := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(over)
		w.Run(ctx, func() { close(ready) })
	}()
	w.t.Cleanup(func() {
		stop()
		<-over
	})
	w.until("everything is known", func() bool {
		select {
		case <-ready:
			return true
		default:
			return false
		}
	})
}

func (w *world) until(what string, condition func() bool) {
	w.t.Helper()
	waittest.Until(w.t, what, condition)
}

// A controller that runs brings about what is wanted when it begins and what is wanted later,
// and what somebody does about the pods; it goes on where the API server was away.
func TestRun(t *testing.T) {
	for name, refused := range map[string]string{
		"all is well": "", "the pods cannot be listed at first": "watch pods", "the records cannot": "list configmaps",
		"the records cannot be watched at first": "watch configmaps",
		"nothing can be written at first":        "patch configmaps",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.Partial, w.Full = 10*time.Millisecond, time.Hour
			id, other := w.provision("alice"), w.provision("bob")
			w.want(id, v1.DesiredStopped)
			var once atomic.Bool
			w.requests.Set(http.StatusInternalServerError, func(_ int, request string) bool {
				return request == refused && once.CompareAndSwap(false, true)
			})
			w.running()
			is := func(id string, desired v1.DesiredState, actual v1.ActualState) {
				t.Helper()
				w.until(id+" is "+string(actual), func() bool {
					r := w.record(id)
					return r.Desired == desired && r.Actual == actual && !r.Pending() &&
						slices.Contains(w.pods(), id) == (actual == v1.ActualRunning)
				})
			}
			is(id, v1.DesiredStopped, v1.ActualStopped)
			is(other, v1.DesiredRunning, v1.ActualRunning)
			w.want(id, v1.DesiredRunning)
			is(id, v1.DesiredRunning, v1.ActualRunning)
			uid := w.server.Get("/api/v1/namespaces/team/pods/" + id).GetUID()
			w.deletePod(id)
			w.until("it has another pod", func() bool {
				pod := w.server.Get("/api/v1/namespaces/team/pods/" + id)
				return pod != nil && pod.GetUID() != uid
			})
			w.want(id, v1.DesiredTerminated)
			w.until("it is forgotten", func() bool { return w.record(id).ID == "" })
			is(other, v1.DesiredRunning, v1.ActualRunning)
			if refused != "" && !once.Load() {
				t.Errorf("%s was never asked for", refused)
			}
		})
	}
}

// A run that ends before everything is known was never ready.
func TestRunEndsBeforeItIsReady(t *testing.T) {
	for name, refused := range map[string]string{
		"without the pods":    "watch pods",
		"without the records": "list configmaps",
	} {
		w, times := newWorld(t), 0
		ctx, stop := context.WithCancel(t.Context())
		w.requests.Set(http.StatusInternalServerError, func(_ int, request string) bool {
			if request == refused {
				times++
			}
			if times > 1 { // the others are known by then
				stop()
			}
			return request == refused
		})
		w.Run(ctx, func() { t.Errorf("%s it is ready", name) })
		stop()
	}
}

// clock is a controller without a cluster, by the clock of a test.
func clock(log *lines) *Controller {
	return &Controller{
		Log: slog.New(slog.NewTextHandler(log, nil)),
		Provisioner: &provision.Provisioner{
			Environment: provision.Environment{Reader: inventory.Reader{Now: time.Now}},
		},
	}
}

// What ends is done again after a pause that grows, up to a minute, and is short again after
// it went well for long. It is over with its context, also in a pause.
func TestAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		var log lines
		var paused []time.Duration
		last := time.Now()
		clock(&log).again(ctx, "watching", func(context.Context) error {
			paused = append(paused, time.Since(last))
			switch len(paused) {
			case 8:
				time.Sleep(time.Minute) // which is not long
			case 9:
				time.Sleep(time.Minute + 1)
			case 11:
				time.AfterFunc(time.Second, cancel)
			}
			last = time.Now()
			return errors.New("it broke\noff")
		})
		if got, want := fmt.Sprint(paused), "[0s 1s 2s 4s 8s 16s 32s 1m0s 1m0s 1s 2s]"; got != want {
			t.Errorf("the pauses are %s, want %s", got, want)
		}
		if got := time.Since(last); got != time.Second {
			t.Errorf("it ends %s after the last time", got)
		}
		if got := log.String(); strings.Count(got, "level=WARN") != len(paused) ||
			strings.Count(got, "watching ended") != len(paused) || !strings.Contains(got, "pause=32s") {
			t.Errorf("it says %s", got)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		var log lines
		clock(&log).again(ctx, "watching", func(context.Context) error {
			cancel()
			return ctx.Err()
		})
		if got := log.String(); got != "" {
			t.Errorf("at the end it says %s", got)
		}
	})
}

// What is interrupted is told.
func TestInterrupted(t *testing.T) {
	var log lines
	(&handler{log: slog.New(slog.NewTextHandler(&log, nil))}).Interrupted(fault.New(fault.Unavailable, "away"))
	if got := log.String(); !strings.Contains(got, "level=WARN") || !strings.Contains(got, "error=away") {
		t.Errorf("it says %q", got)
	}
}

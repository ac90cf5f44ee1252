package transport

import (
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// closing notes that it is closed.
type closing struct {
	io.Reader
	closed *bool
}

func (c closing) Close() error { *c.closed = true; return nil }

// A request ends with its context though what sends it hangs; what comes after that is closed.
func TestGuard(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		goOn, closed := make(chan struct{}), false
		hangs := roundTripper(func(*http.Request) (*http.Response, error) {
			<-goOn
			return &http.Response{
				StatusCode: http.StatusOK, Header: http.Header{},
				Body: closing{strings.NewReader(""), &closed},
			}, nil
		})
		begin := time.Now()
		if _, err := send(ctx, hangs, "GET", pods, "", ""); !errors.Is(err, context.DeadlineExceeded) ||
			time.Since(begin) != time.Minute {
			t.Errorf("%v after %s", err, time.Since(begin))
		}
		close(goOn)
		synctest.Wait()
		if !closed {
			t.Error("the answer that came later is not closed")
		}
	})
}

// After a second it is said what is waited for: the plugin, then the server, then why it is asked again; and no longer
// when that is over.
func TestWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var said []string
		options := Options{Server: "server", Plugin: "plugin", Waiting: func(what string) func() {
			said = append(said, what)
			return func() { said = append(said, "no "+what) }
		}}
		server := &script{answers: []any{respond(429, "", "Retry-After", "3"), 200}}
		inner := Inner(roundTripper(func(r *http.Request) (*http.Response, error) {
			time.Sleep(2 * time.Second)
			return server.RoundTrip(r)
		}))
		client := New(roundTripper(func(r *http.Request) (*http.Response, error) {
			time.Sleep(1500 * time.Millisecond)
			return inner.RoundTrip(r)
		}), options)
		r, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://cluster"+pods, http.NoBody)
		if _, err := receive(client, r); err != nil {
			t.Fatal(err)
		}
		want := []string{
			"plugin", "no plugin", "server to answer", "no server to answer",
			"server (it answered Too Many Requests)", "no server (it answered Too Many Requests)", "server to answer",
			"no server to answer",
		}
		if !slices.Equal(said, want) {
			t.Errorf("said %q", said)
		}
	})
}

// Nothing is said of a log that has no lines yet.
func TestQuietLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		options := Options{Server: "server", Waiting: func(what string) func() { t.Error(what); return func() {} }}
		r, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://cluster"+pods+"/alice/log?follow=true",
			http.NoBody)
		silent := roundTripper(func(r *http.Request) (*http.Response, error) {
			time.Sleep(time.Minute)
			return (&script{answers: []any{200}}).RoundTrip(r)
		})
		if _, err := receive(New(silent, options), r); err != nil {
			t.Fatal(err)
		}
	})
}

// Nothing is said of what is quick.
func TestQuick(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		options := Options{Server: "server", Waiting: func(what string) func() { t.Error(what); return func() {} }}
		r, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://cluster"+pods, http.NoBody)
		if _, err := receive(New(&script{answers: []any{200}}, options), r); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
	})
}

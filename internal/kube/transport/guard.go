// Package transport is the way to the API server: a request ends with its context whatever hangs, is sent again where
// that is safe, and says what it waits for.
package transport

import (
	"context"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// Options are what a transport needs to know.
type Options struct {
	// Server and Plugin are what a request may wait for: the API server, and the credential plugin that is run before
	// the first of them; empty without one.
	Server, Plugin string
	// Waiting is called when a request has waited for something for a second; what it returns is called when that is
	// over. It may be nil.
	Waiting func(what string) (over func())
}

// New makes the outermost transport of a client. Inner has to be the innermost one.
func New(next http.RoundTripper, o Options) *Guard {
	return &Guard{next: &retrier{next: next}, options: o, plugin: make(chan struct{}, 1)}
}

// Guard lets no request outlive its context: credential plugins are run without one, and files are read without one.
type Guard struct {
	next    http.RoundTripper
	options Options
	plugin  chan struct{} // full while a request waits for the credential plugin
	plugins atomic.Int64  // that were left behind and still run
}

// RoundTrip sends a request.
func (g *Guard) RoundTrip(r *http.Request) (*http.Response, error) {
	w := &wait{options: g.options, quiet: isFollowedLog(r)}
	w.on(g.options.first())
	defer w.end()
	r = r.WithContext(context.WithValue(r.Context(), waitKey{}, w))
	if err := g.enter(r.Context(), w); err != nil {
		return nil, err
	}
	answers := make(chan answer, 1)
	go func() {
		defer w.pass()
		response, err := g.next.RoundTrip(r) //nolint:bodyclose // by who gets it, or below
		answers <- answer{response, err}
	}()
	select {
	case a := <-answers:
		return a.Response, a.err
	case <-r.Context().Done():
		plugin := w.plugin()
		g.plugins.Add(plugin)
		go discard(answers, &g.plugins, plugin)
		return nil, r.Context().Err()
	}
}

type answer struct {
	*http.Response
	err error
}

// enter lets one request at a time wait for the credential plugin, which is run for one only: those that wait here can
// be given up.
func (g *Guard) enter(ctx context.Context, w *wait) error {
	if g.options.Plugin == "" {
		w.pass = func() {}
		return nil
	}
	select {
	case g.plugin <- struct{}{}:
		w.pass = sync.OnceFunc(func() { <-g.plugin })
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// discard closes an answer that nobody waits for any more.
func discard(answers <-chan answer, plugins *atomic.Int64, of int64) {
	if a := <-answers; a.Response != nil {
		_ = a.Body.Close()
	}
	plugins.Add(-of)
}

// PluginRuns reports whether a request was given up while the credential plugin was running, and it still is.
func (g *Guard) PluginRuns() bool { return g.plugins.Load() > 0 }

// Inner wraps the innermost transport: what gets here has its credentials.
func Inner(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(r *http.Request) (*http.Response, error) {
		w, _ := r.Context().Value(waitKey{}).(*wait)
		if w == nil || w.options.Plugin == "" {
			return next.RoundTrip(r)
		}
		w.pass()
		w.on(w.options.Server + toAnswer)
		defer w.on(w.options.Plugin) // which is run again if the credentials have expired
		return next.RoundTrip(r)
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

const toAnswer = " to answer"

// silence is how long nothing is said.
const silence = time.Second

// first is what a request waits for at first.
func (o Options) first() string {
	if o.Plugin != "" {
		return o.Plugin
	}
	return o.Server + toAnswer
}

type waitKey struct{}

// wait is what one request waits for.
type wait struct {
	options Options
	quiet   bool   // the server need not answer soon
	pass    func() // the credentials are there: the next one may ask for them

	mu    sync.Mutex
	what  string
	timer *time.Timer
	over  func() // what has been said is no longer so
}

// on says what it waits for from now on.
func (w *wait) on(what string) {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.clear()
	if w.what = what; w.options.Waiting == nil || w.quiet && what != w.options.Plugin {
		return
	}
	var timer *time.Timer
	timer = time.AfterFunc(silence, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.timer == timer {
			w.over = w.options.Waiting(what)
		}
	})
	w.timer = timer
}

// end says that there is nothing to wait for any more.
func (w *wait) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.clear()
}

// clear takes back what has been said; the lock is held.
func (w *wait) clear() {
	if w.timer != nil {
		w.timer.Stop()
	}
	if w.over != nil {
		w.over()
	}
	w.timer, w.over = nil, nil
}

// server is the API server in words.
func (w *wait) server() string {
	if w == nil {
		return ""
	}
	return w.options.Server
}

// plugin is 1 if it waits for the credential plugin.
func (w *wait) plugin() int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.options.Plugin != "" && w.what == w.options.Plugin {
		return 1
	}
	return 0
}

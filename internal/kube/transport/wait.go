package transport

import (
	"sync"
	"time"
)

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

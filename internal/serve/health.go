package serve

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/berthdev/berth/internal/fault"
)

// Health says whether a server lives, and whether it can work.
type Health struct {
	mu       sync.Mutex
	stopping bool
	checks   map[string]func(context.Context) error
}

// checkTimeout is how long the checks of readiness may take.
const checkTimeout = 2 * time.Second

// Check adds something that has to be in order before the server is ready.
func (h *Health) Check(name string, check func(context.Context) error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.checks == nil {
		h.checks = map[string]func(context.Context) error{}
	}
	h.checks[name] = check
}

// stop makes the server unready, so that nobody is sent to it any more.
func (h *Health) stop() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.stopping = true
}

// Problems are why the server is not ready.
func (h *Health) Problems(ctx context.Context) (problems []string) {
	h.mu.Lock()
	stopping, checks := h.stopping, make(map[string]func(context.Context) error, len(h.checks))
	maps.Copy(checks, h.checks)
	h.mu.Unlock()
	if stopping {
		return []string{"it is stopping"}
	}
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	for name, check := range checks {
		if err := check(ctx); err != nil {
			problems = append(problems, name+": "+fault.Line(err.Error()))
		}
	}
	slices.Sort(problems)
	return problems
}

// live answers /healthz: what answers at all lives.
func (h *Health) live(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprintln(w, "ok") }

// ready answers /readyz.
func (h *Health) ready(w http.ResponseWriter, r *http.Request) {
	if problems := h.Problems(r.Context()); len(problems) > 0 {
		http.Error(w, strings.Join(problems, "\n"), http.StatusServiceUnavailable)
		return
	}
	_, _ = fmt.Fprintln(w, "ok")
}

package terminal

import (
	"fmt"
	"slices"
	"sync"
	"time"
)

// Waits are what the command waits for without a sign of life: an API server that
// does not answer, a credential plugin. A view that is redrawn shows them as long as
// they last; without one, each is a line on stderr, once. The methods of nil do
// nothing.
type Waits struct {
	mu      sync.Mutex
	current []*string
	printed map[string]bool
	views   int
}

// Waiting says what is waited for, until over is called.
func (s Streams) Waiting(what string) (over func()) {
	w := s.Waits
	if w == nil {
		return func() {}
	}
	line := "waiting for " + what
	w.mu.Lock()
	w.current = append(w.current, &line)
	isNew := w.views == 0 && !w.printed[line]
	if isNew {
		w.printed[line] = true
	}
	w.mu.Unlock()
	if isNew {
		_, _ = fmt.Fprintln(s.Err, s.Err.Styles().Text(line))
	}
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.current = slices.DeleteFunc(w.current, func(of *string) bool { return of == &line })
	}
}

// Slowly says what is waited for if that takes longer than a second.
func (s Streams) Slowly(what string) (over func()) {
	var mu sync.Mutex
	said := func() {}
	timer := time.AfterFunc(time.Second, func() {
		mu.Lock()
		defer mu.Unlock()
		said = s.Waiting(what)
	})
	return func() {
		timer.Stop()
		mu.Lock()
		defer mu.Unlock()
		said()
	}
}

// Lines are what is waited for now, for a view that shows it.
func (w *Waits) Lines() []string {
	if w == nil {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	var lines []string
	for _, line := range w.current {
		if !slices.Contains(lines, *line) {
			lines = append(lines, *line)
		}
	}
	return lines
}

// Shown says that a view shows them from now on, until release is called: a line
// would be written into its picture.
func (w *Waits) Shown() (release func()) {
	if w == nil {
		return func() {}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.views++
	return sync.OnceFunc(func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.views--
	})
}

func newWaits() *Waits { return &Waits{printed: map[string]bool{}} }

package server

import (
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/berthdev/berth/internal/exec"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/serve"
	"github.com/berthdev/berth/internal/waittest"
)

// A session that is idle ends, and its client is told why.
func TestIdle(t *testing.T) {
	r := start(t, echo, func(s *Server, _ *serve.Limits) { s.Timeouts.Idle = 50 * time.Millisecond })
	_, err := r.runner("alice")(t.Context(), []string{"wait"}, exec.Session{Stdout: io.Discard})
	if fault.CodeOf(err) != fault.DeadlineExceeded || !strings.Contains(err.Error(), "nothing was sent for 50ms") {
		t.Errorf("alice is told %v (%s)", err, fault.CodeOf(err))
	}
	waittest.Until(t, "the audit says it",
		func() bool { return strings.Contains(r.log.String(), `"ended":"nothing was sent for 50ms"`) })
}

// Whatever is sent puts the end off.
func TestNotIdle(t *testing.T) {
	for name, send := range map[string]func(*streams){
		"stdin":  func(s *streams) { _, _ = s.stdin.Read(make([]byte, 1)) },
		"resize": func(s *streams) { _, _ = s.resize.Read(make([]byte, 1)) },
		"stdout": func(s *streams) { _, _ = s.stdout.Write([]byte("x")) },
		"stderr": func(s *streams) { _, _ = s.stderr.Write([]byte("x")) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var ended atomic.Bool
				i := idleFor(time.Hour, func(error) { ended.Store(true) })
				s := &streams{
					stdin: strings.NewReader("xxxx"), resize: strings.NewReader("xxxx"), stdout: io.Discard,
					stderr: io.Discard,
				}
				i.watch(s)
				for range 4 {
					time.Sleep(40 * time.Minute)
					send(s)
				}
				time.Sleep(40 * time.Minute)
				synctest.Wait()
				if ended.Load() {
					t.Error("it has ended")
				}
				time.Sleep(40 * time.Minute)
				synctest.Wait()
				if !ended.Load() {
					t.Error("it does not end")
				}
			})
		})
	}
}

package provision

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/berthdev/berth/internal/event"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/lifecycle"
)

// A start of a workspace that was found before another command updated it does not bring back what it was
// before that update: several workspaces are looked up together, and started one after the other.
func TestStartOfWhatAnotherHasUpdated(t *testing.T) {
	dir := modelDir(t)
	const user = "alice~model"
	synctest.Test(t, func(t *testing.T) {
		keepsStates := func(pr *Provisioner) { pr.States = lifecycle.Place{Client: pr.Client} }
		s := pause{user: user, blueprints: dir, a: "delete"}
		m := s.prepare(t)
		do := func(what string) {
			t.Helper()
			p := newProcess(m)
			p.configure = keepsStates
			if err := <-p.start(t, what, user, dir); err != nil {
				t.Fatalf("%s: %v", what, err)
			}
		}
		do("stop")
		p := newProcess(m)
		c := modelCommand{p.provisioner(t, dir), p, t, user, event.NewStream(user, time.Now)}
		keepsStates(c.Provisioner)
		target, err := c.FindRecorded(t.Context(), c.argument())
		if err != nil {
			t.Fatal(err)
		}
		do("update the environment")
		do("stop")
		m.writes = nil
		if _, err := c.Start(t.Context(), target, c.stream); fault.CodeOf(err) != fault.Conflict {
			t.Errorf("it ends with %v", err)
		}
		if slices.ContainsFunc(m.writes, func(w string) bool { return strings.Contains(w, "/pods") }) {
			t.Errorf("it changed %q", m.writes)
		}
		do("start")
		m.mu.Lock()
		defer m.mu.Unlock()
		for at, object := range m.objects {
			if !strings.HasSuffix(at, "/pods/"+target.ID) {
				continue
			}
			text, err := json.Marshal(object)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(string(text), "GREETING") {
				t.Errorf("%s is what it was before the update", at)
			}
		}
	})
}

// Of a workspace that is in a workload, only its state record has what it was made of. A start that has read it
// before another command updated and stopped the workspace brings neither the workload nor the record back.
func TestStartOfWhatAnotherHasUpdatedInAWorkload(t *testing.T) {
	dir := modelDir(t)
	for what, test := range map[string]struct {
		meanwhile []string // between the read of the record and the lock
		code      fault.Code
	}{
		"nobody is at work":       {nil, ""},
		"updated and stopped":     {[]string{"update the environment", "stop"}, fault.Conflict},
		"started and stopped":     {[]string{"start", "stop"}, ""},
		"deleted":                 {[]string{"delete"}, fault.Conflict},
		"deleted, made again":     {[]string{"delete", "provision", "stop"}, ""},
		"deleted, made otherwise": {[]string{"delete", "provision", "update the environment", "stop"}, fault.Conflict},
	} {
		t.Run(what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				keepsStates := func(pr *Provisioner) { pr.States = lifecycle.Place{Client: pr.Client} }
				m := pause{user: modelInjected, blueprints: dir, a: "provision", injected: true}.prepare(t)
				do := func(what string) {
					t.Helper()
					p := newProcess(m)
					p.configure = keepsStates
					if err := <-p.start(t, what, modelInjected, dir); err != nil {
						t.Fatalf("%s: %v", what, err)
					}
				}
				do("provision")
				do("stop")
				p := newProcess(m)
				p.configure = keepsStates
				var once sync.Once
				p.disturb = func(q *http.Request) error {
					if strings.Contains(q.URL.Path, "/leases") {
						once.Do(func() {
							for _, what := range test.meanwhile {
								do(what)
							}
							m.writes = nil
						})
					}
					return nil
				}
				if err := <-p.start(t, "start", modelInjected, dir); fault.CodeOf(err) != test.code {
					t.Errorf("it ends with %v", err)
				}
				wrote := slices.ContainsFunc(m.writes, func(w string) bool { return !strings.Contains(w, "/leases/") })
				if wrote != (test.code == "") {
					t.Errorf("it changed %q", m.writes)
				}
			})
		})
	}
}

package provision

import (
	"encoding/json"
	"slices"
	"strings"
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

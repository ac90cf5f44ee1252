package provision

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/blueprint/catalog"
	"github.com/berthdev/berth/internal/event"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/provision/inventory"
	"github.com/berthdev/berth/internal/userstring"
	"github.com/berthdev/berth/internal/watch/cause"
)

// A running workspace keeps its settings, and the command reports which of them differ from the blueprint.
// The first run, and a run that wants the same settings, report nothing.
func TestDriftOfARunningWorkspace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newAPIServer(0)
		u := userstring.UserString{User: "alice"}
		go func() {
			<-server.podMade
			server.ready(u.ID())
		}()
		provision := func(overrides ...catalog.Override) (Outcome, []v1.Warning, error) {
			var warnings []v1.Warning
			p := &Provisioner{Environment: Environment{
				Reader: inventory.Reader{
					Client: server.client(t), Policy: cause.DefaultPolicy(),
					Now: time.Now,
				},
				Users:            everybody{},
				Blueprints:       func(context.Context) (*catalog.Set, error) { return catalog.Load("") },
				DefaultBlueprint: "default",
			}, Options: Options{Overrides: overrides}}
			stream := event.NewStream(u.ID(), time.Now, sink(func(e v1.Event) {
				if e.Warning != nil {
					warnings = append(warnings, *e.Warning)
				}
			}))
			outcome, err := p.Provision(t.Context(), u, stream)
			stream.Finish(v1.Result{})
			return outcome, warnings, err
		}
		if _, warnings, err := provision(); err != nil || len(warnings) > 0 {
			t.Fatalf("the first run: %v, warnings %+v", err, warnings)
		}
		if o, warnings, err := provision(); fault.CodeOf(err) != fault.AlreadyExists || len(warnings)+
			len(o.Workspace.Drift) > 0 {
			t.Errorf("the same again: %v, warnings %+v, drift %q", err, warnings, o.Workspace.Drift)
		}
		o, warnings, err := provision(
			catalog.Override{Path: "image", Value: "registry.example.com/other:2"},
			catalog.Override{Path: "env.TOKEN", Value: "hunter2"})
		if fault.CodeOf(err) != fault.AlreadyExists || len(warnings) != 1 || warnings[0].Reason != "BlueprintChanged" {
			t.Fatalf("with another image: %v, warnings %+v", err, warnings)
		}
		if len(o.Workspace.Drift) != 2 || !slices.Contains(o.Workspace.Drift, "env.TOKEN") ||
			!strings.Contains(warnings[0].Message, "→ registry.example.com/other:2") {
			t.Errorf("drift %q, warning %q", o.Workspace.Drift, warnings[0].Message)
		}
	})
}

package standalone

import (
	"slices"
	"strings"
	"testing"
	"time"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/event"
	"github.com/berthdev/berth/internal/provision/deploy"
	"github.com/berthdev/berth/internal/provision/inventory"
	"github.com/berthdev/berth/internal/provision/manifest"
	"github.com/berthdev/berth/internal/rbac"
	"github.com/berthdev/berth/internal/userstring"
)

// notes are the messages of a stream.
type notes []string

func (n *notes) Handle(e v1.Event) {
	if e.Progress != nil {
		*n = append(*n, e.Progress.Message)
	}
}

// The hints of a workspace know its blueprint: what it is about is read from the chart's pod.
func TestPrepareKnowsTheBlueprint(t *testing.T) {
	user, err := userstring.Parse("alice~dev")
	if err != nil {
		t.Fatal(err)
	}
	spec := manifest.Spec{User: user, Namespace: "dev"}
	spec.Blueprint.Name, spec.Blueprint.Image = "dev", "x"
	target, _, without := on(t)
	d, _, err := target.Prepare(spec, inventory.Found{}, deploy.Permissions{Review: rbac.Review{Incomplete: true}})
	if err != nil {
		t.Fatal(err)
	}
	if about := d.About(&v1.Cause{}); about.Blueprint != "dev" || about.UserString != "alice~dev" {
		t.Errorf("%+v", about)
	}
	if d, _, err = target.prepare(spec, without.Chart, inventory.Found{},
		deploy.Permissions{Review: rbac.Review{Incomplete: true}}); err != nil || d.About != nil {
		t.Errorf("of a chart without a pod: %v", err)
	}
}

// Anyone who provisions a workspace hears of everything by which it gets at credentials.
func TestPrepareSaysWhoGetsAtCredentials(t *testing.T) {
	user, err := userstring.Parse("alice~repo=org/proj")
	if err != nil {
		t.Fatal(err)
	}
	spec := manifest.Spec{
		User: user, Namespace: "dev", Repository: &manifest.Repository{URL: "https://git.example.com/org/proj.git"},
		Access: manifest.Access{Repositories: []manifest.RepositoryAccess{{
			URL:      "https://git.example.com",
			Username: "alice", Password: "hunter2", InWorkspace: true,
		}}},
	}
	b := &spec.Blueprint
	b.Name, b.Image, b.HelperImage, b.Podman.Enabled, b.Podman.Image = "dev", "x", "y", true, "z"
	b.Podman.SecurityContext = map[string]any{"privileged": true}
	target, _, _ := on(t)
	var said notes
	target.Steps = deploy.NewSteps(event.NewStream("alice", time.Now, &said), time.Now)
	d, plan, err := target.Prepare(spec, inventory.Found{}, deploy.Permissions{Review: rbac.Review{Incomplete: true}})
	if err != nil || !plan.Writes() {
		t.Fatal(plan, err)
	}
	if err := target.CheckUpdate(inventory.Found{}, d); err != nil { // an update says it, too
		t.Fatal(err)
	}
	target.Steps.Finish(v1.Result{})
	if len(said) != 4 || !strings.Contains(said[0], "(inWorkspace)") ||
		!strings.Contains(said[1], "podman sidecar is privileged") || !slices.Equal(said[:2], said[2:]) {
		t.Errorf("%q", said)
	}
}

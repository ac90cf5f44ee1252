package recorded_test

import (
	"testing"

	"k8s.io/client-go/kubernetes/fake"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/lifecycle"
	"github.com/berthdev/berth/internal/provision/inventory/fleet"
	"github.com/berthdev/berth/internal/provision/inventory/recorded"
)

// A workspace that is watched and stopped becomes Stopped; one that is deleted, or whose pod
// somebody has removed, is gone. One that is stopped already is there from the beginning.
func TestStoppedInsteadOfGone(t *testing.T) {
	for name, c := range map[string]struct {
		desired v1.DesiredState // empty for no record
		gone    bool
		want    v1.Stage
		isGone  bool
	}{
		"stopped":               {desired: v1.DesiredStopped, gone: true, want: v1.StageStopped},
		"still there":           {desired: v1.DesiredStopped, want: v1.StageTerminating},
		"deleted":               {desired: v1.DesiredTerminated, gone: true, want: v1.StageUnknown, isGone: true},
		"its pod was removed":   {desired: v1.DesiredRunning, gone: true, want: v1.StageUnknown, isGone: true},
		"nothing was recorded":  {gone: true, want: v1.StageUnknown, isGone: true},
		"it is about to return": {desired: v1.DesiredRestart, gone: true, want: v1.StageUnknown, isGone: true},
	} {
		t.Run(name, func(t *testing.T) {
			place := lifecycle.Place{Client: &kube.Client{Interface: fake.NewClientset(), Namespace: "team"}}
			if c.desired != "" {
				_, err := place.Of("team").Change(t.Context(), "alice-1", func(lifecycle.Record) (lifecycle.Record, error) { return record(c.desired, v1.ActualRunning), nil })
				if err != nil {
					t.Fatal(err)
				}
			}
			w := seen(v1.StageTerminating)
			if c.gone {
				w.Snapshot = v1.Snapshot{Stage: v1.StageUnknown, Status: v1.StatusUnknown, Gone: true, Message: "deleted"}
			}
			s := recorded.Stopped{Place: place, Query: fleet.Query{Namespace: "team", Owners: []string{"alice"}}}
			got := s.InsteadOfGone(t.Context(), []v1.Workspace{w})[0]
			if got.Stage != c.want || got.Gone != c.isGone || got.ID != "alice-1" {
				t.Errorf("%+v", got.Snapshot)
			}
			if all, missing := s.Add(t.Context(), nil); len(missing) > 0 || (len(all) == 1) != (c.desired != "") {
				t.Errorf("at first %+v, missing %v", all, missing)
			}
		})
	}
}

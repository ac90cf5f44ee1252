package instance

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berthdev/berth/api/bundle/v1alpha1"
	"github.com/berthdev/berth/internal/event"
	"github.com/berthdev/berth/internal/fault"
)

// A command that follows a server tells what became of its own request, and of no other.
func TestArrived(t *testing.T) {
	status := func(observed int64, valid, installed, healthy string) *v1alpha1.Instance {
		in := &v1alpha1.Instance{}
		in.Generation, in.Status.ObservedGeneration, in.Status.InstalledBundleName = 2, observed, "web-1"
		for kind, text := range map[string]string{
			v1alpha1.ConditionHasValidBundle: valid, v1alpha1.ConditionInstalled: installed,
			v1alpha1.ConditionHealthy: healthy,
		} {
			if text != "" {
				c := metav1.Condition{Type: kind, Status: metav1.ConditionStatus(text), Reason: "R"}
				if text == "Pending" {
					c.Status, c.Reason = metav1.ConditionFalse, v1alpha1.ReasonUnpackPending
				}
				meta.SetStatusCondition(&in.Status.Conditions, c)
			}
		}
		return in
	}
	another := status(3, "True", "True", "True")
	another.Generation = 3
	for name, test := range map[string]struct {
		now  *v1alpha1.Instance
		done bool
		code fault.Code
	}{
		"nobody has looked at it":     {status(1, "True", "True", "True"), false, ""},
		"nothing is known":            {status(2, "", "", ""), false, ""},
		"it is being unpacked":        {status(2, "Pending", "Unknown", "Unknown"), false, ""},
		"it cannot be unpacked":       {status(2, "False", "True", "True"), true, fault.Failed},
		"it cannot be installed":      {status(2, "True", "False", "True"), true, fault.Failed},
		"it is on its way":            {status(2, "True", "True", "Unknown"), false, ""},
		"it is not healthy yet":       {status(2, "True", "True", "False"), false, ""},
		"it is there":                 {status(2, "True", "True", "True"), true, ""},
		"somebody else has their way": {another, true, fault.Conflict},
	} {
		t.Run(name, func(t *testing.T) {
			p := &pass{in: status(1, "", "", ""), steps: event.NewSteps(event.NewStream("", time.Now), time.Now)}
			done, err := p.arrived(test.now)
			if done != test.done || err != nil && fault.CodeOf(err) != test.code || err == nil && test.code != "" {
				t.Errorf("%t, %v, want %t, %s", done, err, test.done, test.code)
			}
			if ended := done && err == nil; p.outcome.Healthy != ended || ended && p.outcome.Bundle != "web-1" {
				t.Errorf("the outcome is %+v", p.outcome)
			}
		})
	}
}

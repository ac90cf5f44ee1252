package main

import (
	"reflect"
	"testing"

	v1 "github.com/berthdev/berth/api/v1"
)

// What a policy makes of a cause is what it makes of the recordings.
func TestTreated(t *testing.T) {
	atTop(t)
	all, err := dumps()
	if err != nil {
		t.Fatal(err)
	}
	fails, waits := []v1.Treatment{v1.TreatmentFails}, []v1.Treatment{v1.TreatmentWaits}
	either := []v1.Treatment{v1.TreatmentWaits, v1.TreatmentFails}
	for name, want := range map[string]struct {
		code string
		treatments
	}{
		"recordings/pull-not-found":    {"ImageNotFound", treatments{fails, fails}},
		"recordings/pull-no-such-host": {"RegistryUnreachable", treatments{fails, fails}},
		"recordings/unsched-cpu":       {"Unschedulable", treatments{waits, waits}},
		"recordings/graceful-delete":   {"PodDeleted", treatments{fails, fails}},
		"recordings/quota-exceeded":    {"QuotaExceeded", treatments{either, either}},
		"recordings/job-ok":            {},
		"recordings/nosuch":            {},
	} {
		if code, got := all[name].treated(); code != want.code || !reflect.DeepEqual(got, want.treatments) {
			t.Errorf("%s: %s %+v, want %+v", name, code, got, want)
		}
	}
}

// Of many dumps, each treatment is said once, the gravest first.
func TestPolicies(t *testing.T) {
	got := treatments{
		fast:    []v1.Treatment{v1.TreatmentFails, v1.TreatmentFails},
		patient: []v1.Treatment{v1.TreatmentWaits, v1.TreatmentSpared, v1.TreatmentFails, v1.TreatmentSpared},
	}.policies()
	want := []v1.PolicyTreatment{
		{Policy: "fast", Treatments: []v1.Treatment{v1.TreatmentFails}},
		{Policy: "patient", Treatments: []v1.Treatment{v1.TreatmentFails, v1.TreatmentSpared, v1.TreatmentWaits}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

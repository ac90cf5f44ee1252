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
	for name, want := range map[string]struct {
		code          string
		fast, patient v1.Treatment
	}{
		"recordings/pull-not-found":    {"ImageNotFound", v1.TreatmentFails, v1.TreatmentFails},
		"recordings/pull-no-such-host": {"RegistryUnreachable", v1.TreatmentFails, v1.TreatmentFails},
		"recordings/unsched-cpu":       {"Unschedulable", v1.TreatmentWaits, v1.TreatmentWaits},
		"recordings/graceful-delete":   {"PodDeleted", v1.TreatmentFails, v1.TreatmentFails},
		"recordings/job-ok":            {},
		"recordings/nosuch":            {},
	} {
		if code, fast, patient := all[name].treated(); code != want.code || fast != want.fast || patient != want.patient {
			t.Errorf("%s: %s %s %s, want %+v", name, code, fast, patient, want)
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

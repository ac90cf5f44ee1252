package main

import (
	"slices"
	"time"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/watch/cause"
	"github.com/berthdev/berth/internal/watch/detect"
)

// treatments are what policies were seen to make of a cause, each once.
type treatments struct{ fast, patient []v1.Treatment }

// policies are how the policies treat a cause; nothing if that was never seen.
func (t treatments) policies() (all []v1.PolicyTreatment) {
	for _, p := range []v1.PolicyTreatment{
		{Policy: cause.Fast, Treatments: t.fast},
		{Policy: cause.Patient, Treatments: t.patient},
	} {
		if len(p.Treatments) > 0 {
			order := []v1.Treatment{v1.TreatmentFails, v1.TreatmentSpared, v1.TreatmentWaits}
			slices.SortFunc(p.Treatments, func(a, b v1.Treatment) int { return slices.Index(order, a) - slices.Index(order, b) })
			all = append(all, v1.PolicyTreatment{Policy: p.Policy, Treatments: slices.Compact(p.Treatments)})
		}
	}
	return all
}

// treated reads all dumps, and says what policies make of the cause of each.
func treated(dumps map[string]dump) map[string]treatments {
	all := map[string]treatments{}
	for _, d := range dumps {
		if code, seen := d.treated(); code != "" {
			t := all[code]
			all[code] = treatments{append(t.fast, seen.fast...), append(t.patient, seen.patient...)}
		}
	}
	return all
}

// treated is the cause in a dump, and what each policy makes of it: patience is tried with a
// grace period that has not ended, and with one that has.
func (d dump) treated() (code string, seen treatments) {
	policy := cause.DefaultPolicy()
	found, err := d.read(policy)
	if err != nil || codeOf(found) == "" {
		return "", treatments{}
	}
	code = codeOf(found)
	failsAfter := func(grace time.Duration) bool {
		policy.Name, policy.GracePeriod = cause.Patient, grace
		read, err := d.read(policy)
		return err == nil && codeOf(read) == code && failed(read)
	}
	const endless = 100 * 365 * 24 * time.Hour
	fast, patient := v1.TreatmentWaits, v1.TreatmentWaits
	if failed(found) {
		fast = v1.TreatmentFails
	}
	switch {
	case failsAfter(endless):
		patient = v1.TreatmentFails
	case failsAfter(0):
		patient = v1.TreatmentSpared
	}
	seen = treatments{[]v1.Treatment{fast}, []v1.Treatment{patient}}
	if refusesPods(found) {
		seen = treatments{append(seen.fast, v1.TreatmentFails), append(seen.patient, v1.TreatmentFails)}
	}
	return code, seen
}

// refusesPods is true for a cause for which a workload waits, as its controller tries again.
// Nothing tries again to create a pod of its own, which is in no dump.
func refusesPods(d v1.Diagnosis) bool {
	return d.Cause != nil && detect.Refusal(d.Cause.Message, "").Code == d.Cause.Code
}

func failed(d v1.Diagnosis) bool { return d.Verdict == v1.VerdictFailed || d.Verdict == v1.VerdictGone }

// codeOf is the cause in a diagnosis. It has none of what does not exist any more.
func codeOf(d v1.Diagnosis) string {
	switch {
	case d.Verdict == v1.VerdictGone:
		return cause.PodDeleted
	case d.Cause == nil:
		return ""
	}
	return d.Cause.Code
}

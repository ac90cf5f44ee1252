package instance

import (
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berthdev/berth/api/bundle/v1alpha1"
	"github.com/berthdev/berth/internal/fault"
)

// verdict is what a pass has found out about one condition.
type verdict struct {
	status  metav1.ConditionStatus
	reason  string
	message string
}

func yes(reason, message string) verdict { return verdict{metav1.ConditionTrue, reason, message} }
func no(reason, message string) verdict  { return verdict{metav1.ConditionFalse, reason, message} }
func unknown(reason, message string) verdict {
	return verdict{metav1.ConditionUnknown, reason, message}
}

// maxMessage is how much a condition says. What it says may come from a chart, and is printed by
// programs that print what is there, as kubectl does.
const maxMessage = 4096

func set(conditions *[]metav1.Condition, kind string, v verdict, generation int64, now time.Time) {
	meta.SetStatusCondition(conditions, metav1.Condition{
		Type: kind, Status: v.status, Reason: v.reason, Message: fault.Shorten(fault.Plain(v.message), maxMessage),
		ObservedGeneration: generation, LastTransitionTime: metav1.NewTime(now),
	})
}

// why is an error as a condition says it, with what to do about it.
func why(err error) string {
	f := fault.From(err)
	message := strings.Join(append([]string{f.Error()}, f.Problems...), "; ")
	if f.Hint != "" {
		message += " (" + f.Hint + ")"
	}
	return message
}

// instanceVerdicts are all conditions of an instance: every one is set on every pass.
type instanceVerdicts struct{ valid, installed, healthy verdict }

// atFirst is what is known of an instance before anything is looked at: what was
// installed is still installed.
func atFirst(in *v1alpha1.Instance) instanceVerdicts {
	v := instanceVerdicts{
		valid:     unknown(v1alpha1.ReasonUnpackPending, "the bundle has not been looked at yet"),
		installed: unknown(v1alpha1.ReasonUnpackPending, "nothing is installed yet"),
		healthy:   unknown(v1alpha1.ReasonInstallationStatusFalse, "nothing is installed yet"),
	}
	if in.Status.InstalledBundleName == "" {
		return v
	}
	v.installed = yes(v1alpha1.ReasonInstallationSucceeded, "bundle "+in.Status.InstalledBundleName+" is installed")
	v.healthy = unknown(v1alpha1.ReasonInstallationStatusFalse, "it has not been looked at")
	for kind, verdict := range map[string]*verdict{
		v1alpha1.ConditionInstalled: &v.installed,
		v1alpha1.ConditionHealthy:   &v.healthy,
	} {
		if c := meta.FindStatusCondition(in.Status.Conditions, kind); c != nil &&
			c.Reason != v1alpha1.ReasonErrorGettingClient {
			verdict.status, verdict.reason, verdict.message = c.Status, c.Reason, c.Message
			if c.Reason == v1alpha1.ReasonObjectsFailed { // until that is seen again
				verdict.reason = v1alpha1.ReasonUnhealthy
			}
		}
	}
	return v
}

// ofBundle is what the wanted bundle says of itself.
func ofBundle(b *v1alpha1.Bundle) verdict {
	c := meta.FindStatusCondition(b.Status.Conditions, v1alpha1.ConditionUnpacked)
	switch {
	case c == nil || b.Status.ObservedGeneration != b.Generation:
		message := "bundle " + b.Name + " is not unpacked yet"
		if class := b.Spec.ProvisionerClassName; !IsOurs(class) {
			message += ": its class " + class + " is not one of berth's, and the program whose it is has to do that"
		}
		return no(v1alpha1.ReasonUnpackPending, message)
	case c.Status == metav1.ConditionTrue:
		return yes(v1alpha1.ReasonUnpackSuccessful, "bundle "+b.Name+" is unpacked")
	case b.Status.Phase == v1alpha1.PhaseFailing:
		return no(v1alpha1.ReasonUnpackFailed, "bundle "+b.Name+": "+c.Message)
	}
	return no(v1alpha1.ReasonUnpackPending, "bundle "+b.Name+": "+c.Message)
}

// apply makes the verdicts those of a status.
func (v instanceVerdicts) apply(in *v1alpha1.Instance, now time.Time) {
	s := &in.Status
	s.ObservedGeneration = in.Generation
	set(&s.Conditions, v1alpha1.ConditionHasValidBundle, v.valid, in.Generation, now)
	set(&s.Conditions, v1alpha1.ConditionInstalled, v.installed, in.Generation, now)
	set(&s.Conditions, v1alpha1.ConditionHealthy, v.healthy, in.Generation, now)
}

// setUnpacked makes a verdict that of a bundle. Anything but success clears what is
// known of the content.
func setUnpacked(b *v1alpha1.Bundle, phase v1alpha1.Phase, v verdict, now time.Time) {
	s := &b.Status
	s.Phase, s.ObservedGeneration = phase, b.Generation
	if phase != v1alpha1.PhaseUnpacked {
		s.ResolvedSource, s.Digest, s.ContentURL = nil, "", ""
	}
	set(&s.Conditions, v1alpha1.ConditionUnpacked, v, b.Generation, now)
}

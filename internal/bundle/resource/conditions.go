package resource

import (
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berthdev/berth/api/bundle/v1alpha1"
	"github.com/berthdev/berth/internal/fault"
)

// Verdict is what a pass has found out about one condition.
type Verdict struct {
	Status  metav1.ConditionStatus
	Reason  string
	Message string
}

// Yes is the verdict that a condition holds.
func Yes(reason, message string) Verdict { return Verdict{metav1.ConditionTrue, reason, message} }

// No is the verdict that a condition does not hold.
func No(reason, message string) Verdict { return Verdict{metav1.ConditionFalse, reason, message} }

// Unknown is the verdict that nobody can say yet.
func Unknown(reason, message string) Verdict {
	return Verdict{metav1.ConditionUnknown, reason, message}
}

// MaxMessage is how much a condition says. What it says may come from a chart, and is printed by
// programs that print what is there, as kubectl does.
const MaxMessage = 4096

func set(conditions *[]metav1.Condition, kind string, v Verdict, generation int64, now time.Time) {
	meta.SetStatusCondition(conditions, metav1.Condition{
		Type: kind, Status: v.Status, Reason: v.Reason, Message: fault.Shorten(fault.Plain(v.Message), MaxMessage),
		ObservedGeneration: generation, LastTransitionTime: metav1.NewTime(now),
	})
}

// Why is an error as a condition says it, with what to do about it.
func Why(err error) string {
	f := fault.From(err)
	message := strings.Join(append([]string{f.Error()}, f.Problems...), "; ")
	if f.Hint != "" {
		message += " (" + f.Hint + ")"
	}
	return message
}

// Verdicts are all conditions of an instance: every one is set on every pass.
type Verdicts struct{ Valid, Installed, Healthy Verdict }

// VerdictsOf is what is known of an instance before anything is looked at: what was
// installed is still installed.
func VerdictsOf(in *v1alpha1.Instance) Verdicts {
	v := Verdicts{
		Valid:     Unknown(v1alpha1.ReasonUnpackPending, "the bundle has not been looked at yet"),
		Installed: Unknown(v1alpha1.ReasonUnpackPending, "nothing is installed yet"),
		Healthy:   Unknown(v1alpha1.ReasonInstallationStatusFalse, "nothing is installed yet"),
	}
	if in.Status.InstalledBundleName == "" {
		return v
	}
	v.Installed = Yes(v1alpha1.ReasonInstallationSucceeded, "bundle "+in.Status.InstalledBundleName+" is installed")
	v.Healthy = Unknown(v1alpha1.ReasonInstallationStatusFalse, "it has not been looked at")
	for kind, verdict := range map[string]*Verdict{
		v1alpha1.ConditionInstalled: &v.Installed,
		v1alpha1.ConditionHealthy:   &v.Healthy,
	} {
		if c := meta.FindStatusCondition(in.Status.Conditions, kind); c != nil &&
			c.Reason != v1alpha1.ReasonErrorGettingClient {
			verdict.Status, verdict.Reason, verdict.Message = c.Status, c.Reason, c.Message
			if c.Reason == v1alpha1.ReasonObjectsFailed { // until that is seen again
				verdict.Reason = v1alpha1.ReasonUnhealthy
			}
		}
	}
	return v
}

// VerdictOf is what the wanted bundle says of itself.
func VerdictOf(b *v1alpha1.Bundle) Verdict {
	c := meta.FindStatusCondition(b.Status.Conditions, v1alpha1.ConditionUnpacked)
	switch {
	case c == nil || b.Status.ObservedGeneration != b.Generation:
		message := "bundle " + b.Name + " is not unpacked yet"
		if class := b.Spec.ProvisionerClassName; !IsOurs(class) {
			message += ": its class " + class + " is not one of berth's, and the program whose it is has to do that"
		}
		return No(v1alpha1.ReasonUnpackPending, message)
	case c.Status == metav1.ConditionTrue:
		return Yes(v1alpha1.ReasonUnpackSuccessful, "bundle "+b.Name+" is unpacked")
	case b.Status.Phase == v1alpha1.PhaseFailing:
		return No(v1alpha1.ReasonUnpackFailed, "bundle "+b.Name+": "+c.Message)
	}
	return No(v1alpha1.ReasonUnpackPending, "bundle "+b.Name+": "+c.Message)
}

// Apply makes the verdicts those of a status.
func (v Verdicts) Apply(in *v1alpha1.Instance, now time.Time) {
	s := &in.Status
	s.ObservedGeneration = in.Generation
	set(&s.Conditions, v1alpha1.ConditionHasValidBundle, v.Valid, in.Generation, now)
	set(&s.Conditions, v1alpha1.ConditionInstalled, v.Installed, in.Generation, now)
	set(&s.Conditions, v1alpha1.ConditionHealthy, v.Healthy, in.Generation, now)
}

// SetUnpacked makes a verdict that of a bundle. Anything but success clears what is
// known of the content.
func SetUnpacked(b *v1alpha1.Bundle, phase v1alpha1.Phase, v Verdict, now time.Time) {
	s := &b.Status
	s.Phase, s.ObservedGeneration = phase, b.Generation
	if phase != v1alpha1.PhaseUnpacked {
		s.ResolvedSource, s.Digest, s.ContentURL = nil, "", ""
	}
	set(&s.Conditions, v1alpha1.ConditionUnpacked, v, b.Generation, now)
}

package resource

import (
	"errors"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berthdev/berth/api/bundle/v1alpha1"
	"github.com/berthdev/berth/internal/fault"
)

// What a chart fails with is printed as it is by programs that show conditions.
func TestConditionsHaveNothingForTerminals(t *testing.T) {
	failed := fault.New(fault.Failed, "c/templates/a.yaml:1: %w",
		errors.New("\x1b]0;PWNED\x07\x1b[31mred\x1b[0m \u202eevil\u2066 \u009b1m\x7f\x00end\xff"))
	failed.Problems = []string{"\x1b[2Jfirst", "second"}
	const want = "c/templates/a.yaml:1: red evil 1mend\uFFFD; first; second (wait)"
	var conditions []metav1.Condition
	set(&conditions, v1alpha1.ConditionInstalled, No("R", Why(failed.WithHint("w\u2067ait"))), 1, time.Unix(0, 0))
	if got := conditions[0].Message; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func instance(installed string, conditions ...metav1.Condition) *v1alpha1.Instance {
	return &v1alpha1.Instance{
		ObjectMeta: metav1.ObjectMeta{Name: "shop", Generation: 2},
		Spec:       v1alpha1.InstanceSpec{ProvisionerClassName: v1alpha1.ClassPlain},
		Status: v1alpha1.InstanceStatus{
			ObservedGeneration: 2, InstalledBundleName: installed,
			Conditions: conditions,
		},
	}
}

func condition(kind string, status metav1.ConditionStatus, reason string) metav1.Condition {
	return metav1.Condition{Type: kind, Status: status, Reason: reason, Message: "because"}
}

// Every condition is set on every pass, and what is installed stays so until something
// else is.
func TestVerdictsOf(t *testing.T) {
	for name, in := range map[string]*v1alpha1.Instance{
		"new": instance(""),
		"installed": instance("shop-1",
			condition(v1alpha1.ConditionInstalled, metav1.ConditionTrue, v1alpha1.ReasonInstallationSucceeded)),
	} {
		v := VerdictsOf(in)
		v.Apply(in, time.Unix(0, 0))
		if len(in.Status.Conditions) != 3 || in.Status.ObservedGeneration != in.Generation {
			t.Errorf("%s: %+v", name, in.Status)
		}
		if is := v.Installed.Status == metav1.ConditionTrue; is != (name == "installed") {
			t.Errorf("%s: installed is %s", name, v.Installed.Status)
		}
	}
}

// What a bundle says of itself is on its instance, and whose work it is to unpack it.
func TestVerdictOf(t *testing.T) {
	bundle := func(class string, phase v1alpha1.Phase, status metav1.ConditionStatus) *v1alpha1.Bundle {
		b := &v1alpha1.Bundle{
			Spec:   v1alpha1.BundleSpec{ProvisionerClassName: class},
			Status: v1alpha1.BundleStatus{Phase: phase},
		}
		b.Name = "web-1"
		if status != "" {
			b.Status.Conditions = []metav1.Condition{{
				Type: v1alpha1.ConditionUnpacked, Status: status,
				Message: "because",
			}}
		}
		return b
	}
	for name, test := range map[string]struct {
		bundle *v1alpha1.Bundle
		want   Verdict
	}{
		"not looked at": {
			bundle(v1alpha1.ClassPlain, "", ""),
			No(v1alpha1.ReasonUnpackPending, "bundle web-1 is not unpacked yet"),
		},
		"of another class": {bundle("theirs", "", ""), No(v1alpha1.ReasonUnpackPending,
			"bundle web-1 is not unpacked yet: its class theirs is not one of berth's, and the program whose it "+
				"is has to do that")},
		"on its way": {
			bundle("theirs", v1alpha1.PhaseUnpacking, metav1.ConditionFalse),
			No(v1alpha1.ReasonUnpackPending, "bundle web-1: because"),
		},
		"failing": {
			bundle("theirs", v1alpha1.PhaseFailing, metav1.ConditionFalse),
			No(v1alpha1.ReasonUnpackFailed, "bundle web-1: because"),
		},
		"unpacked": {
			bundle("theirs", v1alpha1.PhaseUnpacked, metav1.ConditionTrue),
			Yes(v1alpha1.ReasonUnpackSuccessful, "bundle web-1 is unpacked"),
		},
	} {
		if got := VerdictOf(test.bundle); got != test.want {
			t.Errorf("%s: %+v, want %+v", name, got, test.want)
		}
	}
}

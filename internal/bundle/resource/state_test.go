package resource

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berthdev/berth/api/bundle/v1alpha1"
	v1 "github.com/berthdev/berth/api/v1"
)

func TestJudge(t *testing.T) {
	valid := condition(v1alpha1.ConditionHasValidBundle, metav1.ConditionTrue, v1alpha1.ReasonUnpackSuccessful)
	installed := condition(v1alpha1.ConditionInstalled, metav1.ConditionTrue, v1alpha1.ReasonInstallationSucceeded)
	uninstalling := instance("shop-1", valid, installed)
	uninstalling.Annotations = map[string]string{v1alpha1.AnnotationUninstalling: "then"}
	for name, test := range map[string]struct {
		in      *v1alpha1.Instance
		want    v1.BundleStateName
		message string
	}{
		"uninstalling": {uninstalling, v1.BundleDeleting, "its uninstallation began at then and has not ended: " +
			"`berth bundle uninstall` goes on with it, and `berth bundle install` installs it again"},
		"new": {instance(""), v1.BundlePending, ""},
		"not unpacked": {instance("",
			condition(v1alpha1.ConditionHasValidBundle, metav1.ConditionFalse,
				v1alpha1.ReasonUnpackPending)), v1.BundlePending, "because"},
		"unpack failed, the old one stays": {instance("shop-1", installed,
			condition(v1alpha1.ConditionHasValidBundle, metav1.ConditionFalse,
				v1alpha1.ReasonUnpackFailed)), v1.BundleFailed, "because"},
		"upgrade failed": {instance("shop-1", valid,
			condition(v1alpha1.ConditionInstalled, metav1.ConditionFalse,
				v1alpha1.ReasonUpgradeFailed)), v1.BundleFailed, "because"},
		"unhealthy": {instance("shop-1", valid, installed,
			condition(v1alpha1.ConditionHealthy, metav1.ConditionFalse,
				v1alpha1.ReasonUnhealthy)), v1.BundleUnhealthy, "because"},
		"healthy": {instance("shop-1", valid, installed,
			condition(v1alpha1.ConditionHealthy, metav1.ConditionTrue, v1alpha1.ReasonHealthy)), v1.BundleHealthy, ""},
	} {
		if got, message := judge(test.in); got != test.want || message != test.message {
			t.Errorf("%s: %s, %q", name, got, message)
		}
	}
}

// A class that nobody reconciles is warned about, and so is an instance of ours that
// nobody has looked at.
func TestUnattended(t *testing.T) {
	now := time.Unix(1000, 0)
	for name, test := range map[string]struct {
		class    string
		observed int64
		age      time.Duration
		want     string
	}{
		"seen":           {v1alpha1.ClassPlain, 2, time.Hour, ""},
		"just made":      {v1alpha1.ClassPlain, 0, time.Second, ""},
		"ours":           {v1alpha1.ClassPlain, 1, time.Hour, "berth bundle reconcile"},
		"another class":  {"somebody-else", 0, time.Hour, "somebody-else is not one of berth's"},
		"seen by others": {"somebody-else", 2, time.Hour, ""},
	} {
		in := instance("")
		in.Spec.ProvisionerClassName, in.Status.ObservedGeneration = test.class, test.observed
		in.CreationTimestamp = metav1.NewTime(now.Add(-test.age))
		got := strings.Join(StateOf(in, now).Warnings, "\n")
		if (test.want == "") != (got == "") || !strings.Contains(got, test.want) {
			t.Errorf("%s: %q", name, got)
		}
	}
}

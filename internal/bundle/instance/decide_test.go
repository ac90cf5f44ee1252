package instance

import (
	"strings"
	"testing"
	"time"

	helm "helm.sh/helm/v3/pkg/release"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berthdev/berth/api/bundle/v1alpha1"
	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/fault"
)

func TestDecide(t *testing.T) {
	record := func(status helm.Status, manifest string, values map[string]any) *helm.Release {
		return &helm.Release{Manifest: manifest, Config: values, Info: &helm.Info{Status: status}}
	}
	values := map[string]any{"a": 1.0}
	wanted := record(helm.StatusPendingUpgrade, "m", values)
	for name, test := range map[string]struct {
		current   *helm.Release
		installed bool
		want      change
	}{
		"nothing":                         {nil, false, toInstall},
		"the first one failed":            {record(helm.StatusFailed, "m", values), false, toInstall},
		"the first one was cut off":       {record(helm.StatusPendingInstall, "m", values), false, toInstall},
		"the same":                        {record(helm.StatusDeployed, "m", values), true, toRepair},
		"another manifest":                {record(helm.StatusDeployed, "n", values), true, toUpgrade},
		"other values":                    {record(helm.StatusDeployed, "m", nil), true, toUpgrade},
		"an upgrade to the same failed":   {record(helm.StatusFailed, "m", values), true, toUpgrade},
		"an upgrade to the same, cut off": {record(helm.StatusPendingUpgrade, "m", values), true, toUpgrade},
	} {
		if got := decide(test.current, wanted, test.installed); got != test.want {
			t.Errorf("%s: %d, want %d", name, got, test.want)
		}
	}
}

// What is on its way is looked at often, what stays unhealthy not.
func TestLookAgain(t *testing.T) {
	now := time.Unix(1e9, 0)
	for since, want := range map[time.Duration]time.Duration{
		-time.Hour: time.Second, 0: time.Second, 5 * time.Second: 5 * time.Second, 24 * time.Hour: time.Minute,
	} {
		if got := lookAgain(now.Add(-since), now); got != want {
			t.Errorf("after %s: %s, want %s", since, got, want)
		}
	}
}

func TestCheckName(t *testing.T) {
	for name, problem := range map[string]string{
		"shop": "", "a-1": "", strings.Repeat("x", 45): "",
		"": "is empty", strings.Repeat("x", 46): "46 characters", "Shop": "lower-case", "-a": "lower-case",
		"a.b": "lower-case",
	} {
		err := CheckName(name)
		if problem == "" && err != nil || problem != "" &&
			(fault.CodeOf(err) != fault.InvalidArgument || !strings.Contains(err.Error(), problem)) {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// The hash is part of the API: a bundle is found by it, by any version of berth.
func TestTemplateHash(t *testing.T) {
	template := v1alpha1.Template{Spec: v1alpha1.BundleSpec{
		ProvisionerClassName: v1alpha1.ClassPlain,
		Source: v1alpha1.Source{
			Type:  v1alpha1.SourceImage,
			Image: &v1alpha1.ImageSource{Ref: "registry.example.com/shop:v1"},
		},
	}}
	hash, err := templateHash(template)
	if err != nil || hash != "1d659c3b4cffdfe290c440a8d41b892bbfae968d" {
		t.Errorf("the hash of a template has changed: %s, %v", hash, err)
	}
	name, next := bundleName(strings.Repeat("x", v1alpha1.MaxInstanceName), hash, 0), bundleName("x", hash, 1)
	if len(name) != v1alpha1.MaxBundleName || next == bundleName("x", hash, 0) {
		t.Errorf("%s, %s", name, next)
	}
}

func instance(installed string, conditions ...metav1.Condition) *v1alpha1.Instance {
	return &v1alpha1.Instance{
		ObjectMeta: metav1.ObjectMeta{Name: "shop", Generation: 2},
		Spec:       v1alpha1.InstanceSpec{ProvisionerClassName: v1alpha1.ClassPlain},
		Status:     v1alpha1.InstanceStatus{ObservedGeneration: 2, InstalledBundleName: installed, Conditions: conditions},
	}
}

func condition(kind string, status metav1.ConditionStatus, reason string) metav1.Condition {
	return metav1.Condition{Type: kind, Status: status, Reason: reason, Message: "because"}
}

// Every condition is set on every pass, and what is installed stays so until something
// else is.
func TestAtFirst(t *testing.T) {
	for name, in := range map[string]*v1alpha1.Instance{
		"new": instance(""),
		"installed": instance("shop-1",
			condition(v1alpha1.ConditionInstalled, metav1.ConditionTrue, v1alpha1.ReasonInstallationSucceeded)),
	} {
		v := atFirst(in)
		v.apply(in, time.Unix(0, 0))
		if len(in.Status.Conditions) != 3 || in.Status.ObservedGeneration != in.Generation {
			t.Errorf("%s: %+v", name, in.Status)
		}
		if is := v.installed.status == metav1.ConditionTrue; is != (name == "installed") {
			t.Errorf("%s: installed is %s", name, v.installed.status)
		}
	}
}

// What a bundle says of itself is on its instance, and whose work it is to unpack it.
func TestOfBundle(t *testing.T) {
	bundle := func(class string, phase v1alpha1.Phase, status metav1.ConditionStatus) *v1alpha1.Bundle {
		b := &v1alpha1.Bundle{
			Spec:   v1alpha1.BundleSpec{ProvisionerClassName: class},
			Status: v1alpha1.BundleStatus{Phase: phase},
		}
		b.Name = "web-1"
		if status != "" {
			b.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionUnpacked, Status: status, Message: "because"}}
		}
		return b
	}
	for name, test := range map[string]struct {
		bundle *v1alpha1.Bundle
		want   verdict
	}{
		"not looked at": {
			bundle(v1alpha1.ClassPlain, "", ""),
			no(v1alpha1.ReasonUnpackPending, "bundle web-1 is not unpacked yet"),
		},
		"of another class": {bundle("theirs", "", ""), no(v1alpha1.ReasonUnpackPending,
			"bundle web-1 is not unpacked yet: its class theirs is not one of berth's, and the program whose it is has to do that")},
		"on its way": {
			bundle("theirs", v1alpha1.PhaseUnpacking, metav1.ConditionFalse),
			no(v1alpha1.ReasonUnpackPending, "bundle web-1: because"),
		},
		"failing": {
			bundle("theirs", v1alpha1.PhaseFailing, metav1.ConditionFalse),
			no(v1alpha1.ReasonUnpackFailed, "bundle web-1: because"),
		},
		"unpacked": {
			bundle("theirs", v1alpha1.PhaseUnpacked, metav1.ConditionTrue),
			yes(v1alpha1.ReasonUnpackSuccessful, "bundle web-1 is unpacked"),
		},
	} {
		if got := ofBundle(test.bundle); got != test.want {
			t.Errorf("%s: %+v, want %+v", name, got, test.want)
		}
	}
}

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

func TestDefinitions(t *testing.T) {
	objects, err := Definitions()
	if err != nil || len(objects) != 2 {
		t.Fatal(objects, err)
	}
	for _, object := range objects {
		if !strings.HasSuffix(object.GetName(), "."+v1alpha1.Group) || object.GetKind() != "CustomResourceDefinition" {
			t.Errorf("%s %s", object.GetKind(), object.GetName())
		}
	}
}

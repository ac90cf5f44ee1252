package resource

import (
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berthdev/berth/api/bundle/v1alpha1"
	v1 "github.com/berthdev/berth/api/v1"
)

// unattended is how long an instance waits for somebody to work on it before that is
// said.
const unattended = 10 * time.Second

// StateOf is an instance in a word, and why.
func StateOf(in *v1alpha1.Instance, now time.Time) v1.BundleState {
	s := v1.BundleState{
		Name: in.Name, Class: in.Spec.ProvisionerClassName, Source: Describe(in.Spec.Template.Spec.Source),
		CreatedAt: in.CreationTimestamp.UTC(), Installed: in.Status.InstalledBundleName,
		Conditions: conditionsOf(in.Status.Conditions),
	}
	if c, err := ConfigOf(in); err == nil {
		s.Namespace = c.Namespace
	}
	s.State, s.Message = judge(in)
	behind := in.Status.ObservedGeneration != in.Generation && now.Sub(in.CreationTimestamp.Time) > unattended
	switch {
	case behind && !IsOurs(s.Class):
		s.Warnings = append(s.Warnings,
			fmt.Sprintf("nobody has worked on it yet: class %s is not one of berth's (%s, %s, %s)",
				s.Class, v1alpha1.ClassPlain, v1alpha1.ClassHelm, v1alpha1.ClassRegistry))
	case behind:
		s.Warnings = append(s.Warnings,
			"nobody has worked on its newest version yet: run `berth bundle reconcile`, or `berth serve "+
				"bundles` in the cluster")
	}
	return s
}

// judge is the state of an instance by its conditions.
func judge(in *v1alpha1.Instance) (v1.BundleStateName, string) {
	is := func(kind string, status metav1.ConditionStatus) (string, bool) {
		c := meta.FindStatusCondition(in.Status.Conditions, kind)
		if c == nil || c.Status != status {
			return "", false
		}
		return c.Message, true
	}
	if in.DeletionTimestamp != nil {
		return v1.BundleDeleting, ""
	}
	if IsUninstalling(in) {
		return v1.BundleDeleting, "its uninstallation began at " +
			in.Annotations[v1alpha1.AnnotationUninstalling] + " and has not ended" +
			": `berth bundle uninstall` goes on with it, and `berth bundle install` installs it again"
	}
	if message, failed := is(v1alpha1.ConditionHasValidBundle, metav1.ConditionFalse); failed {
		if c := meta.FindStatusCondition(in.Status.Conditions,
			v1alpha1.ConditionHasValidBundle); c.Reason == v1alpha1.ReasonUnpackPending {
			return v1.BundlePending, message
		}
		return v1.BundleFailed, message
	}
	if message, failed := is(v1alpha1.ConditionInstalled, metav1.ConditionFalse); failed {
		return v1.BundleFailed, message
	}
	if message, failed := is(v1alpha1.ConditionHealthy, metav1.ConditionFalse); failed {
		return v1.BundleUnhealthy, message
	}
	if message, is := is(v1alpha1.ConditionHealthy, metav1.ConditionUnknown); is {
		if c := meta.FindStatusCondition(in.Status.Conditions,
			v1alpha1.ConditionHealthy); c.Reason == v1alpha1.ReasonReconcileFailed {
			return v1.BundleFailed, message
		}
	}
	if _, healthy := is(v1alpha1.ConditionHealthy, metav1.ConditionTrue); healthy {
		return v1.BundleHealthy, ""
	}
	return v1.BundlePending, ""
}

func conditionsOf(conditions []metav1.Condition) (all []v1.BundleCondition) {
	for _, c := range conditions {
		all = append(all, v1.BundleCondition{
			Type: c.Type, Status: string(c.Status), Reason: c.Reason, Message: c.Message,
			Since: c.LastTransitionTime.UTC(),
		})
	}
	return all
}

// BundleStateOf is a bundle as it is shown below its instance.
func BundleStateOf(b *v1alpha1.Bundle) v1.BundleOfInstance {
	o := v1.BundleOfInstance{
		Name: b.Name, Phase: string(b.Status.Phase), Digest: DigestOf(b), ContentURL: b.Status.ContentURL,
		Source: Describe(b.Spec.Source),
	}
	if b.Status.ResolvedSource != nil {
		o.Source = Describe(*b.Status.ResolvedSource)
	}
	if c := meta.FindStatusCondition(b.Status.Conditions, v1alpha1.ConditionUnpacked); c != nil &&
		c.Status != metav1.ConditionTrue {
		o.Message = c.Message
	}
	return o
}

// Describe names a source in one line.
func Describe(s v1alpha1.Source) string {
	switch {
	case s.Image != nil:
		return "oci://" + s.Image.Ref
	case s.Git != nil:
		text := s.Git.Repository
		if s.Git.Directory != "" {
			text += "//" + s.Git.Directory
		}
		return text + "@" + s.Git.Ref.Branch + s.Git.Ref.Tag + s.Git.Ref.Commit
	case s.HTTP != nil:
		return s.HTTP.URL
	case s.Chart != nil:
		return strings.TrimSuffix("repo+"+s.Chart.Repository+"//"+s.Chart.Name+"@"+s.Chart.Version, "@")
	case len(s.ConfigMaps) > 0:
		names := make([]string, len(s.ConfigMaps))
		for i, c := range s.ConfigMaps {
			names[i] = c.ConfigMap.Name
		}
		return "configmap/" + strings.Join(names, ",")
	case s.Type == v1alpha1.SourceUpload:
		return "an upload"
	}
	return string(s.Type)
}

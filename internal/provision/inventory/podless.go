package inventory

import (
	"cmp"
	"context"
	"slices"

	helm "helm.sh/helm/v3/pkg/release"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/provision/workload"
	"github.com/berthdev/berth/internal/release"
	"github.com/berthdev/berth/internal/userstring"
	"github.com/berthdev/berth/internal/watch"
)

// Podless is the reading of a workspace that is installed without its pod: the pod
// as Helm's record has it, and why it is not there, as far as that is known.
func (t *Target) Podless() (*corev1.Pod, v1.Snapshot) {
	pod, reading := &corev1.Pod{}, v1.Snapshot{Stage: v1.StageUnknown, Status: v1.StatusUnknown}
	if err := t.Found.Unreadable; err != nil {
		reading.Message = err.Error() + "; restore it, or delete the workspace"
	} else {
		pod, reading = wanted(t.Found.Record), missing(t.Found.Record)
	}
	pod.Name, pod.Namespace = t.ID, t.Namespace
	if reading.Gone {
		reading.Message = PodGone(t.ID, t.Namespace, UserStringOf(pod.Annotations))
	}
	return pod, reading
}

// PodGone says of a workspace that its pod is gone, and what brings it back.
func PodGone(id, namespace, userString string) string {
	return "pod gone; " + StartIt(cmp.Or(userString, "id/"+id), "--namespace", namespace)
}

// StartIt is what brings a workspace back that has no pod, as one calls it, with the flags that
// lead to it.
func StartIt(workspace string, flags ...string) string {
	return "start it: " + fault.Command(append([]string{"berth", "start", workspace}, flags...)...)
}

// ReasonPodGone is the reason of the error about a workspace that has no pod: it is stopped, or
// its pod is gone.
const ReasonPodGone = "POD_GONE"

// Installed is the document of a workspace that is installed without its pod. It is false of
// the release of something else, and of one that claims to be another workspace.
func (t *Target) Installed() (v1.Workspace, bool) {
	pod, reading := t.Podless()
	w := Describe(&pod.ObjectMeta, reading)
	if t.Found.Unreadable != nil {
		return w, true
	}
	w.Startable = reading.Gone || reading.Stage == v1.StageFailed // which was refused
	w.CreatedAt = t.Found.Record.Info.FirstDeployed.Time.UTC()
	u, err := userstring.ParseCanonical(w.UserString)
	return w, pod.Labels[kube.LabelCanonicalID] == kube.LabelValue(t.ID) &&
		(w.UserString == "" || err == nil && u.Names(t.ID))
}

// OfClaim is the document of a workspace of which a claim is left; sees is false for who may
// not see whether it is installed.
func OfClaim(claim *metav1.ObjectMeta, sees bool) v1.Workspace {
	w := Describe(claim, v1.Snapshot{Stage: v1.StageUnknown, Status: v1.StatusUnknown})
	if w.UserString == "" {
		w.UserString = plain(w)
	}
	again := fault.Command("berth", "provision", w.UserString, "--namespace", w.Namespace)
	switch w.Kept = claim.Labels[kube.LabelKept] == "true"; {
	case w.Kept && w.UserString != "":
		w.Message = "deleted, its storage is kept; use it again: " + again
	case w.Kept:
		w.Message = "deleted, its storage is kept"
	case !sees:
		w.Message = "it has no pod, and you may not see whether it is installed"
	case w.UserString != "":
		w.Message = "only its storage is left; use it again: " + again
	default:
		w.Message = "only its storage is left"
	}
	w.Gone = w.Kept || sees
	return w
}

// plain is the user string of a workspace by its owner and blueprint, which its claims have as
// labels, if that is what it was made by: the ID says so. It is empty otherwise.
func plain(w v1.Workspace) string {
	u, err := userstring.Parse(w.Owner + "~" + w.Blueprint)
	if err != nil || !u.Names(w.ID) {
		return ""
	}
	return u.String()
}

// NamedBy is a workspace with what an object of it says about whose it is.
func NamedBy(w v1.Workspace, object *metav1.ObjectMeta) v1.Workspace {
	named := Describe(object, w.Snapshot)
	w.UserString, w.Owner, w.Blueprint = named.UserString, named.Owner, named.Blueprint
	return w
}

// wanted is the pod of a record; empty if there is none that can be read.
func wanted(record *helm.Release) *corev1.Pod {
	var pod corev1.Pod
	objects, err := release.Objects(record.Manifest)
	if err != nil {
		return &pod
	}
	for _, object := range objects {
		if object.GetKind() == watch.KindPod &&
			runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &pod) == nil {
			return &pod
		}
	}
	return &corev1.Pod{}
}

// missing says why there is no pod.
func missing(record *helm.Release) v1.Snapshot {
	if object, reason, ok := release.Refusal(record); ok {
		return watch.Refused(reason, object, record.Info.LastDeployed.Time)
	}
	s := v1.Snapshot{Stage: v1.StageUnknown, Status: v1.StatusUnknown}
	if record.Info.Status.IsPending() {
		s.Message = "being installed; if that was interrupted, provision it again"
		return s
	}
	s.Gone = true
	return s
}

// ReasonNoPod is the reason of the error about a workload none of whose pods has the
// workspace: one may, later.
const ReasonNoPod = "NO_POD"

// Pods are the pods of a workspace: one, or one a replica of the workload that
// it is injected into, the one to enter first.
func (r Reader) Pods(ctx context.Context, t *Target) ([]*corev1.Pod, error) {
	r = r.In(t.Namespace)
	if t.Found.Workload == nil {
		pod, err := r.Client.CoreV1().Pods(t.Namespace).Get(ctx, t.ID, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return nil, t.withoutPod()
		}
		if err != nil {
			return nil, kube.Fault(err, kube.Call{Verb: "get", Resource: "pods", Namespace: t.Namespace, Name: t.ID})
		}
		return []*corev1.Pod{pod}, nil
	}
	pods, err := workload.Pods(ctx, r.Client, t.ID)
	if t.Pod != "" {
		pods = slices.DeleteFunc(pods, func(pod *corev1.Pod) bool { return pod.Name != t.Pod })
	}
	if err == nil && len(pods) == 0 {
		ref := t.Found.Workload.Ref.String()
		err = fault.New(fault.Failed, "no pod of %s has workspace %s", ref, t.ID).
			WithHint("see why: %s", fault.Command("kubectl", "describe", ref, "--namespace", t.Namespace)).
			WithReason(ReasonNoPod)
	}
	return pods, err
}

// PodsFound are those that Find has just seen, or else the pods.
func (r Reader) PodsFound(ctx context.Context, t *Target) ([]*corev1.Pod, error) {
	if t.Found.Workload == nil && t.Found.Pod != nil {
		return []*corev1.Pod{t.Found.Pod}, nil
	}
	return r.Pods(ctx, t)
}

// withoutPod is the error about a workspace whose pod is not there. Which of the two it
// is, the record of its state says.
func (t *Target) withoutPod() error {
	err := fault.New(fault.NotFound, "workspace %s has no pod: it is stopped, or its pod was deleted", t.ID).
		WithReason(ReasonPodGone)
	err.Hint = StartIt(cmp.Or(t.Found.UserString(), "id/"+t.ID), "--namespace", t.Namespace)
	return err
}

// Subject is what explains the state of the workspace: its pod, or its workload.
func (t *Target) Subject() watch.Subject {
	if w := t.Found.Workload; w != nil {
		return workload.Subject(t.Namespace, w.Ref)
	}
	return watch.Subject{Kind: watch.KindPod, Namespace: t.Namespace, Name: t.ID}
}

package diagnose

import (
	"context"
	"slices"

	"golang.org/x/sync/errgroup"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	apiwatch "k8s.io/apimachinery/pkg/watch"

	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/watch"
	"github.com/berthdev/berth/internal/watch/evidence"
)

// gather reads from the cluster what explains a subject: itself, its pods, their
// claims, and the events about all of them.
func gather(ctx context.Context, client kube.Interface, subject watch.Subject) (Dump, error) {
	object, err := Get(ctx, client, subject)
	if err != nil {
		return Dump{}, err
	}
	return GatherAround(ctx, client, subject, object)
}

// GatherAround reads what explains a subject that has been read already.
func GatherAround(ctx context.Context, client kube.Interface, subject watch.Subject, object runtime.Object) (Dump,
	error,
) {
	core, apps := client.CoreV1(), client.AppsV1()
	var sets, pods, claims, events listing
	options := metav1.ListOptions{LabelSelector: metav1.FormatLabelSelector(selectorOf(object))}
	about := metav1.ListOptions{}
	if pod, ok := object.(*corev1.Pod); ok && !mounts(pod) {
		// Those of one pod are few and can be selected; of a workload's pods there
		// may be too many for a request each.
		about.FieldSelector = fields.OneTermEqualSelector("involvedObject.name", subject.Name).String()
	}
	group, groupCtx := errgroup.WithContext(ctx)
	group.Go(func() error {
		return list(groupCtx, &events, "events", subject, core.Events(subject.Namespace).List, about)
	})
	if subject.Kind == watch.KindDeployment {
		group.Go(func() error {
			return list(groupCtx, &sets, "replicasets.apps", subject, apps.ReplicaSets(subject.Namespace).List, options)
		})
	}
	group.Go(func() error {
		pods.objects = []runtime.Object{object}
		if subject.Kind != watch.KindPod {
			if err := list(groupCtx, &pods, "pods", subject, core.Pods(subject.Namespace).List, options); err != nil {
				return err
			}
		}
		if !slices.ContainsFunc(pods.objects, mounts) {
			return nil
		}
		return list(groupCtx, &claims, "persistentvolumeclaims", subject,
			core.PersistentVolumeClaims(subject.Namespace).List, metav1.ListOptions{})
	})
	if err := group.Wait(); err != nil {
		return Dump{}, err
	}
	if subject.Kind != watch.KindPod {
		pods.objects = append([]runtime.Object{object}, pods.objects...)
	}
	var dump Dump
	for _, o := range slices.Concat(pods.objects, sets.objects, claims.objects, events.objects) {
		dump.Records = append(dump.Records, watch.Record{Type: apiwatch.Added, Object: o})
	}
	dump.Unread = slices.Concat(claims.unread, events.unread)
	dump.AllEvents = len(events.unread) == 0
	return dump, nil
}

// listing is a list, or that the caller may not read it.
type listing struct {
	objects []runtime.Object
	unread  []string
}

// list reads one. Without events or claims, the rest still explains something.
func list[L runtime.Object](
	ctx context.Context, to *listing, resource string, subject watch.Subject,
	read func(context.Context, metav1.ListOptions) (L, error), options metav1.ListOptions,
) error {
	call := kube.Call{Verb: "list", Resource: resource, Namespace: subject.Namespace}
	found, err := read(ctx, options)
	switch {
	case apierrors.IsForbidden(err) && (resource == "events" || resource == "persistentvolumeclaims"):
		to.unread = []string{call.String()}
		return nil
	case err != nil:
		return kube.Fault(err, call)
	}
	to.objects, err = meta.ExtractList(found)
	return err
}

// Get reads a pod or a workload.
func Get(ctx context.Context, client kube.Interface, s watch.Subject) (runtime.Object, error) {
	object, resource, err := get(ctx, client, s)
	return object, kube.Fault(err, kube.Call{Verb: "get", Resource: resource, Namespace: s.Namespace, Name: s.Name})
}

func get(ctx context.Context, client kube.Interface, s watch.Subject) (object runtime.Object, resource string,
	err error,
) {
	apps, options := client.AppsV1(), metav1.GetOptions{}
	switch s.Kind {
	case watch.KindPod:
		object, err = client.CoreV1().Pods(s.Namespace).Get(ctx, s.Name, options)
		return object, "pods", err
	case watch.KindDeployment:
		object, err = apps.Deployments(s.Namespace).Get(ctx, s.Name, options)
		return object, "deployments.apps", err
	case watch.KindReplicaSet:
		object, err = apps.ReplicaSets(s.Namespace).Get(ctx, s.Name, options)
		return object, "replicasets.apps", err
	case watch.KindStatefulSet:
		object, err = apps.StatefulSets(s.Namespace).Get(ctx, s.Name, options)
		return object, "statefulsets.apps", err
	case watch.KindDaemonSet:
		object, err = apps.DaemonSets(s.Namespace).Get(ctx, s.Name, options)
		return object, "daemonsets.apps", err
	default:
		object, err = client.BatchV1().Jobs(s.Namespace).Get(ctx, s.Name, options)
		return object, "jobs.batch", err
	}
}

// selectorOf is what selects the pods of a workload.
func selectorOf(object runtime.Object) *metav1.LabelSelector {
	switch o := object.(type) {
	case *appsv1.Deployment:
		return o.Spec.Selector
	case *appsv1.ReplicaSet:
		return o.Spec.Selector
	case *appsv1.StatefulSet:
		return o.Spec.Selector
	case *appsv1.DaemonSet:
		return o.Spec.Selector
	case *batchv1.Job:
		return o.Spec.Selector
	}
	return nil
}

// mounts is true for a pod that mounts a claim.
func mounts(object runtime.Object) bool {
	pod, ok := object.(*corev1.Pod)
	return ok && len(evidence.ClaimNames(pod)) > 0
}

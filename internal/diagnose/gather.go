package diagnose

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	apiwatch "k8s.io/apimachinery/pkg/watch"

	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/watch"
)

// Gather reads from the cluster what explains a subject: itself, its pods, their
// claims, and the events about all of them.
func Gather(ctx context.Context, client kube.Interface, subject watch.Subject) (Dump, error) {
	g := &gatherer{client: client, namespace: subject.Namespace}
	if err := g.subject(ctx, subject); err != nil {
		return Dump{}, err
	}
	if err := g.claims(ctx); err != nil {
		return Dump{}, err
	}
	// Those of one pod are few and can be selected; of a workload's pods there
	// may be more than requests that one would like to make.
	about := ""
	if subject.Kind == watch.KindPod && !g.mounts() {
		about = fields.OneTermEqualSelector("involvedObject.name", subject.Name).String()
	}
	events, err := client.CoreV1().Events(g.namespace).List(ctx, metav1.ListOptions{FieldSelector: about})
	if g.refused(err, "list", "events") {
		return g.dump, nil
	}
	if err != nil {
		return Dump{}, g.fault(err, "list", "events", "")
	}
	for i := range events.Items {
		g.add(&events.Items[i])
	}
	return g.dump, nil
}

type gatherer struct {
	client    kube.Interface
	namespace string
	dump      Dump
	pods      []*corev1.Pod
}

func (g *gatherer) add(obj runtime.Object) {
	g.dump.Records = append(g.dump.Records, watch.Record{Type: apiwatch.Added, Object: obj})
}

func (g *gatherer) fault(err error, verb, resource, name string) error {
	return kube.Fault(err, kube.Call{Verb: verb, Resource: resource, Namespace: g.namespace, Name: name})
}

// refused notes what the caller may not read: the rest still tells something.
func (g *gatherer) refused(err error, verb, resource string) bool {
	if !apierrors.IsForbidden(err) {
		return false
	}
	g.dump.Unread = append(g.dump.Unread, kube.Call{Verb: verb, Resource: resource, Namespace: g.namespace}.String())
	return true
}

// subject reads the subject and the pods that are its own.
func (g *gatherer) subject(ctx context.Context, s watch.Subject) error {
	if s.Kind == watch.KindPod {
		pod, err := g.client.CoreV1().Pods(g.namespace).Get(ctx, s.Name, metav1.GetOptions{})
		if err != nil {
			return g.fault(err, "get", "pods", s.Name)
		}
		g.pods = []*corev1.Pod{pod}
		g.add(pod)
		return nil
	}
	obj, selector, resource, err := workload(ctx, g.client, s)
	if err != nil {
		return g.fault(err, "get", resource, s.Name)
	}
	g.add(obj)
	options := metav1.ListOptions{LabelSelector: metav1.FormatLabelSelector(selector)}
	if s.Kind == watch.KindDeployment {
		sets, err := g.client.AppsV1().ReplicaSets(g.namespace).List(ctx, options)
		if err != nil {
			return g.fault(err, "list", "replicasets.apps", "")
		}
		for i := range sets.Items {
			g.add(&sets.Items[i])
		}
	}
	pods, err := g.client.CoreV1().Pods(g.namespace).List(ctx, options)
	if err != nil {
		return g.fault(err, "list", "pods", "")
	}
	for i := range pods.Items {
		g.pods = append(g.pods, &pods.Items[i])
		g.add(&pods.Items[i])
	}
	return nil
}

// workload reads a workload and what selects its pods.
func workload(ctx context.Context, client kube.Interface, s watch.Subject) (runtime.Object, *metav1.LabelSelector, string, error) {
	apps, get := client.AppsV1(), metav1.GetOptions{}
	switch s.Kind {
	case watch.KindDeployment:
		o, err := apps.Deployments(s.Namespace).Get(ctx, s.Name, get)
		return o, o.Spec.Selector, "deployments.apps", err
	case watch.KindReplicaSet:
		o, err := apps.ReplicaSets(s.Namespace).Get(ctx, s.Name, get)
		return o, o.Spec.Selector, "replicasets.apps", err
	case watch.KindStatefulSet:
		o, err := apps.StatefulSets(s.Namespace).Get(ctx, s.Name, get)
		return o, o.Spec.Selector, "statefulsets.apps", err
	case watch.KindDaemonSet:
		o, err := apps.DaemonSets(s.Namespace).Get(ctx, s.Name, get)
		return o, o.Spec.Selector, "daemonsets.apps", err
	default:
		o, err := client.BatchV1().Jobs(s.Namespace).Get(ctx, s.Name, get)
		return o, o.Spec.Selector, "jobs.batch", err
	}
}

// mounts is true if any of the pods mounts a claim.
func (g *gatherer) mounts() bool {
	for _, pod := range g.pods {
		for _, v := range pod.Spec.Volumes {
			if v.PersistentVolumeClaim != nil || v.Ephemeral != nil {
				return true
			}
		}
	}
	return false
}

// claims reads those of the namespace; which of them matter is seen later.
func (g *gatherer) claims(ctx context.Context) error {
	if !g.mounts() {
		return nil
	}
	claims, err := g.client.CoreV1().PersistentVolumeClaims(g.namespace).List(ctx, metav1.ListOptions{})
	if g.refused(err, "list", "persistentvolumeclaims") {
		return nil
	}
	if err != nil {
		return g.fault(err, "list", "persistentvolumeclaims", "")
	}
	for i := range claims.Items {
		g.add(&claims.Items[i])
	}
	return nil
}

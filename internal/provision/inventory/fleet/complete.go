package fleet

import (
	"context"
	"slices"

	"golang.org/x/sync/errgroup"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"

	"github.com/berthdev/berth/internal/diagnose"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/provision/inventory"
	"github.com/berthdev/berth/internal/provision/workload"
	"github.com/berthdev/berth/internal/userstring"
	"github.com/berthdev/berth/internal/watch/evidence"
)

// atOnce is how many workloads are asked for at a time.
const atOnce = 16

// completion reads what explains workspaces beside their pods.
type completion struct {
	inventory.Reader
	namespace string
	all       map[key]*inventory.Objects
}

// complete adds to workspaces what explains them: the claims of pods, the workloads
// that they are injected into, and the events about all of that. What the caller may
// not read is left out, but for the events.
func complete(ctx context.Context, r inventory.Reader, namespace string, all map[key]*inventory.Objects) error {
	if len(all) == 0 {
		return nil
	}
	c := completion{r, namespace, all}
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	var deployments, claims bool
	for _, o := range all {
		ref := inventory.WorkloadOf(o.Pods[0])
		deployments = deployments || ref.Kind == "deployment"
		claims = claims || slices.ContainsFunc(o.Pods,
			func(pod *corev1.Pod) bool { return len(evidence.ClaimNames(pod)) > 0 })
		if !ref.IsZero() {
			group.Go(func() (err error) {
				o.Workload, err = c.workload(groupCtx, o.Pods[0].Namespace, ref)
				return err
			})
		}
	}
	if err := group.Wait(); err != nil {
		return err
	}
	if deployments {
		if err := c.replicaSets(ctx); err != nil {
			return err
		}
	}
	if claims {
		if err := c.claims(ctx); err != nil {
			return err
		}
	}
	return c.events(ctx)
}

// workload reads one; nil if it is gone or may not be read.
func (c completion) workload(ctx context.Context, namespace string, ref userstring.Workload) (metav1.Object, error) {
	subject := workload.Subject(namespace, ref)
	if subject.Kind == "" {
		return nil, nil
	}
	object, err := diagnose.Get(ctx, c.Client, subject)
	if apierrors.IsNotFound(err) || apierrors.IsForbidden(err) {
		return nil, nil
	}
	found, _ := object.(metav1.Object)
	return found, err
}

// replicaSets adds those that have a workspace: they have the labels of their pods.
func (c completion) replicaSets(ctx context.Context) error {
	opts := metav1.ListOptions{LabelSelector: kube.LabelCanonicalID + "," + kube.LabelInjected + "=true"}
	err := eachPage(ctx, opts, c.Client.AppsV1().ReplicaSets(c.namespace).List, func(page *appsv1.ReplicaSetList) {
		for i := range page.Items {
			rs := page.Items[i]
			if o := c.all[key{rs.Namespace, rs.Labels[kube.LabelCanonicalID]}]; o != nil {
				o.Around = append(o.Around, &rs)
			}
		}
	})
	return c.fault(err, "replicasets.apps")
}

// claims adds those that the pods mount.
func (c completion) claims(ctx context.Context) error {
	mounted := map[types.NamespacedName][]*inventory.Objects{}
	for _, o := range c.all {
		for _, pod := range o.Pods {
			for _, name := range evidence.ClaimNames(pod) {
				at := types.NamespacedName{Namespace: pod.Namespace, Name: name}
				mounted[at] = append(mounted[at], o)
			}
		}
	}
	err := eachPage(ctx, metav1.ListOptions{}, c.Client.CoreV1().PersistentVolumeClaims(c.namespace).List,
		func(page *corev1.PersistentVolumeClaimList) {
			for i := range page.Items {
				claim := page.Items[i]
				for _, o := range mounted[types.NamespacedName{Namespace: claim.Namespace, Name: claim.Name}] {
					o.Around = append(o.Around, &claim)
				}
			}
		})
	return c.fault(err, "persistentvolumeclaims")
}

// fault is the error of a list without which the workspaces can be read as well.
func (c completion) fault(err error, resource string) error {
	if apierrors.IsForbidden(err) {
		return nil
	}
	return kube.Fault(err, kube.Call{Verb: "list", Resource: resource, Namespace: c.namespace})
}

// events adds those about anything that is known.
func (c completion) events(ctx context.Context) error {
	about := map[types.UID][]*inventory.Objects{}
	pods := true // nothing but pods
	for _, o := range c.all {
		for _, pod := range o.Pods {
			about[pod.UID] = append(about[pod.UID], o)
		}
		if o.Workload != nil {
			about[o.Workload.GetUID()] = append(about[o.Workload.GetUID()], o)
			pods = false
		}
		for _, object := range o.Around {
			if around, ok := object.(metav1.Object); ok {
				about[around.GetUID()] = append(about[around.GetUID()], o)
				pods = false
			}
		}
	}
	opts := metav1.ListOptions{}
	if pods {
		opts.FieldSelector = fields.OneTermEqualSelector("involvedObject.kind", "Pod").String()
	}
	err := eachPage(ctx, opts, c.Client.CoreV1().Events(c.namespace).List, func(page *corev1.EventList) {
		for i := range page.Items {
			for _, o := range about[page.Items[i].InvolvedObject.UID] {
				kept := page.Items[i]
				kept.ManagedFields = nil
				o.Around = append(o.Around, &kept)
			}
		}
	})
	return kube.Fault(err, kube.Call{Verb: "list", Resource: "events", Namespace: c.namespace})
}

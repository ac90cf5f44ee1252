// Package fleet reads many workspaces from a cluster, once or as they change.
package fleet

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/metadata"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/provision/inventory"
)

// key is what makes pods those of one workspace: the ID where it is injected, and
// else there is one, whose name it is.
type key struct{ namespace, name string }

func keyOf(pod *corev1.Pod) key {
	if inventory.IsInjected(pod) {
		return key{pod.Namespace, kube.IDOf(&pod.ObjectMeta)}
	}
	return key{pod.Namespace, pod.Name}
}

// List reads the workspaces that match a query. It takes one request for every
// 500 pods, and as many for the events if some of the pods are waiting; of those
// that are injected also one for each workload, and one for their ReplicaSets. A
// page is read and let go, so that thousands of workspaces need little memory.
func List(ctx context.Context, r inventory.Reader, q Query) (*v1.WorkspaceList, error) {
	opts, err := q.options()
	if err != nil {
		return nil, err
	}
	list := v1.WorkspaceList{Items: []v1.Workspace{}}
	add := func(o inventory.Objects) v1.Workspace {
		w, _ := o.Workspace(r.Policy, r.Now())
		return w
	}
	incomplete := map[key]*inventory.Objects{} // those that need more than their pods
	err = eachPage(ctx, opts, r.Client.CoreV1().Pods(q.Namespace).List, func(page *corev1.PodList) {
		for i := range page.Items {
			pod := &page.Items[i]
			if !kube.IsOfWorkspace(&pod.ObjectMeta) {
				continue
			}
			w := add(inventory.Objects{Pods: []*corev1.Pod{pod}})
			if !inventory.IsInjected(pod) && !r.NeedsEvents(w.Snapshot) {
				list.Items = q.append(list.Items, w)
				continue
			}
			kept := *pod // a pointer into the page would keep all of it
			kept.ManagedFields = nil
			if incomplete[keyOf(pod)] == nil {
				incomplete[keyOf(pod)] = &inventory.Objects{}
			}
			o := incomplete[keyOf(pod)]
			o.Pods = append(o.Pods, &kept)
		}
	})
	if err != nil {
		return nil, kube.Fault(err, kube.Call{Verb: "list", Resource: "pods", Namespace: q.Namespace})
	}
	if err := complete(ctx, r, q.Namespace, incomplete); err != nil {
		return nil, err
	}
	for _, o := range incomplete {
		list.Items = q.append(list.Items, add(*o))
	}
	Sort(list.Items, ByDefault)
	return &list, nil
}

// append adds a workspace that matches.
func (q Query) append(items []v1.Workspace, w v1.Workspace) []v1.Workspace {
	if !q.matches(w) {
		return items
	}
	return append(items, w)
}

// Names reads the workspaces that match a query without their stages: whose they
// are is in the metadata, a small part of a pod.
func Names(ctx context.Context, r inventory.Reader, q Query) (*v1.WorkspaceList, error) {
	opts, err := q.options()
	if err != nil {
		return nil, err
	}
	client, err := metadata.NewForConfigAndClient(r.Client.Config, r.Client.HTTP)
	if err != nil {
		return nil, kube.Fault(err, kube.Call{Verb: "list", Resource: "pods", Namespace: q.Namespace})
	}
	list := v1.WorkspaceList{Items: []v1.Workspace{}}
	listed := map[key]bool{}
	pods := client.Resource(corev1.SchemeGroupVersion.WithResource("pods")).Namespace(q.Namespace)
	err = eachPage(ctx, opts, pods.List, func(page *metav1.PartialObjectMetadataList) {
		for i := range page.Items {
			meta := &page.Items[i].ObjectMeta
			if !kube.IsOfWorkspace(meta) {
				continue
			}
			if k := keyOf(&corev1.Pod{ObjectMeta: *meta}); !listed[k] {
				listed[k] = true
				w := inventory.Describe(meta, v1.Snapshot{Stage: v1.StageUnknown, Status: v1.StatusUnknown})
				if q.IsOwned(w) {
					list.Items = append(list.Items, w)
				}
			}
		}
	})
	if err != nil {
		return nil, kube.Fault(err, kube.Call{Verb: "list", Resource: "pods", Namespace: q.Namespace})
	}
	Sort(list.Items, ByDefault)
	return &list, nil
}

// pageSize is how many objects one answer holds at most: kubectl's number, too.
const pageSize = 500

// eachPage reads a list page by page and keeps none of them. It takes one
// request a page.
func eachPage[L metav1.ListInterface](
	ctx context.Context, opts metav1.ListOptions,
	list func(context.Context, metav1.ListOptions) (L, error), use func(L),
) error {
	opts.Limit = pageSize
	for {
		page, err := list(ctx, opts)
		if next := expired(err); next != "" && opts.Continue != "" {
			opts.Continue = next
			continue
		}
		if err != nil {
			return err
		}
		use(page)
		if opts.Continue = page.GetContinue(); opts.Continue == "" {
			return nil
		}
	}
}

// expired is the token with which a list can be continued whose first pages were of
// a version that the server no longer has: what follows is of now. The server sends
// it with the refusal of the old one.
func expired(err error) string {
	var status apierrors.APIStatus
	if !apierrors.IsResourceExpired(err) || !errors.As(err, &status) {
		return ""
	}
	return status.Status().Continue
}

// Order is what a list is sorted by.
type Order string

// The orders. The default is by namespace, then ID; it also decides between
// those that are equal in another.
const (
	ByDefault   Order = ""
	ByName      Order = "name"
	ByOwner     Order = "owner"
	ByBlueprint Order = "blueprint"
	ByStage     Order = "stage"    // in the order of the flow
	ByAge       Order = "age"      // the youngest first
	ByRestarts  Order = "restarts" // the most first
)

// Orders are all that can be asked for.
func Orders() []Order { return []Order{ByName, ByOwner, ByBlueprint, ByStage, ByAge, ByRestarts} }

// Stages are all stages, in the order of the flow.
func Stages() []v1.Stage {
	return []v1.Stage{
		v1.StageScheduling, v1.StagePulling, v1.StageInitializing, v1.StageStarting, v1.StageRunning,
		v1.StageTerminating, v1.StageStopped, v1.StageFailed, v1.StageUnknown,
	}
}

// Sort sorts workspaces in place.
func Sort(items []v1.Workspace, by Order) {
	slices.SortStableFunc(items, func(a, b v1.Workspace) int {
		return cmp.Or(by.compare(a, b), strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.ID, b.ID))
	})
}

func (o Order) compare(a, b v1.Workspace) int {
	switch o {
	case ByName:
		return strings.Compare(a.ID, b.ID)
	case ByOwner:
		return strings.Compare(a.Owner, b.Owner)
	case ByBlueprint:
		return strings.Compare(a.Blueprint, b.Blueprint)
	case ByStage:
		return slices.Index(Stages(), a.Stage) - slices.Index(Stages(), b.Stage)
	case ByAge:
		return b.CreatedAt.Compare(a.CreatedAt)
	case ByRestarts:
		return b.Restarts() - a.Restarts()
	}
	return 0
}

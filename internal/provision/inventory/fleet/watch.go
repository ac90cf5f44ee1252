package fleet

import (
	"context"
	"sync"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	apiwatch "k8s.io/apimachinery/pkg/watch"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/provision/inventory"
	"github.com/berthdev/berth/internal/watch"
	"github.com/berthdev/berth/internal/watch/follow"
)

// Handler is called with workspaces as they change.
type Handler interface {
	// Changed gets, at first, all workspaces that match the query; after that each
	// that is new, has changed, is gone (and says so) or does not match any more.
	Changed([]v1.Workspace)
	// Interrupted says that the cluster cannot be reached for a while.
	Interrupted(error)
}

// Watch keeps a handler up to date about the workspaces that match a query, until
// ctx ends or the API server refuses to go on. Every change of a pod is read by
// itself, so that no stage is lost to a slow handler. It costs one watch of the
// pods and one of the events, whatever the number of workspaces, two more once a pod
// waits that mounts claims, and up to three more for each kind of workload that some are
// injected into.
func Watch(ctx context.Context, r inventory.Reader, q Query, to Handler) error {
	opts, err := q.options()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	c := newCache(r, q)
	var group sync.WaitGroup
	defer group.Wait()
	defer cancel(nil)
	c.start = func(in *input) {
		in.fail, in.interrupted = cancel, to.Interrupted
		group.Go(func() {
			err := follow.Reflect(ctx, in.source, in)
			if in.optional && fault.CodeOf(err) == fault.PermissionDenied {
				c.listed(in)
				return
			}
			cancel(err)
		})
	}
	c.startAll(c.sources(opts.LabelSelector))
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-c.synced:
	}
	to.Changed(c.open(r.Now()))
	for {
		alarm := time.NewTimer(c.patience(r.Now()))
		select {
		case <-ctx.Done():
			alarm.Stop()
			return context.Cause(ctx)
		case <-c.changed:
		case <-alarm.C:
		}
		alarm.Stop()
		if changed := c.take(r.Now()); len(changed) > 0 {
			to.Changed(changed)
		}
	}
}

// sources are the pods that match, and the events about pods. With claims there are these,
// too, and the events about all.
func (c *workspaceCache) sources(selector string) []follow.Source {
	core, ns := c.reader.Client.CoreV1(), c.query.Namespace
	pods := sourceOf[*corev1.Pod](follow.Client(core.Pods(ns)), "pods", ns)
	pods.Labels = selector
	if c.query.watchesClaims() {
		return []follow.Source{
			pods,
			sourceOf[*corev1.Event](follow.Client(core.Events(ns)), "events", ns),
			c.claimSource(),
		}
	}
	return []follow.Source{pods, c.eventsAbout(watch.KindPod)}
}

const kindClaim = "PersistentVolumeClaim"

// claimSources are the claims and the events about them, once a pod waits that mounts some.
func (c *workspaceCache) claimSources() []follow.Source {
	return []follow.Source{c.claimSource(), c.eventsAbout(kindClaim)}
}

func (c *workspaceCache) claimSource() follow.Source {
	ns := c.query.Namespace
	return sourceOf[*corev1.PersistentVolumeClaim](follow.Client(c.reader.Client.CoreV1().PersistentVolumeClaims(ns)),
		"persistentvolumeclaims", ns)
}

// workloadSources are the workloads of a kind, and what explains them.
func (c *workspaceCache) workloadSources(kind string) []follow.Source {
	apps, ns := c.reader.Client.AppsV1(), c.query.Namespace
	var sources []follow.Source
	events := kind
	switch kind {
	case watch.KindDeployment:
		sets := sourceOf[*appsv1.ReplicaSet](follow.Client(apps.ReplicaSets(ns)), "replicasets.apps", ns)
		sets.Labels = withWorkspace // they have the labels of their pods
		sources = []follow.Source{
			sourceOf[*appsv1.Deployment](follow.Client(apps.Deployments(ns)), "deployments.apps", ns),
			sets,
		}
		events = watch.KindReplicaSet
	case watch.KindStatefulSet:
		sources = []follow.Source{sourceOf[*appsv1.StatefulSet](follow.Client(apps.StatefulSets(ns)),
			"statefulsets.apps", ns)}
	case watch.KindDaemonSet:
		sources = []follow.Source{sourceOf[*appsv1.DaemonSet](follow.Client(apps.DaemonSets(ns)), "daemonsets.apps",
			ns)}
	}
	if !c.query.watchesClaims() {
		sources = append(sources, c.eventsAbout(events))
	}
	return sources
}

func (c *workspaceCache) eventsAbout(kind string) follow.Source {
	events := sourceOf[*corev1.Event](follow.Client(c.reader.Client.CoreV1().Events(c.query.Namespace)), "events",
		c.query.Namespace)
	events.Fields = fields.OneTermEqualSelector("involvedObject.kind", kind).String()
	return events
}

// withWorkspace selects what has an injected workspace.
const withWorkspace = kube.LabelCanonicalID + "," + kube.LabelInjected + "=true"

func sourceOf[T metav1.Object](client follow.ListWatcher, resource, namespace string) follow.Source {
	return follow.Source{
		Client: client, Resource: resource, Namespace: namespace, Sync: true,
		Covers: func(o metav1.Object) bool { _, ok := o.(T); return ok },
	}
}

// input passes on what a source says.
type input struct {
	cache    *workspaceCache
	source   follow.Source
	optional bool // the workspaces can be read without it
	known    map[types.UID]runtime.Object

	fail        func(error)
	interrupted func(error)
}

// Listing is for those who have to know.
func (*input) Listing() {}

// Opened is for those who have to know.
func (*input) Opened() {}

// Replace takes a list: what is not in it is gone.
func (in *input) Replace(objects []runtime.Object, _ string) {
	listed := map[types.UID]bool{}
	for _, object := range objects {
		if o, ok := object.(metav1.Object); ok {
			listed[o.GetUID()] = true
		}
		in.Apply(apiwatch.Modified, object)
	}
	for uid, object := range in.known {
		if !listed[uid] {
			in.Apply(apiwatch.Deleted, object)
		}
	}
	in.cache.listed(in)
}

// Apply takes a change.
func (in *input) Apply(change apiwatch.EventType, object runtime.Object) {
	o, ok := object.(metav1.Object)
	if !ok {
		return
	}
	// When something was written is read, and which fields is most of an object.
	fields := o.GetManagedFields()
	for i := range fields {
		fields[i].FieldsV1 = nil
	}
	in.known[o.GetUID()] = object
	if change == apiwatch.Deleted {
		delete(in.known, o.GetUID())
	}
	in.cache.apply(object, change == apiwatch.Deleted)
}

// Interrupted is the end at first, and passes later.
func (in *input) Interrupted(err error) {
	err = kube.Fault(err, kube.Call{Verb: "watch", Resource: in.source.Resource, Namespace: in.source.Namespace})
	if in.cache.isOpen() {
		in.interrupted(err)
		return
	}
	in.fail(err)
}

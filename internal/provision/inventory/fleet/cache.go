package fleet

import (
	"maps"
	"reflect"
	"slices"
	"sync"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/provision/inventory"
	"github.com/berthdev/berth/internal/provision/workload"
	"github.com/berthdev/berth/internal/watch"
	"github.com/berthdev/berth/internal/watch/evidence"
	"github.com/berthdev/berth/internal/watch/follow"
)

// longest is how long is waited where nothing is due.
const longest = time.Hour

// workspaceCache is what is known of the workspaces that are watched: their pods,
// what else explains them, and what has been handed out of each.
type workspaceCache struct {
	reader  inventory.Reader
	query   Query
	start   func(*input)
	synced  chan struct{} // closed when all that there was at first is known
	changed chan struct{} // holds one when there is something to take

	mu      sync.Mutex
	opened  bool
	pending map[*input]bool // have not passed on a list yet
	kinds   map[string]bool // of workloads, and claims, that are watched

	pods      map[key]map[types.UID]*corev1.Pod
	keys      map[types.UID]key // of the pods
	injected  map[key]bool
	events    map[types.UID]map[types.UID]runtime.Object // by what they are about
	claims    map[types.NamespacedName]metav1.Object
	workloads map[watch.Subject]metav1.Object
	sets      map[key]map[types.UID]*appsv1.ReplicaSet

	reported map[key]v1.Workspace
	due      map[key]time.Time // when time alone may change a reading
	news     []v1.Workspace
}

func newCache(r inventory.Reader, q Query) *workspaceCache {
	return &workspaceCache{
		reader: r, query: q, synced: make(chan struct{}), changed: make(chan struct{}, 1),
		pending: map[*input]bool{}, kinds: map[string]bool{},
		pods: map[key]map[types.UID]*corev1.Pod{}, keys: map[types.UID]key{}, injected: map[key]bool{},
		events: map[types.UID]map[types.UID]runtime.Object{}, claims: map[types.NamespacedName]metav1.Object{},
		workloads: map[watch.Subject]metav1.Object{}, sets: map[key]map[types.UID]*appsv1.ReplicaSet{},
		reported: map[key]v1.Workspace{}, due: map[key]time.Time{},
	}
}

func (c *workspaceCache) isOpen() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.opened
}

// startAll begins to watch sources.
func (c *workspaceCache) startAll(sources []follow.Source) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.startLocked(sources, false)
}

func (c *workspaceCache) startLocked(sources []follow.Source, optional bool) {
	for _, source := range sources {
		in := &input{cache: c, source: source, optional: optional, known: map[types.UID]runtime.Object{}}
		c.pending[in] = true
		c.start(in)
	}
}

// listed notes that a source has passed on all that there is.
func (c *workspaceCache) listed(in *input) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.pending, in)
	if len(c.pending) > 0 {
		return
	}
	select {
	case <-c.synced:
	default:
		close(c.synced)
	}
}

// apply notes one change and reads the workspaces that it is about.
func (c *workspaceCache) apply(object runtime.Object, gone bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var about []key
	switch o := object.(type) {
	case *corev1.Pod:
		foreign := !kube.IsOfWorkspace(&o.ObjectMeta)
		if _, known := c.keys[o.UID]; foreign && !known {
			return
		}
		about = []key{c.applyPod(o, gone || foreign)}
	case *corev1.Event:
		put(c.events, o.InvolvedObject.UID, o.UID, runtime.Object(o), gone)
		if gone {
			return // events expire; what they said stays true
		}
		about = c.concerned(o)
	case *corev1.PersistentVolumeClaim:
		putOne(c.claims, types.NamespacedName{Namespace: o.Namespace, Name: o.Name}, metav1.Object(o), gone)
		about = c.mounting(o.Namespace, o.Name)
	case *appsv1.ReplicaSet:
		k := key{o.Namespace, o.Labels[kube.LabelCanonicalID]}
		put(c.sets, k, o.UID, o, gone)
		about = []key{k}
	case metav1.Object:
		about = c.applyWorkload(o, gone)
	}
	if c.opened {
		c.read(about, c.reader.Now())
	}
}

// applyPod notes a pod, and begins to watch the kind of workload that it belongs to.
func (c *workspaceCache) applyPod(pod *corev1.Pod, gone bool) key {
	k := keyOf(pod)
	put(c.pods, k, pod.UID, pod, gone)
	c.keys[pod.UID] = k
	if gone {
		delete(c.keys, pod.UID)
		delete(c.events, pod.UID)
	}
	if waitsForClaims(pod) && !c.query.watchesClaims() && !c.kinds[kindClaim] {
		c.kinds[kindClaim] = true
		c.startLocked(c.claimSources(), true)
	}
	if !inventory.IsInjected(pod) {
		return k
	}
	putOne(c.injected, k, true, len(c.pods[k]) == 0)
	if kind, _ := workload.Kind(inventory.WorkloadOf(pod)); kind != "" && !c.kinds[kind] {
		c.kinds[kind] = true
		c.startLocked(c.workloadSources(kind), true)
	}
	return k
}

// waitsForClaims is true for a pod that has no node, which its claims may be the reason of.
func waitsForClaims(pod *corev1.Pod) bool {
	return pod.Spec.NodeName == "" && len(evidence.ClaimNames(pod)) > 0
}

// applyWorkload notes a workload if a workspace is in it, or was.
func (c *workspaceCache) applyWorkload(o metav1.Object, gone bool) []key {
	subject := watch.SubjectOf(o)
	var about []key
	for k := range c.injected {
		if c.workloadOf(k) == subject {
			about = append(about, k)
		}
	}
	if _, injected := o.GetAnnotations()[kube.AnnotationInjection]; injected || len(about) > 0 || gone {
		putOne(c.workloads, subject, o, gone)
	}
	return about
}

// workloadOf is the workload that the pods of an injected workspace belong to.
func (c *workspaceCache) workloadOf(k key) watch.Subject {
	for _, pod := range c.pods[k] {
		return workload.Subject(k.namespace, inventory.WorkloadOf(pod))
	}
	return watch.Subject{}
}

// concerned are the workspaces that an event is about.
func (c *workspaceCache) concerned(e *corev1.Event) []key {
	k, known := c.keys[e.InvolvedObject.UID]
	switch {
	case known:
		return []key{k}
	case e.InvolvedObject.Kind == kindClaim:
		return c.mounting(e.InvolvedObject.Namespace, e.InvolvedObject.Name)
	case e.InvolvedObject.Kind == watch.KindPod:
		return nil
	}
	return slices.Collect(maps.Keys(c.injected))
}

// mounting are the workspaces that mount a claim.
func (c *workspaceCache) mounting(namespace, claim string) (about []key) {
	for k, pods := range c.pods {
		for _, pod := range pods {
			if k.namespace == namespace && slices.Contains(evidence.ClaimNames(pod), claim) {
				about = append(about, k)
				break
			}
		}
	}
	return about
}

func (c *workspaceCache) all() []key { return slices.Collect(maps.Keys(c.pods)) }

// open begins to report, with all that there is.
func (c *workspaceCache) open(now time.Time) []v1.Workspace {
	c.mu.Lock()
	c.opened = true
	c.read(c.all(), now)
	c.mu.Unlock()
	return c.take(now)
}

// take gives what is new, and reads again what is due.
func (c *workspaceCache) take(now time.Time) []v1.Workspace {
	c.mu.Lock()
	defer c.mu.Unlock()
	for k, at := range c.due {
		if !now.Before(at) {
			c.read([]key{k}, now)
		}
	}
	news := c.news
	c.news = nil
	return news
}

// patience is how long nothing will be due.
func (c *workspaceCache) patience(now time.Time) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	wait := longest
	for _, at := range c.due {
		wait = min(wait, max(at.Sub(now), 0))
	}
	return wait
}

// read reads workspaces and notes those that are to be reported; the lock is held.
func (c *workspaceCache) read(keys []key, now time.Time) {
	for _, k := range keys {
		w := c.workspace(k, now)
		before, reported := c.reported[k]
		matches := c.query.matches(w)
		switch {
		case !reported && (!matches || w.Gone), reported && reflect.DeepEqual(before, w):
			continue
		case w.Gone || !matches:
			delete(c.reported, k)
		default:
			c.reported[k] = w
		}
		c.news = append(c.news, w)
	}
	if len(c.news) > 0 {
		select {
		case c.changed <- struct{}{}:
		default:
		}
	}
}

// workspace reads one; the lock is held.
func (c *workspaceCache) workspace(k key, now time.Time) v1.Workspace {
	delete(c.due, k)
	if len(c.pods[k]) == 0 {
		w := c.reported[k]
		w.Startable = false // whether anything else is left is not known here
		w.Snapshot = v1.Snapshot{
			Stage: v1.StageUnknown, Status: v1.StatusUnknown, Gone: true, Message: "deleted",
			Since: now.UTC(),
		}
		return w
	}
	objects := c.objects(k)
	w, next := objects.Workspace(c.reader.Policy, now)
	if !next.IsZero() {
		c.due[k] = next
	}
	if c.query.Events {
		w.Events = objects.Events()
	}
	return w
}

// objects are what is known of a workspace.
func (c *workspaceCache) objects(k key) inventory.Objects {
	var o inventory.Objects
	var uids []types.UID
	add := func(object metav1.Object) {
		uids = append(uids, object.GetUID())
		if around, ok := object.(runtime.Object); ok {
			o.Around = append(o.Around, around)
		}
	}
	for _, pod := range c.pods[k] {
		o.Pods, uids = append(o.Pods, pod), append(uids, pod.UID)
		for _, name := range evidence.ClaimNames(pod) {
			if claim := c.claims[types.NamespacedName{Namespace: pod.Namespace, Name: name}]; claim != nil {
				add(claim)
			}
		}
	}
	if o.Workload = c.workloads[c.workloadOf(k)]; o.Workload != nil {
		uids = append(uids, o.Workload.GetUID())
	}
	for _, set := range c.sets[k] {
		add(set)
	}
	for _, uid := range uids {
		for _, event := range c.events[uid] {
			o.Around = append(o.Around, event)
		}
	}
	return o
}

// put adds to or takes from a map of maps.
func put[K comparable, V any](all map[K]map[types.UID]V, in K, uid types.UID, value V, gone bool) {
	if all[in] == nil {
		all[in] = map[types.UID]V{}
	}
	putOne(all[in], uid, value, gone)
	if len(all[in]) == 0 {
		delete(all, in)
	}
}

func putOne[K comparable, V any](all map[K]V, in K, value V, gone bool) {
	if gone {
		delete(all, in)
	} else {
		all[in] = value
	}
}

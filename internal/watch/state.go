package watch

import (
	"cmp"
	"maps"
	"slices"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/berthdev/berth/internal/watch/detect"
	"github.com/berthdev/berth/internal/watch/evidence"
)

// State is what the API server has said so far about one subject: pods, events,
// claims and workloads by UID, and what became of those that were removed. It is
// a value: the methods that change it return another one.
type State struct {
	subject  Subject
	expected types.UID
	objects  map[types.UID]metav1.Object
	removed  map[types.UID]metav1.Object // the last that was known; nil if it was never seen
	noEvents bool                        // they are not known
}

// WithoutEvents is the state of which events are not known: that nobody has said anything cannot be told from it.
func (s State) WithoutEvents() State {
	s.noEvents = true
	return s
}

// NewState is the state before anything was said.
func NewState(subject Subject) State { return State{subject: subject} }

// Expect makes the pod with this UID the one that counts. Pods with its name and
// another UID are those of before, and their end is not the subject's.
func (s State) Expect(uid types.UID) State {
	s.expected = uid
	return s
}

// Apply adds a change as a watch reports it. What is older than what is known
// already is left out, as is an object that has been removed: its UID never
// comes back.
func (s State) Apply(change watch.EventType, obj runtime.Object) State {
	o, err := meta.Accessor(obj)
	if err != nil { // a bookmark or a Status
		return s
	}
	uid := o.GetUID()
	if s.IsGone(uid) {
		return s
	}
	switch change {
	case watch.Added, watch.Modified:
		if known, ok := s.objects[uid]; ok && older(o.GetResourceVersion(), known.GetResourceVersion()) {
			return s
		}
		if e, ok := o.(*corev1.Event); ok {
			return s.withEvent(e)
		}
		s.objects = with(s.objects, uid, o)
	case watch.Deleted:
		s = s.remove(uid, o)
	}
	return s
}

// Replace adds a list: of the objects that it covers, those not in it are gone,
// unless what is known of them is newer than the list.
func (s State) Replace(listed []runtime.Object, version string, covers func(metav1.Object) bool) State {
	present := map[types.UID]bool{}
	for _, obj := range listed {
		if o, err := meta.Accessor(obj); err == nil {
			present[o.GetUID()] = true
		}
		s = s.Apply(watch.Modified, obj)
	}
	for uid, o := range s.objects {
		if covers(o) && !present[uid] && !older(version, o.GetResourceVersion()) {
			s = s.remove(uid, o)
		}
	}
	return s
}

// Absent says that a pod was looked for and is not there.
func (s State) Absent(uid types.UID) State {
	if !s.Has(uid) && !s.IsGone(uid) {
		s.removed = with(s.removed, uid, nil)
	}
	return s
}

// IsGone says whether the object with this UID was there, or was looked for, and
// is not there any more.
func (s State) IsGone(uid types.UID) bool {
	_, gone := s.removed[uid]
	return gone
}

func (s State) remove(uid types.UID, last metav1.Object) State {
	s.objects = maps.Clone(s.objects)
	delete(s.objects, uid)
	if _, ok := last.(*corev1.Event); !ok { // which is only forgotten
		s.removed = with(s.removed, uid, last)
	}
	return s
}

func with(m map[types.UID]metav1.Object, uid types.UID, o metav1.Object) map[types.UID]metav1.Object {
	m = maps.Clone(m)
	if m == nil {
		m = map[types.UID]metav1.Object{}
	}
	m[uid] = o
	return m
}

// Has says whether an object with this UID is there.
func (s State) Has(uid types.UID) bool {
	_, here := s.objects[uid]
	return here
}

// Object is the subject itself; nil if it is not known, or gone.
func (s State) Object() metav1.Object {
	for _, o := range s.objects {
		if s.subject.Matches(o) {
			return o
		}
	}
	return nil
}

// Pods are all pods that are known, of whatever revision.
func (s State) Pods() []*corev1.Pod { return all[*corev1.Pod](s.objects) }

// evidenceOf is what is known about a pod.
func (s State) evidenceOf(pod *corev1.Pod) evidence.Pod {
	p := evidence.NewPod(pod, s.eventsAbout(pod.UID), s.claimsOf(pod))
	p.Node = s.nodeOf(pod)
	return p
}

// nodeOf is what is known of the node that a pod is on.
func (s State) nodeOf(pod *corev1.Pod) (n evidence.Node) {
	if pod.Spec.NodeName == "" {
		return n
	}
	for _, o := range s.objects {
		switch o := o.(type) {
		case *corev1.Node:
			if o.Name == pod.Spec.NodeName {
				n.Node = o
			}
		case *coordinationv1.Lease:
			if o.Namespace == corev1.NamespaceNodeLease && o.Name == pod.Spec.NodeName && o.Spec.RenewTime != nil {
				n.Renewed = o.Spec.RenewTime.Time
			}
		}
	}
	return n
}

// AwaitedNodes are the nodes that only can say why pods on them do not get on, whether they
// are known or not.
func (s State) AwaitedNodes(now time.Time) (names []string) {
	for _, pod := range s.Pods() {
		p := s.evidenceOf(pod)
		if detect.WaitsOnNode(p, now) && !slices.Contains(names, pod.Spec.NodeName) {
			names = append(names, pod.Spec.NodeName)
		}
	}
	slices.Sort(names)
	return names
}

// claimsOf gives the claims that a pod mounts, as far as they are known.
func (s State) claimsOf(pod *corev1.Pod) []evidence.Claim {
	var claims []evidence.Claim
	names := evidence.ClaimNames(pod)
	for _, pvc := range all[*corev1.PersistentVolumeClaim](s.objects) {
		if pvc.Namespace == pod.Namespace && slices.Contains(names, pvc.Name) {
			claims = append(claims, evidence.Claim{PersistentVolumeClaim: pvc, Events: s.eventsAbout(pvc.UID)})
		}
	}
	return claims
}

// Pod is the subject's pod and whether it is gone. Without an expected UID it is
// the newest pod of the name.
func (s State) Pod() (pod *corev1.Pod, gone bool) {
	if pod := s.podIn(s.objects); pod != nil {
		return pod, false
	}
	if s.IsGone(s.expected) {
		return s.podIn(s.removed), true
	}
	pod = s.podIn(s.removed)
	return pod, pod != nil
}

func (s State) podIn(m map[types.UID]metav1.Object) *corev1.Pod {
	var newest *corev1.Pod
	for _, pod := range all[*corev1.Pod](m) {
		if s.subject.is(pod) && (s.expected == "" || pod.UID == s.expected) {
			newest = pod
		}
	}
	return newest
}

// all gives the objects of one type, in the order in which they were last written.
func all[T metav1.Object](m map[types.UID]metav1.Object) []T {
	var found []T
	for _, o := range m {
		if t, ok := o.(T); ok {
			found = append(found, t)
		}
	}
	slices.SortFunc(found, func(a, b T) int {
		return cmp.Or(byVersion(a, b), cmp.Compare(a.GetUID(), b.GetUID()))
	})
	return found
}

// byVersion orders objects as the API server has stored them, as far as their
// versions say.
func byVersion[T metav1.Object](a, b T) int {
	return compareVersions(a.GetResourceVersion(), b.GetResourceVersion())
}

func older(a, b string) bool { return compareVersions(a, b) < 0 }

// compareVersions orders resourceVersions. Those of one kind of object are
// numbers that grow; what is not a number (an aggregated API) has no order.
func compareVersions(a, b string) int {
	c, err := resourceversion.CompareResourceVersion(a, b)
	if err != nil {
		return 0
	}
	return c
}

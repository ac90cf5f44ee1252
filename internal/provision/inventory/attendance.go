package inventory

import (
	"errors"
	"io"
	"reflect"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	v1 "github.com/berthdev/berth/api/v1"
)

// longest is how long is waited where nothing is due.
const longest = time.Hour

// attendance is what is known of workspaces that are attended to: their pods,
// what else explains them, and what has been said of each.
type attendance struct {
	reader  Reader
	query   Query
	changed chan struct{} // holds one when there are news

	mu     sync.Mutex
	opened bool
	pods   map[key]map[types.UID]*corev1.Pod
	keys   map[types.UID]key                          // of the pods
	events map[types.UID]map[types.UID]runtime.Object // by what they are about
	claims map[types.NamespacedName]runtime.Object
	said   map[key]v1.Workspace
	due    map[key]time.Time // when time alone may change a reading
	news   []v1.Workspace
}

func newAttendance(r Reader, q Query) *attendance {
	return &attendance{
		reader: r, query: q, changed: make(chan struct{}, 1),
		pods: map[key]map[types.UID]*corev1.Pod{}, keys: map[types.UID]key{},
		events: map[types.UID]map[types.UID]runtime.Object{}, claims: map[types.NamespacedName]runtime.Object{},
		said: map[key]v1.Workspace{}, due: map[key]time.Time{},
	}
}

func (a *attendance) isOpen() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.opened
}

// handler takes what an informer says, one change after the other.
func (a *attendance) handler(now func() time.Time) cache.ResourceEventHandler {
	return cache.ResourceEventHandlerFuncs{
		AddFunc:    func(object any) { a.apply(object, false, now()) },
		UpdateFunc: func(_, object any) { a.apply(object, false, now()) },
		DeleteFunc: func(object any) {
			if unknown, ok := object.(cache.DeletedFinalStateUnknown); ok {
				object = unknown.Obj
			}
			a.apply(object, true, now())
		},
	}
}

// apply notes one change and reads the workspaces that it is about.
func (a *attendance) apply(object any, gone bool, now time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	var about []key
	switch o := object.(type) {
	case *corev1.Pod:
		about = []key{keyOf(o)}
		put(a.pods, about[0], o.UID, o, gone)
		a.keys[o.UID] = about[0]
		if gone {
			delete(a.keys, o.UID)
			delete(a.events, o.UID)
		}
	case *corev1.Event:
		put(a.events, o.InvolvedObject.UID, o.UID, runtime.Object(o), gone)
		about = a.concerned(o)
		if gone {
			return // events expire; what they said stays true
		}
	case *corev1.PersistentVolumeClaim:
		a.claims[types.NamespacedName{Namespace: o.Namespace, Name: o.Name}] = o
		if gone {
			delete(a.claims, types.NamespacedName{Namespace: o.Namespace, Name: o.Name})
		}
		about = a.all()
	}
	if a.opened {
		a.read(about, now)
	}
}

// concerned are the workspaces that an event is about.
func (a *attendance) concerned(e *corev1.Event) []key {
	if k, known := a.keys[e.InvolvedObject.UID]; known {
		return []key{k}
	}
	if e.InvolvedObject.Kind == "PersistentVolumeClaim" {
		return a.all()
	}
	return nil
}

func (a *attendance) all() (all []key) {
	for k := range a.pods {
		all = append(all, k)
	}
	return all
}

// open begins to tell, with all that there is.
func (a *attendance) open(now time.Time) []v1.Workspace {
	a.mu.Lock()
	a.opened = true
	a.read(a.all(), now)
	a.mu.Unlock()
	return a.take(now)
}

// take gives what is new, and reads again what is due.
func (a *attendance) take(now time.Time) []v1.Workspace {
	a.mu.Lock()
	defer a.mu.Unlock()
	for k, at := range a.due {
		if !now.Before(at) {
			a.read([]key{k}, now)
		}
	}
	news := a.news
	a.news = nil
	return news
}

// patience is how long nothing will be due.
func (a *attendance) patience(now time.Time) time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	wait := longest
	for _, at := range a.due {
		wait = min(wait, max(at.Sub(now), 0))
	}
	return wait
}

// read notes how workspaces stand, and which of them are told; the lock is held.
func (a *attendance) read(keys []key, now time.Time) {
	for _, k := range keys {
		delete(a.due, k)
		w := a.reading(k, now)
		before, told := a.said[k]
		fits := a.query.has(w)
		switch {
		case !told && (!fits || w.Gone), told && reflect.DeepEqual(before, w):
			continue
		case w.Gone || !fits:
			delete(a.said, k)
		default:
			a.said[k] = w
		}
		a.news = append(a.news, w)
	}
	if len(a.news) > 0 {
		select {
		case a.changed <- struct{}{}:
		default:
		}
	}
}

// reading is one workspace as it stands; the lock is held.
func (a *attendance) reading(k key, now time.Time) v1.Workspace {
	if len(a.pods[k]) == 0 {
		w := a.said[k]
		w.ID, w.Namespace = k.id, k.namespace
		w.Snapshot = v1.Snapshot{Stage: v1.StageUnknown, Status: v1.StatusUnknown, Gone: true, Message: "deleted", Since: now.UTC()}
		return w
	}
	var members []member
	var about []runtime.Object
	for _, pod := range a.pods[k] {
		around := a.around(pod)
		reading, next := a.reader.readAt(now, pod, around)
		if before, known := a.due[k]; !next.IsZero() && (!known || next.Before(before)) {
			a.due[k] = next
		}
		members = append(members, memberOf(pod, reading))
		about = append(append(about, pod), around...)
	}
	w := combine(members)
	if a.query.Events {
		w.Events = told(about)
	}
	return w
}

// around is what explains a pod, as far as it is listened to.
func (a *attendance) around(pod *corev1.Pod) []runtime.Object {
	uids := []types.UID{pod.UID}
	var objects []runtime.Object
	for _, volume := range pod.Spec.Volumes {
		if volume.PersistentVolumeClaim == nil {
			continue
		}
		claim := a.claims[types.NamespacedName{Namespace: pod.Namespace, Name: volume.PersistentVolumeClaim.ClaimName}]
		if o, ok := claim.(metav1.Object); ok {
			objects, uids = append(objects, claim), append(uids, o.GetUID())
		}
	}
	for _, uid := range uids {
		for _, event := range a.events[uid] {
			objects = append(objects, event)
		}
	}
	return objects
}

// put adds to or takes from a map of maps.
func put[K comparable, V any](all map[K]map[types.UID]V, in K, uid types.UID, value V, gone bool) {
	switch {
	case !gone && all[in] == nil:
		all[in] = map[types.UID]V{uid: value}
	case !gone:
		all[in][uid] = value
	default:
		delete(all[in], uid)
		if len(all[in]) == 0 {
			delete(all, in)
		}
	}
}

// isEnd is true for a watch that ended in good order.
func isEnd(err error) bool { return errors.Is(err, io.EOF) }

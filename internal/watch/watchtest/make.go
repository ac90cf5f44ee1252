package watch

import (
	"strconv"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// The objects that the tests are written with: a pod with one container app,
// changed by what they name, and events about it.

var epoch = time.Date(2026, 5, 4, 10, 0, 0, 0, time.UTC)

func after(d time.Duration) time.Time { return epoch.Add(d) }

type madePod struct{ *corev1.Pod }

func newPod(name string, uid types.UID, changes ...func(*corev1.Pod)) madePod {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: name, Namespace: "dev", UID: uid, ResourceVersion: "1",
			CreationTimestamp: metav1.NewTime(epoch),
		},
		Spec: corev1.PodSpec{
			RestartPolicy: corev1.RestartPolicyAlways,
			Containers:    []corev1.Container{{Name: "app", Image: "x/app:1"}},
		},
		Status: corev1.PodStatus{Phase: corev1.PodPending},
	}
	for _, change := range changes {
		change(pod)
	}
	return madePod{pod}
}

func (p madePod) rv(n int) madePod {
	pod := p.DeepCopy()
	pod.ResourceVersion = strconv.Itoa(n)
	return madePod{pod}
}

func onNode(pod *corev1.Pod) {
	pod.Spec.NodeName = "node1"
	set(pod, corev1.PodScheduled, corev1.ConditionTrue, 0)
}

// appReady makes every container that is not an init container ready.
func appReady(pod *corev1.Pod) {
	pod.Status.Phase = corev1.PodRunning
	app(ready(5 * time.Second))(pod)
	set(pod, corev1.ContainersReady, corev1.ConditionTrue, 5*time.Second)
	set(pod, corev1.PodReady, corev1.ConditionTrue, 5*time.Second)
}

func deleting(pod *corev1.Pod) {
	at, grace := metav1.NewTime(after(40*time.Second)), int64(30)
	pod.DeletionTimestamp, pod.DeletionGracePeriodSeconds = &at, &grace
}

func set(pod *corev1.Pod, kind corev1.PodConditionType, status corev1.ConditionStatus, at time.Duration) {
	pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{
		Type: kind, Status: status, LastTransitionTime: metav1.NewTime(after(at)),
	})
}

// app sets the status of the main container.
func app(changes ...func(*corev1.ContainerStatus)) func(*corev1.Pod) {
	return func(pod *corev1.Pod) {
		pod.Status.ContainerStatuses = []corev1.ContainerStatus{status("app", changes)}
	}
}

// initContainer adds an init container and its status.
func initContainer(name string, policy *corev1.ContainerRestartPolicy, changes ...func(*corev1.ContainerStatus)) func(*corev1.Pod) {
	return func(pod *corev1.Pod) {
		pod.Spec.InitContainers = append(pod.Spec.InitContainers,
			corev1.Container{Name: name, Image: "x/" + name + ":1", RestartPolicy: policy})
		pod.Status.InitContainerStatuses = append(pod.Status.InitContainerStatuses, status(name, changes))
	}
}

func status(name string, changes []func(*corev1.ContainerStatus)) corev1.ContainerStatus {
	s := corev1.ContainerStatus{Name: name}
	for _, change := range changes {
		change(&s)
	}
	return s
}

func waits(reason, message string) func(*corev1.ContainerStatus) {
	return func(s *corev1.ContainerStatus) {
		s.State = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}}
	}
}

func runs(at time.Duration) func(*corev1.ContainerStatus) {
	return func(s *corev1.ContainerStatus) {
		started := true
		s.Started = &started
		s.State = corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(after(at))}}
	}
}

func ready(at time.Duration) func(*corev1.ContainerStatus) {
	return func(s *corev1.ContainerStatus) {
		runs(at)(s)
		s.Ready = true
	}
}

func exits(code int32, reason string, at time.Duration) func(*corev1.ContainerStatus) {
	return func(s *corev1.ContainerStatus) {
		s.State = corev1.ContainerState{Terminated: termination(code, reason, at)}
	}
}

func exitedBefore(code int32, reason string, restarts int32) func(*corev1.ContainerStatus) {
	return func(s *corev1.ContainerStatus) {
		s.RestartCount = restarts
		s.LastTerminationState = corev1.ContainerState{Terminated: termination(code, reason, time.Second)}
	}
}

func termination(code int32, reason string, at time.Duration) *corev1.ContainerStateTerminated {
	return &corev1.ContainerStateTerminated{ExitCode: code, Reason: reason, FinishedAt: metav1.NewTime(after(at))}
}

type madeEvent struct{ *corev1.Event }

// event is a normal event about a container of a pod, or the pod itself.
func event(pod string, uid types.UID, container, reason, message string) madeEvent {
	e := &corev1.Event{
		ObjectMeta:     metav1.ObjectMeta{Name: pod + "." + reason, UID: types.UID(string(uid) + container + reason + message)},
		InvolvedObject: corev1.ObjectReference{Kind: "Pod", Namespace: "dev", Name: pod, UID: uid},
		Type:           corev1.EventTypeNormal, Reason: reason, Message: message,
		Count: 1, LastTimestamp: metav1.NewTime(epoch),
	}
	if container != "" {
		e.InvolvedObject.FieldPath = "spec.containers{" + container + "}"
	}
	return madeEvent{e}
}

func (e madeEvent) with(change func(*corev1.Event)) madeEvent {
	changed := e.DeepCopy()
	change(changed)
	return madeEvent{changed}
}

func (e madeEvent) at(t time.Time) madeEvent {
	return e.with(func(e *corev1.Event) { e.LastTimestamp = metav1.NewTime(t) })
}

func (e madeEvent) rv(n int) madeEvent {
	return e.with(func(e *corev1.Event) { e.ResourceVersion = strconv.Itoa(n) })
}

func (e madeEvent) times(n int32) madeEvent {
	return e.with(func(e *corev1.Event) { e.Count = n })
}

func (e madeEvent) warn() madeEvent {
	return e.with(func(e *corev1.Event) { e.Type = corev1.EventTypeWarning })
}

func available(d *appsv1.Deployment) {
	d.Status.Replicas, d.Status.UpdatedReplicas, d.Status.AvailableReplicas = 1, 1, 1
}

func deployment(generation, observed int64, changes ...func(*appsv1.Deployment)) *appsv1.Deployment {
	d := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "dev", UID: "web", ResourceVersion: "1", Generation: generation},
		Status:     appsv1.DeploymentStatus{ObservedGeneration: observed},
	}
	for _, change := range changes {
		change(d)
	}
	return d
}

func owned(replicaSet types.UID, changes ...func(*corev1.Pod)) madePod {
	pod := newPod("web-"+string(replicaSet)+"-x", "pod", changes...)
	pod.OwnerReferences = ownedBy("ReplicaSet", replicaSet)
	return pod
}

func ownedBy(kind string, uid types.UID) []metav1.OwnerReference {
	controller := true
	return []metav1.OwnerReference{{Kind: kind, UID: uid, Controller: &controller}}
}

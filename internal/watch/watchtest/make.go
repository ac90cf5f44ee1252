// Package watchtest makes pods, workloads and events for tests.
package watchtest

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

// Epoch is when everything begins.
var Epoch = time.Date(2026, 5, 4, 10, 0, 0, 0, time.UTC)

// After is a while after the Epoch.
func After(d time.Duration) time.Time { return Epoch.Add(d) }

// MadePod is a pod that a test changes step by step.
type MadePod struct{ *corev1.Pod }

// NewPod makes a pod with one container, app, that waits for a node.
func NewPod(name string, uid types.UID, changes ...func(*corev1.Pod)) MadePod {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: name, Namespace: "dev", UID: uid, ResourceVersion: "1",
			CreationTimestamp: metav1.NewTime(Epoch),
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
	return MadePod{pod}
}

// Version gives it a resourceVersion.
func (p MadePod) Version(n int) MadePod {
	pod := p.DeepCopy()
	pod.ResourceVersion = strconv.Itoa(n)
	return MadePod{pod}
}

// OnNode lets it be scheduled.
func OnNode(pod *corev1.Pod) {
	pod.Spec.NodeName = "node1"
	Set(pod, corev1.PodScheduled, corev1.ConditionTrue, 0)
}

// AppReady makes every container that is not an init container ready.
func AppReady(pod *corev1.Pod) {
	pod.Status.Phase = corev1.PodRunning
	App(Ready(5 * time.Second))(pod)
	Set(pod, corev1.ContainersReady, corev1.ConditionTrue, 5*time.Second)
	Set(pod, corev1.PodReady, corev1.ConditionTrue, 5*time.Second)
}

// Deleting lets it be on its way out.
func Deleting(pod *corev1.Pod) {
	at, grace := metav1.NewTime(After(40*time.Second)), int64(30)
	pod.DeletionTimestamp, pod.DeletionGracePeriodSeconds = &at, &grace
}

// Set sets a condition.
func Set(pod *corev1.Pod, kind corev1.PodConditionType, status corev1.ConditionStatus, at time.Duration) {
	pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{
		Type: kind, Status: status, LastTransitionTime: metav1.NewTime(After(at)),
	})
}

// App sets the status of the main container.
func App(changes ...func(*corev1.ContainerStatus)) func(*corev1.Pod) {
	return func(pod *corev1.Pod) {
		pod.Status.ContainerStatuses = []corev1.ContainerStatus{Status("app", changes)}
	}
}

// InitContainer adds an init container and its status.
func InitContainer(name string, policy *corev1.ContainerRestartPolicy,
	changes ...func(*corev1.ContainerStatus),
) func(*corev1.Pod) {
	return func(pod *corev1.Pod) {
		pod.Spec.InitContainers = append(pod.Spec.InitContainers,
			corev1.Container{Name: name, Image: "x/" + name + ":1", RestartPolicy: policy})
		pod.Status.InitContainerStatuses = append(pod.Status.InitContainerStatuses, Status(name, changes))
	}
}

// Status is that of a container.
func Status(name string, changes []func(*corev1.ContainerStatus)) corev1.ContainerStatus {
	s := corev1.ContainerStatus{Name: name}
	for _, change := range changes {
		change(&s)
	}
	return s
}

// Waits lets a container wait.
func Waits(reason, message string) func(*corev1.ContainerStatus) {
	return func(s *corev1.ContainerStatus) {
		s.State = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}}
	}
}

// Runs lets a container run.
func Runs(at time.Duration) func(*corev1.ContainerStatus) {
	return func(s *corev1.ContainerStatus) {
		started := true
		s.Started = &started
		s.State = corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(After(at))}}
	}
}

// Ready lets a container be ready.
func Ready(at time.Duration) func(*corev1.ContainerStatus) {
	return func(s *corev1.ContainerStatus) {
		Runs(at)(s)
		s.Ready = true
	}
}

// Exits lets a container end.
func Exits(code int32, reason string, at time.Duration) func(*corev1.ContainerStatus) {
	return func(s *corev1.ContainerStatus) {
		s.State = corev1.ContainerState{Terminated: Termination(code, reason, at)}
	}
}

// ExitedBefore is how the instance before ended.
func ExitedBefore(code int32, reason string, restarts int32) func(*corev1.ContainerStatus) {
	return func(s *corev1.ContainerStatus) {
		s.RestartCount = restarts
		s.LastTerminationState = corev1.ContainerState{Terminated: Termination(code, reason, time.Second)}
	}
}

// Termination is how a container ended.
func Termination(code int32, reason string, at time.Duration) *corev1.ContainerStateTerminated {
	return &corev1.ContainerStateTerminated{ExitCode: code, Reason: reason, FinishedAt: metav1.NewTime(After(at))}
}

// MadeEvent is an event that a test changes step by step.
type MadeEvent struct{ *corev1.Event }

// Event is a normal event about a container of a pod, or the pod itself.
func Event(pod string, uid types.UID, container, reason, message string) MadeEvent {
	e := &corev1.Event{
		ObjectMeta: metav1.ObjectMeta{
			Name: pod + "." + reason,
			UID:  types.UID(string(uid) + container + reason + message),
		},
		InvolvedObject: corev1.ObjectReference{Kind: "Pod", Namespace: "dev", Name: pod, UID: uid},
		Type:           corev1.EventTypeNormal, Reason: reason, Message: message,
		Count: 1, LastTimestamp: metav1.NewTime(Epoch),
	}
	if container != "" {
		e.InvolvedObject.FieldPath = "spec.containers{" + container + "}"
	}
	return MadeEvent{e}
}

func (e MadeEvent) with(change func(*corev1.Event)) MadeEvent {
	changed := e.DeepCopy()
	change(changed)
	return MadeEvent{changed}
}

// At is when it happened last.
func (e MadeEvent) At(t time.Time) MadeEvent {
	return e.with(func(e *corev1.Event) { e.LastTimestamp = metav1.NewTime(t) })
}

// Version gives it a resourceVersion.
func (e MadeEvent) Version(n int) MadeEvent {
	return e.with(func(e *corev1.Event) { e.ResourceVersion = strconv.Itoa(n) })
}

// Times is how often it happened.
func (e MadeEvent) Times(n int32) MadeEvent {
	return e.with(func(e *corev1.Event) { e.Count = n })
}

// Warn makes a warning of it.
func (e MadeEvent) Warn() MadeEvent {
	return e.with(func(e *corev1.Event) { e.Type = corev1.EventTypeWarning })
}

// Available lets a deployment be complete.
func Available(d *appsv1.Deployment) {
	d.Status.Replicas, d.Status.UpdatedReplicas, d.Status.AvailableReplicas = 1, 1, 1
}

// Deployment makes a deployment.
func Deployment(generation, observed int64, changes ...func(*appsv1.Deployment)) *appsv1.Deployment {
	d := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{
			Name: "web", Namespace: "dev", UID: "web", ResourceVersion: "1",
			Generation: generation,
		},
		Status: appsv1.DeploymentStatus{ObservedGeneration: observed},
	}
	for _, change := range changes {
		change(d)
	}
	return d
}

// Owned makes a pod of a ReplicaSet.
func Owned(replicaSet types.UID, changes ...func(*corev1.Pod)) MadePod {
	pod := NewPod("web-"+string(replicaSet)+"-x", "pod", changes...)
	pod.OwnerReferences = OwnedBy("ReplicaSet", replicaSet)
	return pod
}

// OfDeployment makes a pod one of a Deployment, by way of a ReplicaSet, as controllers do.
func OfDeployment(pod *corev1.Pod, deployment string, replicaSet types.UID) {
	const hash = "5f7d9c6b8"
	if pod.Labels == nil {
		pod.Labels = map[string]string{}
	}
	pod.Labels[appsv1.DefaultDeploymentUniqueLabelKey] = hash
	pod.OwnerReferences = OwnedBy("ReplicaSet", replicaSet)
	pod.OwnerReferences[0].Name = deployment + "-" + hash
}

// OwnedBy makes one thing the owner of another.
func OwnedBy(kind string, uid types.UID) []metav1.OwnerReference {
	controller := true
	return []metav1.OwnerReference{{Kind: kind, UID: uid, Controller: &controller}}
}

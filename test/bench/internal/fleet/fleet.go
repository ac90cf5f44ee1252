// Package fleet makes many pods that look like workspaces. They are plain objects, bound to a
// node without a kubelet: what is measured is the answer of the API server and what a client
// makes of it, and for that nothing has to run.
package fleet

import (
	"context"
	"encoding/base64"
	"fmt"
	"os"
	"time"

	"golang.org/x/sync/errgroup"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/berthdev/berth/test/bench/internal/cluster"
)

// Namespace is where the pods are.
const Namespace = "berth-fleet"

const (
	node = "berth-fleet-node"
	// leases is where a node's heartbeat is kept. Without one its pods are
	// marked as not ready after 40 seconds and evicted after some minutes.
	leases = "kube-node-lease"
	alive  = 10 * time.Second
	atOnce = 16
)

// Fleet is many pods that look like workspaces.
type Fleet struct {
	Client kubernetes.Interface
	Size   int
	// WaitEvery is how many pods there are for one that waits for its image; 0 if all run.
	WaitEvery int

	stop context.CancelFunc
}

// ID is the name of a pod, and the ID of its workspace.
func ID(i int) string { return fmt.Sprintf("user%d-%07x", i/5, i) }

// UserString is what a workspace was made by.
func UserString(i int) string { return fmt.Sprintf("user%d~dev", i/5) }

// Create makes the pods. They are to be removed also after an error.
func (f *Fleet) Create(ctx context.Context) error {
	if err := cluster.Create(ctx, f.Client, Namespace); err != nil {
		return err
	}
	if err := f.createNode(ctx); err != nil {
		return err
	}
	began := time.Now()
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for i := range f.Size {
		group.Go(func() error { return f.createPod(groupCtx, i) })
	}
	err := group.Wait()
	fmt.Fprintf(os.Stderr, "%d pods made in %s\n", f.Size, time.Since(began).Round(time.Second))
	return err
}

// createNode makes a node and keeps it alive until Remove.
func (f *Fleet) createNode(ctx context.Context) error {
	made, err := f.Client.CoreV1().Nodes().Create(ctx, &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: node},
		Spec:       corev1.NodeSpec{Unschedulable: true}, // for all other pods
	}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	now := metav1.Now()
	made.ResourceVersion = "" // the node's controllers write it too, but not this
	made.Status.Conditions = []corev1.NodeCondition{{
		Type: corev1.NodeReady, Status: corev1.ConditionTrue, Reason: "Fleet", LastHeartbeatTime: now,
		LastTransitionTime: now,
	}}
	if _, err := f.Client.CoreV1().Nodes().UpdateStatus(ctx, made, metav1.UpdateOptions{}); err != nil {
		return err
	}
	seconds, holder := int32(40), node
	lease, err := f.Client.CoordinationV1().Leases(leases).Create(ctx, &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Name: node},
		Spec: coordinationv1.LeaseSpec{
			HolderIdentity: &holder, LeaseDurationSeconds: &seconds,
			RenewTime: &metav1.MicroTime{Time: now.Time},
		},
	}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	ctx, f.stop = context.WithCancel(ctx)
	go f.renew(ctx, lease)
	return nil
}

func (f *Fleet) renew(ctx context.Context, lease *coordinationv1.Lease) {
	ticker := time.NewTicker(alive)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-ticker.C:
			lease.Spec.RenewTime = &metav1.MicroTime{Time: now}
			if next, err := f.Client.CoordinationV1().Leases(leases).Update(ctx, lease,
				metav1.UpdateOptions{}); err == nil {
				lease = next
			}
		}
	}
}

func (f *Fleet) createPod(ctx context.Context, i int) error {
	pods := f.Client.CoreV1().Pods(Namespace)
	pod, err := pods.Create(ctx, workspace(i), metav1.CreateOptions{})
	if err != nil {
		return err
	}
	pod.Status = status(pod, f.WaitEvery > 0 && i%f.WaitEvery == 0)
	_, err = pods.UpdateStatus(ctx, pod, metav1.UpdateOptions{})
	return err
}

// workspace is a pod as berth's chart makes it, with what makes it large: labels,
// annotations, environment, volumes.
func workspace(i int) *corev1.Pod {
	owner, id := fmt.Sprintf("user%d", i/5), ID(i)
	small := corev1.ResourceList{
		corev1.ResourceCPU:    resource.MustParse("10m"),
		corev1.ResourceMemory: resource.MustParse("32Mi"),
	}
	config := corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
		LocalObjectReference: corev1.LocalObjectReference{Name: id + "-init"},
	}}
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: id,
			Labels: map[string]string{
				"k8shell.io/blueprint": "dev", "k8shell.io/canonical-id": id, "k8shell.io/username": owner,
				"k8shell.io/job-id":            fmt.Sprintf("53d313fc-d030-4392-9d47-%012x", i),
				"app.kubernetes.io/managed-by": "Helm",
			},
			Annotations: map[string]string{
				"k8shell.io/identity":      "kubernetes/",
				"k8shell.io/manifest-hash": fmt.Sprintf("%064x", i),
				"k8shell.io/userstr":       base64.StdEncoding.EncodeToString([]byte(UserString(i))),
			},
		},
		Spec: corev1.PodSpec{
			NodeName: node,
			Volumes:  []corev1.Volume{{Name: "init", VolumeSource: config}, {Name: "files", VolumeSource: config}},
			Containers: []corev1.Container{{
				Name: "k8shell-main", Image: "registry.example.com/berth/workspace:v1",
				Command:   []string{"/bin/sh", "/k8shell/runtime/start.sh"},
				Env:       []corev1.EnvVar{{Name: "TEAM", Value: "blue"}, {Name: "K8SHELL_ID", Value: id}},
				Resources: corev1.ResourceRequirements{Requests: small, Limits: small},
				VolumeMounts: []corev1.VolumeMount{
					{Name: "init", MountPath: "/k8shell/init"},
					{Name: "files", MountPath: "/etc/team.conf", SubPath: "team.conf"},
				},
			}},
		},
	}
}

// status is that of a pod that runs, or of one whose image is still to come.
func status(pod *corev1.Pod, waiting bool) corev1.PodStatus {
	now, yes, no := metav1.Now(), corev1.ConditionTrue, corev1.ConditionFalse
	ready, phase := yes, corev1.PodRunning
	state := corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: now}}
	if waiting {
		ready, phase = no, corev1.PodPending
		state = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ContainerCreating"}}
	}
	started := !waiting
	var conditions []corev1.PodCondition
	for kind, value := range map[corev1.PodConditionType]corev1.ConditionStatus{
		corev1.PodScheduled: yes, corev1.PodInitialized: yes, corev1.ContainersReady: ready, corev1.PodReady: ready,
	} {
		conditions = append(conditions, corev1.PodCondition{Type: kind, Status: value, LastTransitionTime: now})
	}
	return corev1.PodStatus{
		Phase: phase, StartTime: &now, HostIP: "10.0.0.1", PodIP: "10.1.2.3", Conditions: conditions,
		ContainerStatuses: []corev1.ContainerStatus{{
			Name: pod.Spec.Containers[0].Name, Image: pod.Spec.Containers[0].Image, State: state, Ready: started,
			Started: &started,
			ImageID: "registry.example.com/berth/workspace" +
				"@sha256:0000000000000000000000000000000000000000000000000000000000000000",
			ContainerID: fmt.Sprintf("containerd://%064x", 1),
		}},
	}
}

// Remove takes everything away again.
func (f *Fleet) Remove(ctx context.Context) {
	if f.stop != nil {
		f.stop()
	}
	if err := cluster.Remove(ctx, f.Client, Namespace); err != nil {
		fmt.Fprintln(os.Stderr, "fleet:", err)
	}
	_ = f.Client.CoordinationV1().Leases(leases).Delete(ctx, node, metav1.DeleteOptions{})
	_ = f.Client.CoreV1().Nodes().Delete(ctx, node, metav1.DeleteOptions{})
}

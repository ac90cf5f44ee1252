package provision

import (
	"context"
	"testing"
	"time"

	helm "helm.sh/helm/v3/pkg/release"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/event"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/provision/inventory"
	"github.com/berthdev/berth/internal/release"
	"github.com/berthdev/berth/internal/watch/cause"
)

// The cases that other tools were seen to get wrong and that are about
// provisioning; the others stand in the tests of watch.
func TestRealCases(t *testing.T) {
	t.Run("case 20 Provisioning again while the old pod is terminating: wait for it to be gone", waitsForTheOldPod)
	t.Run("case 21 A release left in pending-install by a killed run: heal it", healsTheRecord)
	t.Run("case 22 Pod deleted by somebody while waiting: say so at once", saysThatThePodIsGone)
}

const id = "alice-59936c3"

// runOn is a provisioning on a cluster on which that pod stands, if any.
func runOn(t *testing.T, pod *corev1.Pod) *run {
	t.Helper()
	client := fake.NewClientset()
	if pod != nil {
		client = fake.NewClientset(pod)
	}
	rendered, err := release.Render(map[string]any{})
	if err != nil {
		t.Fatal(err)
	}
	rendered.Objects, rendered.Manifest = nil, ""
	p := &Provisioner{Reader: inventory.Reader{Client: &kube.Client{Interface: client, Namespace: "dev"}, Policy: cause.DefaultPolicy(), Now: time.Now}}
	return &run{Provisioner: p, id: id, namespace: "dev", rendered: rendered, steps: newSteps(event.NewStream("alice", time.Now), time.Now)}
}

func workspacePod(deleting bool) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Name: id, Namespace: "dev", UID: "old", ResourceVersion: "1", Labels: map[string]string{kube.LabelCanonicalID: id},
	}}
	if deleting {
		at := metav1.Now()
		pod.DeletionTimestamp, pod.Finalizers = &at, []string{"example.com/slow"}
	}
	return pod
}

// lookedUp looks the workspace up and opens the watches.
func (r *run) lookedUp(t *testing.T) plan {
	t.Helper()
	var err error
	if r.found, err = r.Lookup(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	if r.found.Version == "" {
		r.found.Version = "1" // the fake cluster has no versions of lists
	}
	if err := r.open(t.Context()); err != nil {
		t.Fatal(err)
	}
	return r.decide()
}

func waitsForTheOldPod(t *testing.T) {
	r := runOn(t, workspacePod(true))
	if plan := r.lookedUp(t); plan != await {
		t.Fatalf("the plan is to %s", plan)
	}
	short, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := r.prepare(short, await); err == nil {
		t.Error("it went on beside the old pod")
	}
	ready := make(chan error, 1)
	go func() { ready <- r.prepare(t.Context(), await) }()
	if err := r.Client.CoreV1().Pods("dev").Delete(t.Context(), id, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := <-ready; err != nil {
		t.Errorf("the old pod is gone, but %v", err)
	}
}

func healsTheRecord(t *testing.T) {
	r := runOn(t, nil)
	left := release.NewRecord(id, "dev", r.rendered, time.Now().Add(-time.Hour))
	if err := r.Records().Create(t.Context(), left); err != nil {
		t.Fatal(err)
	}
	if plan := r.lookedUp(t); plan != install || r.found.Record.Info.Status != helm.StatusPendingInstall {
		t.Fatalf("the plan is to %s with %+v", plan, r.found.Record)
	}
	record, err := r.record(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := r.deployed(t.Context(), record); err != nil {
		t.Fatal(err)
	}
	healed, err := r.Records().Latest(t.Context(), id)
	if err != nil || healed.Info.Status != helm.StatusDeployed || healed.Version != 1 {
		t.Errorf("%+v, %v", healed, err)
	}
	secrets, err := r.Client.CoreV1().Secrets("dev").List(t.Context(), metav1.ListOptions{})
	if err != nil || len(secrets.Items) != 1 {
		t.Errorf("%d records, %v", len(secrets.Items), err)
	}
	// With its pod already there, what is missing is completed.
	if plan := decide(withRecord(helm.StatusPendingInstall), false); plan != resume {
		t.Errorf("with a pod, the plan is to %s", plan)
	}
}

func saysThatThePodIsGone(t *testing.T) {
	r := runOn(t, workspacePod(false))
	if plan := r.lookedUp(t); plan != resume {
		t.Fatalf("the plan is to %s", plan)
	}
	r.follower.Expect("old")
	ended := make(chan error, 1)
	go func() { ended <- r.follow(t.Context()) }()
	if err := r.Client.CoreV1().Pods("dev").Delete(t.Context(), id, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err == nil || err.Error() != "pod/"+id+" was deleted" {
		t.Errorf("it ended with %v", err)
	}
	if r.latest.Verdict() != v1.VerdictGone {
		t.Errorf("the verdict is %s", r.latest.Verdict())
	}
}

// A time-out says what was ignored.
func TestATimeoutNamesWhatWasIgnored(t *testing.T) {
	r := runOn(t, nil)
	r.latest = v1.Snapshot{
		Stage: v1.StageStarting, Ignored: []string{cause.ImageNotFound},
		Cause: &v1.Cause{Code: cause.ImageNotFound, Message: "image x not found"},
	}
	ctx, cancel := context.WithTimeoutCause(t.Context(), 0, fault.New(fault.DeadlineExceeded, "timed out after 1s"))
	defer cancel()
	<-ctx.Done()
	err := r.ended(ctx, ctx.Err())
	if want := "timed out after 1s: still Starting: image x not found; ignored on request: ImageNotFound"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

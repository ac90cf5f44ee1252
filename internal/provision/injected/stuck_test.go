package injected

import (
	"errors"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic/fake"
	kubefake "k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/provision/deploy"
	"github.com/berthdev/berth/internal/provision/workload"
	"github.com/berthdev/berth/internal/userstring"
)

// A StatefulSet waits for its pods before it creates others: those that have the workspace and
// are not ready are deleted, but for those of the job and of somebody else.
func TestDeleteStuckPods(t *testing.T) {
	const set = types.UID("set")
	pod := func(name string, owner types.UID, ready corev1.ConditionStatus, job string) *corev1.Pod {
		p := podOf(name, false)
		p.Namespace, p.Labels = "dev",
			map[string]string{kube.LabelCanonicalID: id, kube.LabelInjected: "true", kube.LabelJobID: job}
		p.OwnerReferences = []metav1.OwnerReference{{UID: owner, Controller: new(true)}}
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: ready}}
		return p
	}
	alone := pod("alone", set, corev1.ConditionFalse, "theirs")
	alone.OwnerReferences = nil
	pods := []runtime.Object{
		pod("stuck", set, corev1.ConditionFalse, "theirs"), pod("ready", set, corev1.ConditionTrue, "theirs"),
		pod("mine", set, corev1.ConditionFalse, "mine"), pod("another", "other", corev1.ConditionFalse, "theirs"),
		alone,
	}
	for name, test := range map[string]struct {
		kind, job string
		refused   string
		stay      []string
		fails     bool
	}{
		"of any job":          {"statefulset", "", "", []string{"alone", "another", "ready"}, false},
		"of all jobs but one": {"statefulset", "mine", "", []string{"alone", "another", "mine", "ready"}, false},
		"of a Deployment":     {"deployment", "", "", []string{"alone", "another", "mine", "ready", "stuck"}, false},
		"not to be listed":    {"statefulset", "", "list", nil, true},
		"not to be deleted":   {"statefulset", "", "delete", nil, true},
	} {
		t.Run(name, func(t *testing.T) {
			target, _ := into(t, "none", "none", nil)
			client := kubefake.NewClientset(pods...)
			client.PrependReactor(test.refused, "pods", func(clienttesting.Action) (bool, runtime.Object, error) {
				return true, nil, errors.New("refused")
			})
			target.Client = &kube.Client{Interface: client, Namespace: "dev"}
			w := &workload.Workload{
				Ref:    userstring.Workload{Kind: test.kind, Name: "web"},
				Object: map[string]any{"metadata": map[string]any{"uid": string(set)}},
			}
			if err := target.deleteStuckPods(t.Context(), w, test.job); (err != nil) != test.fails {
				t.Fatal(err)
			}
			if test.fails {
				return
			}
			list, err := client.CoreV1().Pods("dev").List(t.Context(), metav1.ListOptions{})
			if err != nil {
				t.Fatal(err)
			}
			var stay []string
			for _, p := range list.Items {
				stay = append(stay, p.Name)
			}
			slices.Sort(stay)
			if !slices.Equal(stay, test.stay) {
				t.Errorf("%q stay, want %q", stay, test.stay)
			}
		})
	}
}

// Of a Deployment its ReplicaSets are read, too.
func TestResources(t *testing.T) {
	for kind, want := range map[string][]string{
		"deployment": {"deployments", "replicasets"}, "statefulset": {"statefulsets"}, "daemonset": {"daemonsets"},
	} {
		if got := (Target{Ref: userstring.Workload{Kind: kind, Name: "web"}}).resources(); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", kind, got, want)
		}
	}
}

// Once the workload is patched nothing that this run has created is withdrawn.
func TestWithdrawOnceItIsBegun(t *testing.T) {
	target, turn := into(t, "none", "none", nil)
	target.Client.Dynamic.(*fake.FakeDynamicClient).
		PrependReactor("get", "deployments", func(clienttesting.Action) (bool, runtime.Object, error) {
			return true, nil, errors.New("it was looked at")
		})
	if err := target.Withdraw(t.Context(), turn, deploymentOf(),
		deploy.Result{Changes: deploy.Changes{Begun: true}}); err != nil {
		t.Error(err)
	}
	if err := target.Withdraw(t.Context(), turn, deploymentOf(), deploy.Result{}); err == nil {
		t.Error("it was not looked at")
	}
}

package kube_test

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berthdev/berth/internal/kube"
)

// A workspace's pod has its name, or is controlled by the workload that it says. Labels alone, which may be copied to
// any pod, make no pod a workspace's.
func TestIsOfWorkspace(t *testing.T) {
	const id, hash = "alice-1234567", "5f7d9c6b8"
	long := strings.Repeat("a-long-name-", 6) + "end"
	in := func(kind, name string) map[string]string {
		return map[string]string{
			kube.LabelCanonicalID: id, kube.LabelInjected: "true", kube.LabelWorkloadKind: kind,
			kube.LabelWorkloadName: kube.LabelValue(name), "pod-template-hash": hash,
		}
	}
	by := func(kind, name string) []metav1.OwnerReference {
		yes := true
		return []metav1.OwnerReference{{Kind: kind, Name: name, Controller: &yes}}
	}
	for name, test := range map[string]struct {
		pod  metav1.ObjectMeta
		want bool
	}{
		"its own pod": {
			metav1.ObjectMeta{Name: id, Labels: map[string]string{kube.LabelCanonicalID: id}},
			true,
		},
		"a copy of its pod": {metav1.ObjectMeta{
			Name:   "debug",
			Labels: map[string]string{kube.LabelCanonicalID: id},
		}, false},
		"a pod without a label": {metav1.ObjectMeta{Name: id}, false},
		"of a Deployment": {metav1.ObjectMeta{
			Labels:          in("deployment", "web"),
			OwnerReferences: by("ReplicaSet", "web-"+hash),
		}, true},
		"of a long Deployment": {metav1.ObjectMeta{
			Labels:          in("deployment", long),
			OwnerReferences: by("ReplicaSet", long+"-"+hash),
		}, true},
		"of another Deployment": {metav1.ObjectMeta{
			Labels:          in("deployment", "web"),
			OwnerReferences: by("ReplicaSet", "web-b-"+hash),
		}, false},
		"of another's template": {metav1.ObjectMeta{
			Labels:          in("deployment", "web"),
			OwnerReferences: by("ReplicaSet", "web-7c9f"),
		}, false},
		"of a StatefulSet": {metav1.ObjectMeta{
			Labels:          in("statefulset", "db"),
			OwnerReferences: by("StatefulSet", "db"),
		}, true},
		"of a DaemonSet": {metav1.ObjectMeta{
			Labels:          in("daemonset", "agent"),
			OwnerReferences: by("DaemonSet", "agent"),
		}, true},
		"of another kind": {metav1.ObjectMeta{
			Labels:          in("statefulset", "db"),
			OwnerReferences: by("DaemonSet", "db"),
		}, false},
		"of a Job": {
			metav1.ObjectMeta{Labels: in("deployment", "web"), OwnerReferences: by("Job", "web")},
			false,
		},
		"a copy without an owner":   {metav1.ObjectMeta{Name: "web-1", Labels: in("deployment", "web")}, false},
		"a copy with the ID's name": {metav1.ObjectMeta{Name: id, Labels: in("deployment", "web")}, false},
		"owned, not controlled": {metav1.ObjectMeta{
			Labels: in("statefulset", "db"),
			OwnerReferences: []metav1.OwnerReference{
				{Kind: "StatefulSet", Name: "db"},
			},
		}, false},
	} {
		if got := kube.IsOfWorkspace(&test.pod); got != test.want {
			t.Errorf("%s: %t, want %t", name, got, test.want)
		}
	}
}

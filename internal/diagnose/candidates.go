package diagnose

import (
	"cmp"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/watch"
)

// candidate is something in a dump that can be diagnosed.
type candidate struct {
	watch.Subject
	uid       types.UID
	owner     types.UID // empty for what nothing else stands behind
	workspace bool
}

func (c candidate) String() string {
	return kube.Object(strings.ToLower(c.Kind), c.Name)
}

// candidates are the pods and workloads of a dump, in alphabetical order, one
// for each name.
func (d Dump) candidates() []candidate {
	known := map[watch.Subject]candidate{}
	for _, r := range d.Records {
		if kind, o := kindOfObject(r.Object); kind != "" {
			c := candidate{Subject: watch.Subject{Kind: kind, Namespace: o.GetNamespace(), Name: o.GetName()}, uid: o.GetUID()}
			if owner := metav1.GetControllerOf(o); owner != nil {
				c.owner = owner.UID
			}
			c.workspace = kind == watch.KindPod && o.GetLabels()[kube.LabelCanonicalID] != ""
			known[c.Subject] = c
		}
	}
	var all []candidate
	for _, c := range known {
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.String(), b.String()))
	})
	return all
}

func kindOfObject(obj runtime.Object) (string, metav1.Object) {
	switch o := obj.(type) {
	case *corev1.Pod:
		return watch.KindPod, o
	case *appsv1.Deployment:
		return watch.KindDeployment, o
	case *appsv1.ReplicaSet:
		return watch.KindReplicaSet, o
	case *appsv1.StatefulSet:
		return watch.KindStatefulSet, o
	case *appsv1.DaemonSet:
		return watch.KindDaemonSet, o
	case *batchv1.Job:
		return watch.KindJob, o
	}
	return "", nil
}

// Package inventory reads what stands on a cluster: one workspace or all of them,
// of their own or injected into a workload, once or as they change. It writes
// nothing and knows of no provisioning.
package inventory

import (
	"time"

	helm "helm.sh/helm/v3/pkg/release"
	corev1 "k8s.io/api/core/v1"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/provision/workload"
	"github.com/berthdev/berth/internal/release"
	"github.com/berthdev/berth/internal/userstring"
	"github.com/berthdev/berth/internal/watch/cause"
)

// Reader reads the workspaces of a cluster, those of the client's namespace if
// nothing else is said.
type Reader struct {
	Client *kube.Client
	// Policy says when something that goes wrong counts as a failure.
	Policy cause.Policy
	Now    func() time.Time
}

// In reads another namespace; the same one if the name is empty.
func (r Reader) In(namespace string) Reader {
	if namespace != "" && namespace != r.Client.Namespace {
		r.Client = r.Client.In(namespace)
	}
	return r
}

// Records are Helm's records of the namespace's workspaces.
func (r Reader) Records() release.Records {
	return release.Records{Secrets: r.Client.CoreV1().Secrets(r.Client.Namespace), Namespace: r.Client.Namespace}
}

// Found is what stands on the cluster under a workspace's name.
type Found struct {
	Pod     *corev1.Pod
	Version string // of the list that the pod was or was not in
	Reading v1.Snapshot
	Record  *helm.Release
	// Workload is what the workspace is, or is to be, injected into.
	Workload *workload.Workload
	// Pods are those of the workload that have the workspace, the one to enter
	// first at the front.
	Pods []*corev1.Pod
	// Remains is the number of ConfigMaps and claims of a workspace that is not
	// in its workload: a killed run has left them.
	Remains int
}

// Job is the job that made what was found.
func (f Found) Job() string {
	switch {
	case f.Pod != nil:
		return f.Pod.Labels[kube.LabelJobID]
	case f.Workload != nil:
		return f.Workload.Job()
	}
	return ""
}

// WorkloadRef is the workload; zero for a workspace with a pod of its own.
func (f Found) WorkloadRef() (ref userstring.Workload) {
	if f.Workload != nil {
		ref = f.Workload.Ref
	}
	return ref
}

// Describe is the document of what was found, of that ID.
func (f Found) Describe(id, namespace string) v1.Workspace {
	w := v1.Workspace{ID: id, Namespace: namespace, Snapshot: f.Reading}
	switch {
	case f.Pod != nil:
		w = Describe(&f.Pod.ObjectMeta, f.Reading)
	case len(f.Pods) > 0:
		w = Describe(&f.Pods[0].ObjectMeta, f.Reading)
	}
	w.Workload = f.WorkloadRef().String()
	return w
}

func notFound(id, namespace string) error {
	return fault.New(fault.NotFound, "there is no workspace %s in namespace %s", id, namespace).
		WithHint("`berth status` lists what there is; --namespace looks elsewhere")
}

func noPods(id, workload, namespace string) error {
	return fault.New(fault.Failed, "no pod of %s has workspace %s", workload, id).
		WithHint("see why: kubectl describe %s --namespace %s", workload, namespace)
}

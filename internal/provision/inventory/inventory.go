// Package inventory reads one workspace from a cluster: of its own or injected into
// a workload. Package fleet reads many. Neither writes anything.
package inventory

import (
	"context"
	"time"

	helm "helm.sh/helm/v3/pkg/release"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	v1 "github.com/berthdev/berth/api/v1"
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
	// Scheme is how the IDs of workspaces are computed. In k8shell's, their locks are taken as k8shell takes them, too.
	Scheme userstring.Scheme
	// Former returns an error if berth once took the caller for the user of that name, who
	// can be somebody else; nil asks nobody.
	Former func(ctx context.Context, username string) error
	// Meant is the name of the workspace of the namespace that is meant by one that does not
	// exist; empty if no name is near. Nil asks nobody.
	Meant func(ctx context.Context, namespace, typed string) string
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

// Found is what exists on the cluster under a workspace's name.
type Found struct {
	Pod     *corev1.Pod
	Version string // of the list that the pod was or was not in
	Reading v1.Snapshot
	Record  *helm.Release
	// Unreadable is why the record that there is cannot be read; nil if it can.
	Unreadable error
	// Workload is what the workspace is, or is to be, injected into.
	Workload *workload.Workload
	// Objects are the ConfigMaps and claims of an injected workspace, where they were
	// asked for. Those of one that is not in its workload a killed run has left.
	Objects []*unstructured.Unstructured
	// Leaving are the pods of a workload that still have a workspace which is not in
	// its template any more.
	Leaving []*corev1.Pod

	// Kept are the claims of a workspace that is deleted, where they were asked for.
	Kept []*unstructured.Unstructured

	objects Objects // that the reading was made of
}

// installed says whether there is a record, whether it can be read or not.
func (f Found) installed() bool { return f.Record != nil || f.Unreadable != nil }

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

// Blueprint is the name of the blueprint that what was found was made of; empty if it is not
// known.
func (f Found) Blueprint() string {
	switch {
	case f.Pod != nil:
		return f.Pod.Labels[kube.LabelBlueprint]
	case f.Record != nil:
		return wanted(f.Record).Labels[kube.LabelBlueprint]
	case len(f.objects.Pods) > 0:
		return f.objects.Pods[0].Labels[kube.LabelBlueprint]
	}
	return ""
}

// Pods are those that were found.
func (f Found) Pods() []*corev1.Pod { return f.objects.Pods }

// WorkloadRef is the workload; zero for a workspace with a pod of its own.
func (f Found) WorkloadRef() (ref userstring.Workload) {
	if f.Workload != nil {
		ref = f.Workload.Ref
	}
	return ref
}

// Describe is the document of what was found, of that ID.
func (f Found) Describe(id, namespace string) v1.Workspace {
	if len(f.objects.Pods) > 0 || f.objects.injected() {
		return f.objects.describe(f.Reading)
	}
	return v1.Workspace{ID: id, Namespace: namespace, Workload: f.WorkloadRef().String(), Snapshot: f.Reading}
}

// NeedsEvents is true for a reading that the events may change: they say why a pod
// waits, and, where the policy is patient, since when.
func (r Reader) NeedsEvents(s v1.Snapshot) bool {
	return s.Verdict() == v1.VerdictWaiting || s.Verdict() == v1.VerdictFailed && r.Policy.Patient()
}

// read notes the objects and their reading.
func (r Reader) read(f Found, objects Objects) Found {
	w, _ := objects.Workspace(r.Policy, r.Now())
	f.objects, f.Reading = objects, w.Snapshot
	return f
}

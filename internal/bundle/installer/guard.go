// Package installer says as whom what a bundle contains is installed: which ServiceAccount
// that is, who may name one, and what no bundle touches.
package installer

import (
	"context"
	"sync"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic"

	"github.com/berthdev/berth/internal/bundle/server"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/serve/manifest"
)

const reasonForbidden = metav1.StatusReasonForbidden

// Guard knows whether the API server asks the authors of instances for their rights.
type Guard struct {
	Client dynamic.Interface
	// System is the system namespace, which the policies name.
	System string
	Now    func() time.Time

	mu    sync.Mutex
	until time.Time // what was found counts
}

// known is how long it counts that the policies are there.
const known = 30 * time.Second

// Check returns an error unless Policies are in force: without them an instance could name any
// ServiceAccount. That they are is remembered for a while.
func (g *Guard) Check(ctx context.Context) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.Now().Before(g.until) {
		return nil
	}
	for _, p := range Policies(g.System) {
		if err := g.inForce(ctx, p); err != nil {
			return err
		}
	}
	g.until = g.Now().Add(known)
	return nil
}

// inForce returns an error unless the policy and its binding are those that it is printed as.
func (g *Guard) inForce(ctx context.Context, p manifest.Policy) error {
	name := manifest.PolicyName(server.Role, p.Name)
	var policy admissionv1.ValidatingAdmissionPolicy
	if err := g.get(ctx, "validatingadmissionpolicies", name, &policy); err != nil {
		return err
	}
	var binding admissionv1.ValidatingAdmissionPolicyBinding
	if err := g.get(ctx, "validatingadmissionpolicybindings", name, &binding); err != nil {
		return err
	}
	if differs := p.Differs(server.Role, &policy, &binding); differs != "" {
		return unguarded("the admission policy %s is another one: %s", name, differs)
	}
	return nil
}

func (g *Guard) get(ctx context.Context, resource, name string, into any) error {
	found, err := g.Client.Resource(admissionv1.SchemeGroupVersion.WithResource(resource)).
		Get(ctx, name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return unguarded("the cluster has no %s %s", resource, name)
	case err != nil:
		return kube.Fault(err, kube.Call{Verb: "get", Resource: resource + "." + admissionv1.GroupName, Name: name})
	}
	return runtime.DefaultUnstructuredConverter.FromUnstructured(found.Object, into)
}

// unguarded is why no instance is installed as a ServiceAccount that it names.
func unguarded(format string, args ...any) error {
	return fault.New(fault.PermissionDenied,
		"the instance names a ServiceAccount, and nobody has checked that its author may act as it: "+format, args...).
		WithHint("apply the objects that `berth serve manifests bundles` prints, then change the instance again")
}

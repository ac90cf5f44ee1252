package provision

import (
	"context"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/berthdev/berth/internal/apply"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/provision/manifest"
)

// How often a new namespace is asked for its service account, and for how long.
const (
	accountPoll = 50 * time.Millisecond
	accountTime = 10 * time.Second
)

// createNamespace creates the namespace, which was found not to exist. No pod can
// be created before the controllers have given it its service account.
func (s session) createNamespace(ctx context.Context) error {
	name := s.Client.Namespace
	return s.steps.Do("create namespace", func() (string, error) {
		if _, err := s.applyNamespace(ctx, apply.DryRunNone); err != nil {
			return "", err
		}
		err := wait.PollUntilContextTimeout(ctx, accountPoll, accountTime, true, func(ctx context.Context) (bool, error) {
			_, err := s.Client.CoreV1().ServiceAccounts(name).Get(ctx, "default", metav1.GetOptions{})
			return !apierrors.IsNotFound(err), nil // without the permission the creation of the pod shows it
		})
		if wait.Interrupted(err) && ctx.Err() == nil {
			err = nil // so does it then
		}
		return name, err
	})
}

// applyNamespace creates the namespace; one that exists stays as it is.
func (s session) applyNamespace(ctx context.Context, dry apply.DryRun) (apply.Changes, error) {
	applier := s.sharer(dry)
	applier.Owner = apply.Owner{} // a namespace is not berth's
	return applier.Apply(ctx, apply.Objects([]*unstructured.Unstructured{kube.Named("Namespace", s.Client.Namespace)}))
}

// previewNamespace is not empty if the namespace would be created. That it cannot
// be read is an error only if it is to be created.
func (s session) previewNamespace(ctx context.Context, dry apply.DryRun) (apply.Changes, error) {
	name := s.Client.Namespace
	_, err := s.Client.CoreV1().Namespaces().Get(ctx, name, metav1.GetOptions{})
	if err == nil || apierrors.IsForbidden(err) && !s.CreateNamespace {
		return nil, nil
	}
	if !apierrors.IsNotFound(err) || !s.CreateNamespace {
		return nil, kube.Fault(err, kube.Call{Verb: "get", Resource: "namespaces", Namespace: name, Name: name})
	}
	return s.applyNamespace(ctx, dry)
}

// checkCertificate checks that the cluster has certificates at all, if they are
// configured.
func (p *Provisioner) checkCertificate(ctx context.Context) error {
	if p.Certificate == nil {
		return nil
	}
	_, err := p.Client.Discovery().RESTClient().Get().AbsPath("/apis/" + manifest.CertManager).DoRaw(ctx)
	if apierrors.IsNotFound(err) {
		return fault.New(fault.InvalidArgument,
			"certificate is configured, but the cluster has no %s: cert-manager is not installed", manifest.CertManager).
			WithHint("install cert-manager, or remove certificate from the configuration")
	}
	return kube.Fault(err, kube.Call{Verb: "get", Resource: "/apis/" + manifest.CertManager})
}

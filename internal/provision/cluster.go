package provision

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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
		namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
		_, err := s.Client.CoreV1().Namespaces().Create(ctx, namespace, metav1.CreateOptions{})
		if err != nil && !apierrors.IsAlreadyExists(err) {
			return "", kube.Fault(err, kube.Call{Verb: "create", Resource: "namespaces", Name: name})
		}
		err = wait.PollUntilContextTimeout(ctx, accountPoll, accountTime, true, func(ctx context.Context) (bool, error) {
			_, err := s.Client.CoreV1().ServiceAccounts(name).Get(ctx, "default", metav1.GetOptions{})
			return !apierrors.IsNotFound(err), nil // who may not look finds out when the pod is created
		})
		if wait.Interrupted(err) && ctx.Err() == nil {
			err = nil // likewise
		}
		return name, err
	})
}

// previewNamespace is not empty if the namespace would be created. Who may not
// look whether it exists finds out in the end, unless it is to be created.
func (s session) previewNamespace(ctx context.Context, dry apply.DryRun) (apply.Changes, error) {
	namespaces, name := s.Client.CoreV1().Namespaces(), s.Client.Namespace
	_, err := namespaces.Get(ctx, name, metav1.GetOptions{})
	if err == nil || apierrors.IsForbidden(err) && !s.CreateNamespace {
		return nil, nil
	}
	if !apierrors.IsNotFound(err) || !s.CreateNamespace {
		return nil, kube.Fault(err, kube.Call{Verb: "get", Resource: "namespaces", Namespace: name, Name: name})
	}
	if dry == apply.DryRunServer {
		namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
		_, err := namespaces.Create(ctx, namespace, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		if err != nil {
			return nil, kube.Fault(err, kube.Call{Verb: "create", Resource: "namespaces", Name: name})
		}
	}
	return apply.Changes{{Action: apply.Created, Object: kube.Named("Namespace", name)}}, nil
}

// checkCertificate checks that the cluster has certificates at all, if they are
// configured.
func (p *Provisioner) checkCertificate(ctx context.Context) error {
	if p.Certificate == nil {
		return nil
	}
	_, err := p.Client.Discovery().RESTClient().Get().AbsPath("/apis/" + manifest.CertManager).DoRaw(ctx)
	if apierrors.IsNotFound(err) {
		return fault.New(fault.InvalidArgument, "certificate is configured, but the cluster has no %s: cert-manager is not installed", manifest.CertManager).
			WithHint("install cert-manager, or remove certificate from the configuration")
	}
	return kube.Fault(err, kube.Call{Verb: "get", Resource: "/apis/" + manifest.CertManager})
}

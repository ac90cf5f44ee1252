package provision

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/provision/manifest"
)

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

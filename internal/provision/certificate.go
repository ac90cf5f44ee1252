package provision

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/provision/manifest"
)

// checkCertificate asks whether the cluster knows certificates at all, before
// anything is made. It is asked only where they are configured.
func (r *run) checkCertificate(ctx context.Context) error {
	if r.Certificate == nil {
		return nil
	}
	_, err := r.Client.Discovery().RESTClient().Get().AbsPath("/apis/" + manifest.CertManager).DoRaw(ctx)
	if apierrors.IsNotFound(err) {
		return fault.New(fault.InvalidArgument, "certificate is configured, and the cluster has no %s: cert-manager is not installed", manifest.CertManager).
			WithHint("install cert-manager, or take certificate out of the configuration")
	}
	return kube.Fault(err, kube.Call{Verb: "get", Resource: "/apis/" + manifest.CertManager})
}

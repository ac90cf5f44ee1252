package provision

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
)

// certManager is the API that certificates are asked of.
const certManager = "cert-manager.io/v1"

// Certificate says who certifies the DNS names of workspaces, through
// cert-manager.
type Certificate struct {
	// IssuerKind is Issuer or ClusterIssuer.
	IssuerName, IssuerKind string
}

// value is the chart's value. The Secret is cert-manager's; the workspace finds
// it at /k8shell/tls.
func (c *Certificate) value(s workspaceSpec) any {
	if c == nil {
		return nil
	}
	id := s.user.ID()
	names := []any{id, id + "." + s.namespace, id + "." + s.namespace + ".svc"}
	if s.blueprint.Subdomain != "" {
		names = append(names, id+"."+s.blueprint.Subdomain+"."+s.namespace+".svc")
	}
	return map[string]any{
		"secretName": tlsSecretName(id), "dnsNames": names,
		"issuerRef": map[string]any{"group": "cert-manager.io", "kind": c.IssuerKind, "name": c.IssuerName},
	}
}

func tlsSecretName(id string) string { return kube.Name(id, "tls") }

// checkCertificate asks whether the cluster knows certificates at all, before
// anything is made. It is asked only where they are configured.
func (r *run) checkCertificate(ctx context.Context) error {
	if r.Certificate == nil {
		return nil
	}
	_, err := r.Client.Discovery().RESTClient().Get().AbsPath("/apis/" + certManager).DoRaw(ctx)
	if apierrors.IsNotFound(err) {
		return fault.New(fault.InvalidArgument, "certificate is configured, and the cluster has no %s: cert-manager is not installed", certManager).
			WithHint("install cert-manager, or take certificate out of the configuration")
	}
	return kube.Fault(err, kube.Call{Verb: "get", Resource: "/apis/" + certManager})
}

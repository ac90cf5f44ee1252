package manifest

import "github.com/berthdev/berth/internal/kube"

// CertManager is the API that certificates are asked of.
const CertManager = "cert-manager.io/v1"

// Certificate says who certifies the DNS names of workspaces, through
// cert-manager.
type Certificate struct {
	// IssuerKind is Issuer or ClusterIssuer.
	IssuerName, IssuerKind string
}

// value is the chart's value. The Secret is cert-manager's; the workspace finds
// it at /k8shell/tls.
func (c *Certificate) value(s Spec) any {
	if c == nil {
		return nil
	}
	id := s.User.ID()
	names := []string{id, id + "." + s.Namespace, id + "." + s.Namespace + ".svc"}
	if s.Blueprint.Subdomain != "" {
		names = append(names, id+"."+s.Blueprint.Subdomain+"."+s.Namespace+".svc")
	}
	return map[string]any{
		"secretName": kube.CertificateSecret(id), "dnsNames": names,
		"issuerRef": map[string]any{"group": "cert-manager.io", "kind": c.IssuerKind, "name": c.IssuerName},
	}
}

package manifest

import (
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/berthdev/berth/internal/blueprint"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/userstring"
)

// Port is where an agent is reached.
const Port = kube.AgentPort

// networkClass is the class of a workspace's NetworkPolicy; empty for none. A
// blueprint that only says what else may be reached means the class workspace.
func networkClass(n blueprint.Network) string {
	if n.NetworkPolicyClass == "" && len(n.AllowEgressToCIDRs)+len(n.AllowEgressToPods) > 0 {
		return blueprint.NetworkWorkspace
	}
	return n.NetworkPolicyClass
}

// networkPolicy is the chart's value; nil without a class: then the namespace's own policies are all that counts.
func networkPolicy(s Spec) (any, error) {
	class := networkClass(s.Blueprint.Network)
	if class == "" {
		return nil, nil
	}
	labels := podLabels(s)
	if class == blueprint.NetworkOrganization && labels[kube.LabelOrganization] == "" {
		return nil, fault.New(fault.InvalidArgument,
			"blueprint %s: network.networkPolicyClass organization requires an organization, and %s has none",
			s.Blueprint.Name, userstring.Owner(s.Identity.Username)).WithHint("choose the class user or workspace")
	}
	agent := agentPort{listens: hasAgent(s.Blueprint), namespace: s.ControlNamespace}
	spec := policySpec(class, labels, s.Blueprint.Network, agent)
	return map[string]any{"name": policyName(s.User.ID(), class), "spec": spec}, nil
}

func policyName(id, class string) string { return kube.Name("np", id, class) }

// agentPort is who may come to the agent's port. Its streams ask for no credentials, so that the policy is all that
// keeps others from it.
type agentPort struct {
	// listens is false for the shell runtime: then nothing is there.
	listens bool
	// namespace is that of k8shell's proxy and API server; empty for nobody.
	namespace string
}

// policySpec is what a class means:
//
//	system        everything, both ways
//	workspace     in: nothing; out: DNS and the internet, nothing of the cluster
//	isolated      in: nothing; out: DNS
//	user          as workspace, and the user's own workspaces in the namespace, both ways
//	organization  as workspace, and the organization's in the namespace, both ways
//
// The port of an agent takes its clients alone, in every class, and the agent reaches them. What the blueprint allows
// in addition may be reached in every class.
func policySpec(class string, labels map[string]string, n blueprint.Network,
	agent agentPort,
) networkingv1.NetworkPolicySpec {
	spec := networkingv1.NetworkPolicySpec{
		PodSelector: having(labels, kube.LabelCanonicalID),
		PolicyTypes: []networkingv1.PolicyType{networkingv1.PolicyTypeIngress, networkingv1.PolicyTypeEgress},
		Ingress:     agent.clients(),
	}
	if class == blueprint.NetworkSystem {
		spec.Ingress = append(spec.Ingress, networkingv1.NetworkPolicyIngressRule{Ports: agent.others()})
		spec.Egress = []networkingv1.NetworkPolicyEgressRule{{}}
		return spec
	}
	spec.Egress = []networkingv1.NetworkPolicyEgressRule{{Ports: append(ports(corev1.ProtocolUDP, 53),
		ports(corev1.ProtocolTCP, 53)...)}}
	if clients := agent.peers(); len(clients) > 0 { // the API server is what the agent reports to
		spec.Egress = append(spec.Egress, networkingv1.NetworkPolicyEgressRule{To: clients})
	}
	if class != blueprint.NetworkIsolated {
		spec.Egress = append(spec.Egress, networkingv1.NetworkPolicyEgressRule{To: internet()})
	}
	peer := map[string]string{
		blueprint.NetworkUser:         kube.LabelUsername,
		blueprint.NetworkOrganization: kube.LabelOrganization,
	}[class]
	if peer != "" {
		selector := having(labels, peer)
		peers := []networkingv1.NetworkPolicyPeer{{PodSelector: &selector}}
		spec.Ingress = append(spec.Ingress, networkingv1.NetworkPolicyIngressRule{From: peers, Ports: agent.others()})
		spec.Egress = append(spec.Egress, networkingv1.NetworkPolicyEgressRule{To: peers})
	}
	if allowed := additional(n); len(allowed) > 0 {
		spec.Egress = append(spec.Egress, networkingv1.NetworkPolicyEgressRule{To: allowed})
	}
	return spec
}

// peers are k8shell's proxy and API server, by their label; none where no agent listens.
func (a agentPort) peers() []networkingv1.NetworkPolicyPeer {
	if !a.listens || a.namespace == "" {
		return nil
	}
	selector := metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{
		Key: kube.LabelApp, Operator: metav1.LabelSelectorOpIn, Values: []string{"api-server", "ssh-proxy"},
	}}}
	return []networkingv1.NetworkPolicyPeer{{NamespaceSelector: inNamespace(a.namespace), PodSelector: &selector}}
}

// clients are the rules for those that may come to the agent.
func (a agentPort) clients() []networkingv1.NetworkPolicyIngressRule {
	peers := a.peers()
	if len(peers) == 0 {
		return nil
	}
	return []networkingv1.NetworkPolicyIngressRule{{Ports: ports(corev1.ProtocolTCP, Port), From: peers}}
}

// others are all ports but that of an agent; without one, all.
func (a agentPort) others() []networkingv1.NetworkPolicyPort {
	if !a.listens {
		return nil
	}
	between := func(protocol corev1.Protocol, first, last int32) networkingv1.NetworkPolicyPort {
		from := intstr.FromInt32(first)
		return networkingv1.NetworkPolicyPort{Protocol: &protocol, Port: &from, EndPort: &last}
	}
	return []networkingv1.NetworkPolicyPort{
		between(corev1.ProtocolTCP, 1, Port-1), between(corev1.ProtocolTCP, Port+1, 1<<16-1),
		between(corev1.ProtocolUDP, 1, 1<<16-1), between(corev1.ProtocolSCTP, 1, 1<<16-1),
	}
}

// internet is every address that is not private or link-local (RFC 1918, 3927, 4193, 4291, 6598): those are the
// cluster's, its neighbours', and a cloud's metadata service.
func internet() []networkingv1.NetworkPolicyPeer {
	return []networkingv1.NetworkPolicyPeer{
		{IPBlock: &networkingv1.IPBlock{CIDR: "0.0.0.0/0", Except: []string{
			"10.0.0.0/8", "100.64.0.0/10", "169.254.0.0/16", "172.16.0.0/12", "192.168.0.0/16",
		}}},
		{IPBlock: &networkingv1.IPBlock{CIDR: "::/0", Except: []string{"fc00::/7", "fe80::/10"}}},
	}
}

// additional is what a blueprint allows to be reached.
func additional(n blueprint.Network) (peers []networkingv1.NetworkPolicyPeer) {
	for _, cidr := range n.AllowEgressToCIDRs {
		peers = append(peers, networkingv1.NetworkPolicyPeer{IPBlock: &networkingv1.IPBlock{CIDR: cidr}})
	}
	for _, pods := range n.AllowEgressToPods {
		peer := networkingv1.NetworkPolicyPeer{PodSelector: &metav1.LabelSelector{MatchLabels: pods.Labels}}
		switch pods.Namespace {
		case "":
		case blueprint.AnyNamespace:
			peer.NamespaceSelector = &metav1.LabelSelector{}
		default:
			peer.NamespaceSelector = inNamespace(pods.Namespace)
		}
		peers = append(peers, peer)
	}
	return peers
}

func inNamespace(name string) *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: name}}
}

func having(labels map[string]string, name string) metav1.LabelSelector {
	return metav1.LabelSelector{MatchLabels: map[string]string{name: labels[name]}}
}

func ports(protocol corev1.Protocol, port int32) []networkingv1.NetworkPolicyPort {
	at := intstr.FromInt32(port)
	return []networkingv1.NetworkPolicyPort{{Protocol: &protocol, Port: &at}}
}

// CertManager is the API that certificates are asked of.
const CertManager = "cert-manager.io/v1"

// Certificate says who certifies the DNS names of workspaces, through cert-manager.
type Certificate struct {
	// IssuerKind is Issuer or ClusterIssuer.
	IssuerName, IssuerKind string
}

// value is the chart's value. The Secret is cert-manager's; the workspace finds it at /k8shell/tls, an agent at
// /etc/tls/k8shelld.
func (c *Certificate) value(s Spec) any {
	if c == nil {
		return nil
	}
	id := s.User.ID()
	service := id + "." + s.Namespace + ".svc"
	names := []string{id, id + "." + s.Namespace, service, service + ".cluster.local"}
	if s.Blueprint.Subdomain != "" {
		names = append(names, id+"."+s.Blueprint.Subdomain+"."+s.Namespace+".svc")
	}
	return map[string]any{
		"secretName": kube.CertificateSecret(id), "dnsNames": names,
		"issuerRef": map[string]any{"group": "cert-manager.io", "kind": c.IssuerKind, "name": c.IssuerName},
	}
}

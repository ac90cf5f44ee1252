package manifest

import (
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// labelMetrics is true on a namespace whose pods may ask for metrics.
const labelMetrics = "berth.dev/metrics"

func (r Role) service(o Options) *corev1.Service {
	ports := make([]corev1.ServicePort, 0, 1+len(r.Ports))
	for _, p := range append([]Port{{Name: "https", Number: 443}}, r.Ports...) {
		ports = append(ports, corev1.ServicePort{
			Name: p.Name, Port: p.Number, TargetPort: intstr.FromString("https"),
			Protocol: corev1.ProtocolTCP,
		})
	}
	return &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: r.objectName(), Namespace: o.Namespace, Labels: r.labels()},
		Spec:       corev1.ServiceSpec{Selector: r.selector(), Ports: ports},
	}
}

// disruptions keeps a pod where there are several, and never a node from being drained where there is one.
func (r Role) disruptions(o Options) *policyv1.PodDisruptionBudget {
	one := intstr.FromInt32(1)
	return &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Name: r.objectName(), Namespace: o.Namespace, Labels: r.labels()},
		Spec: policyv1.PodDisruptionBudgetSpec{
			MaxUnavailable: &one,
			Selector:       &metav1.LabelSelector{MatchLabels: r.selector()},
		},
	}
}

// network lets everybody ask for the role itself, which asks for a token, and the namespaces that are marked, and its
// own, for metrics. The kubelet's probes are always let in. Outwards all is open, as only the authors of sources know
// where those are; but to a driver, which asks nobody.
func (r Role) network(o Options) *networkingv1.NetworkPolicy {
	rules := []networkingv1.NetworkPolicyIngressRule{{Ports: port(aboutPort), From: []networkingv1.NetworkPolicyPeer{
		{PodSelector: &metav1.LabelSelector{}},
		{NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{labelMetrics: "true"}}},
	}}}
	if !r.NoService {
		rules = append([]networkingv1.NetworkPolicyIngressRule{{Ports: port(servingPort)}}, rules...)
	}
	types := []networkingv1.PolicyType{networkingv1.PolicyTypeIngress}
	if r.Node != (Node{}) {
		types = append(types, networkingv1.PolicyTypeEgress) // a driver asks nobody
	}
	return &networkingv1.NetworkPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: r.objectName(), Namespace: o.Namespace, Labels: r.labels()},
		Spec: networkingv1.NetworkPolicySpec{
			PodSelector: metav1.LabelSelector{MatchLabels: r.selector()},
			PolicyTypes: types,
			Ingress:     rules,
		},
	}
}

func port(number int32) []networkingv1.NetworkPolicyPort {
	tcp, at := corev1.ProtocolTCP, intstr.FromInt32(number)
	return []networkingv1.NetworkPolicyPort{{Protocol: &tcp, Port: &at}}
}

package manifest

import (
	"encoding/json"
	"strings"
	"testing"

	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/berthdev/berth/internal/blueprint"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/registry"
)

// The classes of network policies, each rule in a word.
func TestNetworkClasses(t *testing.T) {
	extra := blueprint.Network{
		AllowEgressToCIDRs: []string{"10.1.0.0/16"},
		AllowEgressToPods: []blueprint.EgressPods{
			{Labels: map[string]string{"app": "db"}},
			{Namespace: "infra", Labels: map[string]string{"app": "cache"}},
		},
	}
	for class, want := range map[string]string{
		"system":    "in: all; out: all",
		"workspace": "in: 2822; out: dns, internet, 10.1.0.0/16 app=db app=cache@infra",
		"isolated":  "in: 2822; out: dns, 10.1.0.0/16 app=db app=cache@infra",
		"user":      "in: 2822, username=alice; out: dns, internet, username=alice, 10.1.0.0/16 app=db app=cache@infra",
		"organization": "in: 2822, organization=Example-Inc-" +
			"; out: dns, internet, organization=Example-Inc-, 10.1.0.0/16 app=db app=cache@infra",
	} {
		n := extra
		n.NetworkPolicyClass = class
		labels := map[string]string{
			"k8shell.io/canonical-id": "alice-1", "k8shell.io/username": "alice",
			"k8shell.io/organization": "Example-Inc-",
		}
		spec := policySpec(class, labels, n)
		if got := inWords(spec); got != want || spec.PodSelector.MatchLabels["k8shell.io/canonical-id"] != "alice-1" ||
			len(spec.PolicyTypes) != 2 {
			t.Errorf("%s:\n%s, want\n%s", class, got, want)
		}
	}
	blocks, pods := extra, extra
	blocks.AllowEgressToPods, pods.AllowEgressToCIDRs = nil, nil
	for _, n := range []blueprint.Network{extra, blocks, pods} {
		if class := networkClass(n); class != "workspace" {
			t.Errorf("what else may be reached means class %q: %+v", class, n)
		}
	}
	if class := networkClass(blueprint.Network{}); class != "" {
		t.Errorf("nothing means class %q", class)
	}
}

func inWords(spec networkingv1.NetworkPolicySpec) string {
	peers := func(all []networkingv1.NetworkPolicyPeer) string {
		var words []string
		for _, p := range all {
			switch {
			case p.IPBlock != nil && p.IPBlock.CIDR == "::/0":
			case p.IPBlock != nil && p.IPBlock.CIDR == "0.0.0.0/0" && len(p.IPBlock.Except) == 5:
				words = append(words, "internet")
			case p.IPBlock != nil:
				words = append(words, p.IPBlock.CIDR)
			}
			if p.PodSelector != nil {
				for name, value := range p.PodSelector.MatchLabels {
					words = append(words, strings.TrimPrefix(name, "k8shell.io/")+"="+value)
				}
			}
			if p.NamespaceSelector != nil {
				words[len(words)-1] += "@" + p.NamespaceSelector.MatchLabels["kubernetes.io/metadata.name"]
			}
		}
		return strings.Join(words, " ")
	}
	rule := func(ports []networkingv1.NetworkPolicyPort, from []networkingv1.NetworkPolicyPeer) string {
		switch {
		case len(ports) == 0 && len(from) == 0:
			return "all"
		case len(ports) == 1:
			return ports[0].Port.String()
		case len(ports) == 2 && ports[0].Port.String()+ports[1].Port.String() == "5353":
			return "dns"
		}
		return peers(from)
	}
	var in, out []string
	for _, r := range spec.Ingress {
		in = append(in, rule(r.Ports, r.From))
	}
	for _, r := range spec.Egress {
		out = append(out, rule(r.Ports, r.To))
	}
	return "in: " + strings.Join(in, ", ") + "; out: " + strings.Join(out, ", ")
}

// The class organization is for somebody who has one.
func TestClassOrganizationWithoutOne(t *testing.T) {
	s := spec(t, "alice", blueprint.Blueprint{
		Name: "dev", Image: "x",
		Network: blueprint.Network{NetworkPolicyClass: "organization"},
	})
	if policy, err := networkPolicy(s); err != nil || policy == nil {
		t.Errorf("with one: %v, %v", policy, err)
	}
	s.Identity.Organization = ""
	if policy, err := networkPolicy(s); fault.CodeOf(err) != fault.InvalidArgument {
		t.Errorf("without one: %v, %v", policy, err)
	}
}

// What a namespace has once: the pull secret, of the type that the kubelet reads and with the
// key that it knows Docker Hub by, and the headless Service of the subdomain.
func TestShared(t *testing.T) {
	s := spec(t, "alice", blueprint.Blueprint{Name: "dev", Image: "x", Subdomain: "team"})
	s.Access.Registry = &registry.Login{Server: "docker.io", Username: "alice", Password: "hunter2"}
	wanted := s.Shared()
	if len(wanted) != 2 {
		t.Fatalf("%d objects", len(wanted))
	}
	for i, want := range []string{
		`{"apiVersion":"v1","kind":"Secret","metadata":{"name":"k8shell-pull-secret"},"type":"kubernetes.io/dockerconfigjson"}`,
		`{"apiVersion":"v1","kind":"Service","metadata":{"name":"team"},"spec":{"clusterIP":"None","ports":[{"name":"workspace","port":2822,"targetPort":2822}],"selector":{"k8shell.io/subdomain":"team"}}}`,
	} {
		object := wanted[i].Object.DeepCopy()
		unstructured.RemoveNestedField(object.Object, "data")
		if text, err := json.Marshal(object.Object); err != nil || string(text) != want {
			t.Errorf("%v: %s", err, text)
		}
	}
}

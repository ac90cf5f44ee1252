package manifest

import (
	"cmp"
	"encoding/json"
	"fmt"
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
	const (
		dns     = "udp 53 tcp 53"
		added   = "10.1.0.0/16 app=db app=cache@infra"
		control = "app=api-server|ssh-proxy@k8shell"
		clients = "tcp 2822 from " + control
		others  = "tcp 1-2821 tcp 2823-65535 udp 1-65535 sctp 1-65535"
	)
	none, listens, open := agentPort{}, agentPort{listens: true}, agentPort{listens: true, namespace: "k8shell"}
	for _, test := range []struct {
		class   string
		agent   agentPort
		in, out string
	}{
		{"system", none, "all", "all"},
		{"system", listens, others, "all"},
		{"system", open, clients + "; " + others, "all"},
		{"workspace", none, "", dns + "; internet; " + added},
		{"workspace", listens, "", dns + "; internet; " + added},
		{"workspace", open, clients, dns + "; " + control + "; internet; " + added},
		{"isolated", none, "", dns + "; " + added},
		{"isolated", open, clients, dns + "; " + control + "; " + added},
		{"user", none, "from username=alice", dns + "; internet; username=alice; " + added},
		{
			"user", open, clients + "; " + others + " from username=alice",
			dns + "; " + control + "; internet; username=alice; " + added,
		},
		{"organization", none, "from organization=Inc-", dns + "; internet; organization=Inc-; " + added},
		{"organization", listens, others + " from organization=Inc-", dns + "; internet; organization=Inc-; " + added},
		{"isolated", agentPort{namespace: "k8shell"}, "", dns + "; " + added}, // nothing listens
	} {
		n := extra
		n.NetworkPolicyClass = test.class
		spec := policySpec(test.class, map[string]string{
			"k8shell.io/canonical-id": "alice-1", "k8shell.io/username": "alice", "k8shell.io/organization": "Inc-",
		}, n, test.agent)
		var in, out []string
		for _, r := range spec.Ingress {
			in = append(in, rule(r.Ports, r.From, " from "))
		}
		for _, r := range spec.Egress {
			out = append(out, rule(r.Ports, r.To, ""))
		}
		if in, out := strings.Join(in, "; "), strings.Join(out, "; "); in != test.in || out != test.out {
			t.Errorf("%s, %+v:\nin:  %s\nout: %s\nwant\nin:  %s\nout: %s", test.class, test.agent, in, out, test.in,
				test.out)
		}
		if spec.PodSelector.MatchLabels["k8shell.io/canonical-id"] != "alice-1" || len(spec.PolicyTypes) != 2 {
			t.Errorf("%s: %+v", test.class, spec)
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

// rule is a rule in words: what ports, and what peers.
func rule(ports []networkingv1.NetworkPolicyPort, peers []networkingv1.NetworkPolicyPeer, from string) string {
	var words []string
	for _, p := range ports {
		word := strings.ToLower(string(*p.Protocol)) + " " + p.Port.String()
		if p.EndPort != nil {
			word += fmt.Sprint("-", *p.EndPort)
		}
		words = append(words, word)
	}
	text := strings.Join(words, " ")
	if words = nil; len(peers) > 0 {
		for _, p := range peers {
			words = append(words, peer(p)...)
		}
		return strings.TrimPrefix(text+from+strings.Join(words, " "), " ")
	}
	return cmp.Or(text, "all")
}

func peer(p networkingv1.NetworkPolicyPeer) (words []string) {
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
		for _, e := range p.PodSelector.MatchExpressions {
			words = append(words, strings.TrimPrefix(e.Key, "k8shell.io/")+"="+strings.Join(e.Values, "|"))
		}
	}
	if p.NamespaceSelector != nil {
		words[len(words)-1] += "@" + p.NamespaceSelector.MatchLabels["kubernetes.io/metadata.name"]
	}
	return words
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
		`{"apiVersion":"v1","kind":"Secret","metadata":{"name":"k8shell-pull-secret"},` +
			`"type":"kubernetes.io/dockerconfigjson"}`,
		`{"apiVersion":"v1","kind":"Service","metadata":{"name":"team"},` +
			`"spec":{"clusterIP":"None","selector":{"k8shell.io/subdomain":"team"}}}`,
	} {
		object := wanted[i].Object.DeepCopy()
		unstructured.RemoveNestedField(object.Object, "data")
		if text, err := json.Marshal(object.Object); err != nil || string(text) != want {
			t.Errorf("%v: %s", err, text)
		}
	}
}

// Labels of pods in every namespace, as k8shell has them, select no namespace; without one it is the workspace's own.
func TestPodsOfEveryNamespace(t *testing.T) {
	labels := map[string]string{"app": "db"}
	for namespace, want := range map[string]string{
		"": "null", "*": "{}", "infra": `{"matchLabels":{"kubernetes.io/metadata.name":"infra"}}`,
	} {
		pods := []blueprint.EgressPods{{Namespace: namespace, Labels: labels}}
		peers := additional(blueprint.Network{AllowEgressToPods: pods})
		if text, err := json.Marshal(peers[0].NamespaceSelector); err != nil || string(text) != want {
			t.Errorf("%q: %s, %v", namespace, text, err)
		}
	}
}

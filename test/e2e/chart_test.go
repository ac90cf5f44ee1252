//go:build e2e

package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/rbac"
)

// The agent is installed by its own image, starts as the first process of an image that does not know it, runs the init
// scripts as its user, and is reached through the Service. The agent here is a stand-in that keeps the contract, and
// refuses to start without any part of it. It ends well, and then the workspace is stopped.
func TestAgentRuntime(t *testing.T) {
	w := newWorld(t)
	doc := decode[v1.Workspace](w, w.must(0, "provision", "alice~agent", "-o", "json"))
	pod := w.pod(doc.ID)
	if got := pod.Labels[kube.LabelAgentVersion]; got != "1" {
		t.Errorf("the agent's version is %q", got)
	}
	if len(pod.Spec.InitContainers) != 1 || pod.Spec.InitContainers[0].Name != "init-base" {
		t.Errorf("init containers: %+v", pod.Spec.InitContainers)
	}
	if out := w.must(0, "exec", "alice~agent", "--", "cat", "/proc/1/cmdline").
		stdout; !strings.Contains(out, "/usr/local/bin/k8shelld") {
		t.Errorf("the first process is %q", out)
	}
	inside := func(command string) string {
		return w.berth("exec", "alice~agent", "--", "sh", "-c", command).stdout
	}
	w.eventually("the agent answers by the workspace's name", func() bool {
		return strings.Contains(inside("wget -q -S -O - http://"+doc.ID+":2822/ 2>&1 | head -1; true"), "HTTP/1.1")
	})
	w.eventually("the init scripts have run", func() bool {
		return strings.Contains(inside("kbox init-status"), "__init_01_who done")
	})
	if got := inside("cat /home/alice/who"); got != "1000\n" {
		t.Errorf("the init script was run as %q", got)
	}
	inside("kill 1") // which may end with it
	w.eventually("the workspace is stopped", func() bool {
		status := w.berth("status", "alice~agent", "-o", "json")
		return status.status == 0 && strings.Contains(status.stdout, string(v1.StageStopped))
	})
	w.must(0, "provision", "alice~agent")
	w.must(0, "exec", "alice~agent", "--", "true")
	w.must(0, "delete", "alice~agent")
	w.eventually("nothing is left", func() bool { return len(w.leftovers()) == 0 })
}

// An agent comes up under each network class, and is entered. Whether its port is closed is for the cluster's network
// to say, and this one's enforces no policies: the policy that is there lets in k8shell's proxy and API server alone.
func TestAgentInEachClass(t *testing.T) {
	w := newWorld(t)
	users := w.write(t.TempDir(), "users.yaml",
		"users: [{username: alice, organization: acme, uid: 4001, blueprints: [agent]}]")
	config := fmt.Sprintf("controlNamespace: control\nidentity: {providers: [{kind: file, path: %s}]}\n", users)
	for _, class := range []string{"isolated", "user", "workspace", "organization", "system"} {
		w.configured(config, "provision", "alice~agent", "--set", "network.networkPolicyClass="+class).mustBe(w, 0)
		w.must(0, "exec", "alice~agent", "--", "true")
		policy, err := w.NetworkingV1().NetworkPolicies(w.namespace).
			Get(t.Context(), "np-"+w.idOf("alice~agent")+"-"+class, metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		var clients []networkingv1.NetworkPolicyPeer
		for _, rule := range policy.Spec.Ingress {
			if opens(rule, 2822) {
				clients = append(clients, rule.From...)
			}
		}
		if len(clients) != 1 || clients[0].NamespaceSelector.MatchLabels["kubernetes.io/metadata.name"] != "control" ||
			clients[0].PodSelector.MatchExpressions[0].Key != "k8shell.io/app" {
			t.Errorf("%s lets in %+v", class, policy.Spec.Ingress)
		}
		w.must(0, "delete", "alice~agent")
	}
}

// opens says whether a rule opens a port of TCP.
func opens(rule networkingv1.NetworkPolicyIngressRule, port int32) bool {
	return len(rule.Ports) == 0 || slices.ContainsFunc(rule.Ports, func(p networkingv1.NetworkPolicyPort) bool {
		if p.Protocol != nil && *p.Protocol != corev1.ProtocolTCP {
			return false
		}
		return p.Port == nil || p.Port.IntVal == port || p.EndPort != nil && p.Port.IntVal < port && port <= *p.EndPort
	})
}

// Two workspaces share a claim, which a user who is not root can write to, and
// have DNS names. What is the namespace's outlives both.
func TestWhatWorkspacesShare(t *testing.T) {
	w := newWorld(t)
	first := decode[v1.Workspace](w, w.must(0, "provision", "alice~sharing", "-o", "json"))
	w.must(0, "provision", "bob~sharing")
	w.must(0, "exec", "alice~sharing", "--", "sh", "-c", "echo hello > /cache/x")
	if out := w.must(0, "exec", "bob~sharing", "--", "cat", "/cache/x").stdout; out != "hello\n" {
		t.Errorf("bob reads %q", out)
	}
	name := first.ID + ".team." + w.namespace + ".svc"
	w.eventually(name+" is known", func() bool {
		r := w.berth("exec", "bob~sharing", "--", "nslookup", name+".cluster.local")
		return strings.Contains(r.stdout, w.pod(first.ID).Status.PodIP)
	})
	if got := w.must(0, "exec", "alice~sharing", "--", "cat", "/k8shell/runtime/motd").
		stdout; got != "Welcome to the team\n" {
		t.Errorf("the splash is %q", got)
	}
	policy, err := w.NetworkingV1().NetworkPolicies(w.namespace).
		Get(t.Context(), "np-"+first.ID+"-user", metav1.GetOptions{})
	if err != nil || len(policy.Spec.Ingress) != 1 || len(policy.Spec.Egress) != 4 {
		t.Errorf("%v: %+v", err, policy)
	}
	w.must(0, "delete", "alice~sharing")
	if out := w.must(0, "exec", "bob~sharing", "--", "cat", "/cache/x").stdout; out != "hello\n" {
		t.Errorf("bob reads %q after alice has gone", out)
	}
	w.must(0, "delete", "bob~sharing")
	w.eventually("only what is shared is left", func() bool {
		return strings.Join(w.leftovers(), " ") == "service/team persistentvolumeclaim/pvc-cache-x"
	})
	policies, err := w.NetworkingV1().NetworkPolicies(w.namespace).List(t.Context(), metav1.ListOptions{})
	if err != nil || len(policies.Items) != 0 {
		t.Errorf("%v, policies %v", err, policies.Items)
	}
}

// A claim cannot become what a changed blueprint asks for: that is reported.
func TestChangedClaim(t *testing.T) {
	w := newWorld(t)
	dir := t.TempDir()
	size := func(size string) string {
		w.write(dir, "home.yaml", `blueprints: [{name: homely, template: base,
  image: "registry.example.com/berth/workspace:v1", resources: {cpu: 10m, memory: 32Mi},
  storages: {home: {type: local, path: /home/dev,
    claimSpec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: `+size+`}}}}}}]`)
		return dir
	}
	id := decode[v1.Workspace](w, w.must(0, "provision", "alice~homely", "--blueprints", size("64Mi"), "-o", "json")).ID
	if err := w.CoreV1().Pods(w.namespace).Delete(t.Context(), id, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	again := w.must(0, "provision", "alice~homely", "--blueprints", size("128Mi"))
	w.contains(again.stderr, "storage home stays as it is",
		"claimSpec.resources.requests.storage is 64Mi, the blueprint says 128Mi")
}

// Certificates need cert-manager: without it nothing is begun, and with its API
// the objects are taken. No certificate is issued here.
func TestCertificate(t *testing.T) {
	w := newWorld(t)
	config := w.write(t.TempDir(), "config.yaml", "certificate: {enabled: true, issuer: {name: internal}}")
	refused := w.finish(w.withVariable("BERTH_CONFIG="+config, "provision", "alice~plain", "--timeout", "30s"))
	refused.mustBe(w, 2)
	w.contains(refused.stderr, "no cert-manager.io/v1", "install cert-manager")
	if left := w.leftovers(); len(left) != 0 {
		t.Errorf("something was made: %s", left)
	}
	client, err := dynamic.NewForConfig(w.config)
	if err != nil {
		t.Fatal(err)
	}
	definitions := client.Resource(schema.GroupVersionResource{
		Group: "apiextensions.k8s.io", Version: "v1",
		Resource: "customresourcedefinitions",
	})
	var definition unstructured.Unstructured
	if err := json.Unmarshal([]byte(certificates), &definition.Object); err != nil {
		t.Fatal(err)
	}
	if _, err := definitions.Create(t.Context(), &definition, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = definitions.Delete(context.Background(), definition.GetName(), metav1.DeleteOptions{})
	})
	var r result
	w.eventually("the API takes certificates", func() bool {
		r = w.finish(w.withVariable("BERTH_CONFIG="+config, "provision", "alice~sharing", "--dry-run=server"))
		return r.status == 0
	})
	w.certificateRules("certificate: {enabled: true, issuer: {name: internal}}")
	w.contains(r.stdout, "# create certificate/"+w.idOf("alice~sharing"), "ClusterIssuer", w.idOf("alice~sharing")+
		".team."+w.namespace+".svc")
}

// certificateRules shows that the Roles are enough where workspaces have
// certificates, and that each permission on them is used and missed by name.
func (w *world) certificateRules(config string) {
	w.Helper()
	provision := duty{command: rbac.Named(rbac.Provision)}
	u := use{args: []string{"provision", "alice~sharing", "--no-wait"}, config: config}
	rules := provision.command.PolicyRules()
	all := provision.command.All()
	of := func(a rbac.Access) bool { return a.Resource == "certificates" }
	for _, a := range all {
		if of(a) {
			w.lacks(provision, u, a, w.words())
		}
	}
	limited := w.as(grant{w.namespace, rules})
	asked := limited.asks(provision, u, w.words())
	now := int64(0)
	if err := w.CoreV1().Pods(w.namespace).
		Delete(w.Context(), w.idOf("alice~sharing"), metav1.DeleteOptions{GracePeriodSeconds: &now}); err != nil {
		w.Fatal(err)
	}
	asked.add(limited.asks(provision, u, w.words()).list()...) // what is there is taken over
	failing := use{
		args: []string{"provision", "bob~sharing", "--timeout", "15s", "--on-failure", "delete"}, status: 5,
		config: config,
	}
	asked.add(limited.asks(provision, failing, w.words()).list()...)
	for _, a := range all {
		if of(a) && !asked.has(a.String()) {
			w.Errorf("nothing asks for %q", a)
		}
	}
	deletion := duty{command: rbac.Named(rbac.Delete)}
	removal := use{args: []string{"delete", "alice~sharing"}}
	for _, verb := range []string{"get", "delete"} {
		w.lacks(deletion, removal, rbac.Access{Verb: verb, Group: "cert-manager.io", Resource: "certificates"},
			w.words())
	}
	w.lacks(deletion, removal, rbac.Access{Verb: "get", Resource: "secrets"}, w.words())
	w.as(w.role(deletion.command)).asks(deletion, removal, w.words())
}

// certificates is as much of cert-manager's definition as the API server needs.
const certificates = `{
  "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
  "metadata": {"name": "certificates.cert-manager.io"},
  "spec": {"group": "cert-manager.io", "scope": "Namespaced",
    "names": {"kind": "Certificate", "plural": "certificates"},
    "versions": [{"name": "v1", "served": true, "storage": true,
      "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}}}]}}`

package standalone

import (
	"context"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/berthdev/berth/internal/apply"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/provision/deploy"
	"github.com/berthdev/berth/internal/provision/manifest"
)

// What k8shell's chart makes, and berth neither makes nor changes.

// split divides objects.
func split(objects []*unstructured.Unstructured, by func(*unstructured.Unstructured) bool) (are,
	others []*unstructured.Unstructured,
) {
	for _, object := range objects {
		if by(object) {
			are = append(are, object)
		} else {
			others = append(others, object)
		}
	}
	return are, others
}

// isIssued is true for the Secret with the workspace's token: k8shell alone can issue another.
func (t Target) isIssued(object *unstructured.Unstructured) bool { return manifest.IsPAT(t.ID, object) }

// issue creates what k8shell has issued from its record. What exists may be newer, and is left as it is.
func (t Target) issue(ctx context.Context, applier apply.Applier, d deploy.Deployment) (apply.Changes, error) {
	issued, _ := split(d.Objects, t.isIssued)
	if len(issued) == 0 {
		return nil, nil
	}
	applier.Shared = true
	return applier.Apply(ctx, apply.Objects(issued))
}

// isKnown is true for an object of a kind that berth knows, and has the permissions for.
func isKnown(object *unstructured.Unstructured) bool {
	_, known := kube.ResourceOf(object.GroupVersionKind())
	return known
}

// warnOfUnknown says which objects of a record are left as they are, for berth does not know their kind.
func (t Target) warnOfUnknown(d deploy.Deployment) {
	_, unknown := split(d.Chart.Objects, isKnown)
	for _, object := range unknown {
		kind, name := object.GetKind(), object.GetName()
		t.Steps.Warn("KindUnknown", kube.Object(kind, name), kind+" "+name+
			" is in the workspace's record, and is neither created nor changed: berth does not know its kind")
	}
}

// cilium is the group of the policy that k8shell's chart has for the class system.
const cilium = "cilium.io"

// opensPort is true for a policy that lets others in, and that the cluster adds to whatever berth's policies allow.
func (t Target) opensPort(object *unstructured.Unstructured) bool {
	namespace := object.GetNamespace()
	return object.GetKind() == "CiliumNetworkPolicy" && object.GroupVersionKind().Group == cilium &&
		strings.Contains(object.GetName(), t.ID) && (namespace == "" || namespace == t.Client.Namespace)
}

// warnOfOpen says which policies of a former record stay, and how they are removed.
func (t Target) warnOfOpen(policies []*unstructured.Unstructured) {
	for _, policy := range policies {
		name := fmt.Sprintf("%.*s", maxName, policy.GetName())
		t.Steps.Warn("PortOpen", kube.Object(policy.GetKind(), name), "CiliumNetworkPolicy "+name+" of the former "+
			"workspace stays, for berth does not know its kind: while it is there, what it lets in reaches the "+
			"workspace, an agent on port 2822 included, whatever its network policy says; remove it with `"+
			fault.Command("kubectl", "delete", "ciliumnetworkpolicies."+cilium, policy.GetName(), "--namespace",
				t.Client.Namespace)+"`")
	}
}

// namedIn is how a record names objects that it does not make, so that they are deleted with the workspace. It has
// nothing of what is in them.
func namedIn(objects []*unstructured.Unstructured) (text string, err error) {
	var names []*unstructured.Unstructured
	for _, object := range objects {
		name := kube.Named(object.GetKind(), object.GetName())
		name.SetAPIVersion(object.GetAPIVersion())
		name.SetNamespace(object.GetNamespace())
		name.SetLabels(object.GetLabels())
		names = append(names, name)
	}
	return inManifest(names...)
}

// inManifest are objects as a record has them.
func inManifest(objects ...*unstructured.Unstructured) (string, error) {
	var all strings.Builder
	for _, object := range objects {
		text, err := yaml.Marshal(object.Object)
		if err != nil {
			return "", err
		}
		all.WriteString("---\n" + string(text))
	}
	return all.String(), nil
}

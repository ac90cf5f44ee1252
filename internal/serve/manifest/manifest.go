// Package manifest makes the Kubernetes objects that run a role of `berth serve`. It is pure: what is random or depends
// on the time is an argument.
package manifest

import (
	"bytes"
	"fmt"
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/yaml"

	"github.com/berthdev/berth/internal/rbac"
)

// Role is what berth can be in a cluster.
type Role struct {
	// Name is that of the command, and the end of the names of the objects.
	Name string
	// Everywhere and InSystem are what it may do in the cluster and in its namespace.
	Everywhere, InSystem rbac.Command
	// Installer is what it takes to act as the ServiceAccount that has the install role; the zero value of a role that
	// installs nothing.
	Installer rbac.Command
	// Users are ClusterRoles for those who ask it.
	Users []UserRole
	// Ports are more ports on which it is reached, beside that of HTTPS.
	Ports []Port
	// NoService is true if nobody asks it anything: it has health and metrics alone.
	NoService bool
	// NeedsBaseURL is true if it is told its base URL and its namespace.
	NeedsBaseURL bool
	// Definitions are the CustomResourceDefinitions that it works on, as documents.
	Definitions [][]byte
	// Policies limit who may write what it acts upon, and Guard is what it may do to see that they are there, whatever
	// the namespace in which it may do the rest.
	Policies []Policy
	Guard    rbac.Command
	// Node is what it needs of a node, if a pod of it runs on each; the zero value otherwise.
	Node Node
	// Cache is how much it keeps on disk, as a quantity; empty for nothing.
	Cache string
}

// UserRole is a ClusterRole that an administrator binds.
type UserRole struct {
	Name  string
	Rules []rbacv1.PolicyRule
}

// Port is a port of a Service.
type Port struct {
	Name   string
	Number int32
}

// Options are what an administrator chooses.
type Options struct {
	Namespace string
	Image     string
	Replicas  int32
	// Issuer is cert-manager's, as NAME or KIND/NAME; empty for Pair.
	Issuer string
	Pair   Pair
	// Arguments are more of the command's.
	Arguments []string
	// Authorities are certificates in PEM that the role checks others with; it finds them in the file PathAuthorities.
	// Empty for none.
	Authorities []byte
	// Kubeconfig is how the role reaches another API server; it finds it in the file PathKubeconfig. Empty for none.
	Kubeconfig []byte
	// Only is the one namespace in which the role may do what it does everywhere; empty for all.
	Only string
	// Configuration is the configuration of the role; empty for none.
	Configuration []byte
	// Hosts are more names, or IP addresses, by which the role is reached.
	Hosts []string
	// InstallRole is the ClusterRole of the installer; empty for none.
	InstallRole string
	// Accounts are more ServiceAccounts that the role may act as.
	Accounts []types.NamespacedName
}

// The ports of a pod.
const (
	servingPort = 8443
	aboutPort   = 8081
)

func (r Role) objectName() string { return "berth-" + r.Name }

// Hosts are the names by which a role is reached in the cluster.
func (r Role) Hosts(namespace string) []string {
	service := r.objectName() + "." + namespace
	return []string{service + ".svc", service + ".svc.cluster.local", service, r.objectName()}
}

// BaseURL is where a role is reached in the cluster.
func (r Role) BaseURL(namespace string) string { return "https://" + r.Hosts(namespace)[0] }

// labels are those of all objects of a role.
func (r Role) labels() map[string]string {
	return map[string]string{
		"app.kubernetes.io/name": "berth", "app.kubernetes.io/component": r.Name,
		"app.kubernetes.io/managed-by": "berth",
	}
}

// selector are the labels by which its pods are found.
func (r Role) selector() map[string]string {
	return map[string]string{"app.kubernetes.io/name": "berth", "app.kubernetes.io/component": r.Name}
}

// YAML are the objects as documents, in an order in which they can be created.
func YAML(r Role, o Options) ([]byte, error) {
	guards, err := marshalAll(r.policies())
	if err != nil {
		return nil, err
	}
	objects, err := marshalAll(r.objects(o))
	if err != nil {
		return nil, err
	}
	documents := slices.Concat(guards, r.Definitions, objects)
	var out bytes.Buffer
	for i, document := range documents {
		if i > 0 {
			out.WriteString("---\n")
		}
		out.Write(bytes.TrimPrefix(document, []byte("---\n")))
	}
	return out.Bytes(), nil
}

func (r Role) objects(o Options) []runtime.Object {
	if r.Node != (Node{}) {
		return r.onNodes(o)
	}
	objects := append([]runtime.Object{namespace(o)}, r.access(o)...)
	objects = append(objects, r.trust(o)...)
	if !r.NoService {
		objects = append(objects, r.service(o))
	}
	return append(objects, r.disruptions(o), r.network(o), r.deployment(o))
}

func marshalAll(objects []runtime.Object) (documents [][]byte, err error) {
	for _, object := range objects {
		document, err := marshal(object)
		if err != nil {
			return nil, err
		}
		documents = append(documents, document)
	}
	return documents, nil
}

// marshal leaves out what an API server fills in.
func marshal(object runtime.Object) ([]byte, error) {
	untyped, is := object.(*unstructured.Unstructured)
	if !is {
		kinds, _, err := scheme.Scheme.ObjectKinds(object)
		if err != nil {
			return nil, fmt.Errorf("the kind of an object: %w", err)
		}
		content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", kinds[0].Kind, err)
		}
		untyped = &unstructured.Unstructured{Object: content}
		untyped.SetGroupVersionKind(kinds[0])
	}
	unstructured.RemoveNestedField(untyped.Object, "status")
	if spec, ok := untyped.Object["spec"].(map[string]any); ok && len(spec) == 0 {
		delete(untyped.Object, "spec")
	}
	for _, at := range [][]string{{"metadata"}, {"spec", "template", "metadata"}} {
		unstructured.RemoveNestedField(untyped.Object, append(at, "creationTimestamp")...)
	}
	return yaml.Marshal(untyped.Object)
}

// Package machine finds the consoles of machines and connects a session with them. Its decisions are functions of
// values, for anyone who makes them: berth with --direct, or an API server of machines.
package machine

import (
	"context"
	"net/url"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/client-go/dynamic"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/rbac"
)

// Group is the API group of machines and their pools.
const Group = "compute.ironcore.dev"

// Version is the version of the group that berth speaks.
const Version = "v1alpha1"

// Path is where an API server connects to the console of a machine: the subresource exec.
func Path(namespace, name string) string {
	return "/apis/" + Group + "/" + Version + namespaced(namespace, name)
}

// PoolletPath is where the poollet of the machine's pool does. It has no version.
func PoolletPath(namespace, name string) string {
	return "/apis/" + Group + namespaced(namespace, name)
}

func namespaced(namespace, name string) string {
	return "/namespaces/" + url.PathEscape(namespace) + "/machines/" + url.PathEscape(name) + "/exec"
}

// Prefix is what the name of a machine follows on a command line. No user string and no canonical ID has a slash there.
const Prefix = "machine/"

// Argument reads what may name a machine: machine/NAME. It is false for anything else.
func Argument(text string) (name string, is bool, err error) {
	name, is = strings.CutPrefix(text, Prefix)
	switch {
	case !is:
		return "", false, nil
	case name == "":
		return "", true, fault.New(fault.InvalidArgument, "machine name is empty").WithHint("name it as in machine/web")
	case len(validation.IsDNS1123Subdomain(name)) > 0:
		return "", true, fault.New(fault.InvalidArgument, "invalid machine name %q", name).
			WithHint("a name has lower case letters, digits, - and . alone; see `kubectl get machines`")
	}
	return name, true, nil
}

// Machine is what berth reads of a machine.
type Machine struct {
	Namespace, Name, UID string
	Pool                 string // empty while the machine has none
	// ID is what the runtime calls it, as RUNTIME://ID; empty until it is known there.
	ID string
	// OfUID is the UID of the machine that a broker has made this one for; empty for one that a user has made.
	OfUID string
}

// labelOfUID is the label of a machine that was made for another one, with its UID.
const labelOfUID = "machinepoollet.ironcore.dev/machine-uid"

// AtRuntime is what the runtime itself calls the machine; empty if it does not run yet.
func (m Machine) AtRuntime() string {
	_, id, _ := strings.Cut(m.ID, "://")
	return id
}

// AtBroker is the name of the machine that a broker has made for this one; empty if there is none.
func (m Machine) AtBroker() string {
	name := m.AtRuntime()
	if len(validation.IsDNS1123Subdomain(name)) > 0 {
		return ""
	}
	return name
}

// Pool is what berth reads of a machine pool.
type Pool struct {
	Name      string
	Addresses []Address
	Port      int32 // of its poollet; 0 for the default
}

// Address is an address of a pool's poollet.
type Address struct {
	Type    AddressType `json:"type"`
	Address string      `json:"address"`
}

// ReadMachine reads a machine of the API.
func ReadMachine(object *unstructured.Unstructured) (Machine, error) {
	var m struct {
		Spec struct {
			MachinePoolRef struct {
				Name string `json:"name"`
			} `json:"machinePoolRef"`
		} `json:"spec"`
		Status struct {
			MachineID string `json:"machineID"`
		} `json:"status"`
	}
	err := read(object, &m)
	return Machine{
		Namespace: object.GetNamespace(), Name: object.GetName(), UID: string(object.GetUID()),
		Pool: m.Spec.MachinePoolRef.Name, ID: m.Status.MachineID, OfUID: object.GetLabels()[labelOfUID],
	}, err
}

// ReadPool reads a machine pool of the API.
func ReadPool(object *unstructured.Unstructured) (Pool, error) {
	var p struct {
		Status struct {
			Addresses       []Address `json:"addresses"`
			DaemonEndpoints struct {
				MachinepoolletEndpoint struct {
					Port int32 `json:"port"`
				} `json:"machinepoolletEndpoint"`
			} `json:"daemonEndpoints"`
		} `json:"status"`
	}
	err := read(object, &p)
	return Pool{
		Name: object.GetName(), Addresses: p.Status.Addresses,
		Port: p.Status.DaemonEndpoints.MachinepoolletEndpoint.Port,
	}, err
}

func read(object *unstructured.Unstructured, into any) error {
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, into); err != nil {
		return fault.New(fault.Internal, "%s %s is not what berth expects of one: %w", object.GetKind(),
			object.GetName(), err).
			WithHint("berth speaks %s/%s", Group, Version)
	}
	return nil
}

// cluster is the API of machines of a cluster.
type cluster struct{ dynamic.Interface }

// InCluster reads machines and pools with the caller's permissions.
func InCluster(client *kube.Client) Reader { return cluster{client.Dynamic} }

// Names are the machines of a namespace.
func Names(ctx context.Context, client *kube.Client) ([]string, error) {
	list, err := client.Dynamic.Resource(resource("machines")).Namespace(client.Namespace).
		List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, problem(err, kube.Call{Verb: "list", Resource: named("machines"), Namespace: client.Namespace})
	}
	names := make([]string, len(list.Items))
	for i := range list.Items {
		names[i] = list.Items[i].GetName()
	}
	return names, nil
}

// Machine reads a machine.
func (c cluster) Machine(ctx context.Context, namespace, name string) (Machine, error) {
	object, err := c.Resource(resource("machines")).Namespace(namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return Machine{}, problem(err,
			kube.Call{Verb: "get", Resource: named("machines"), Namespace: namespace, Name: name})
	}
	return ReadMachine(object)
}

// Pool reads a machine pool.
func (c cluster) Pool(ctx context.Context, name string) (Pool, error) {
	object, err := c.Resource(resource("machinepools")).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return Pool{}, problem(err, kube.Call{Verb: "get", Resource: named("machinepools"), Name: name})
	}
	return ReadPool(object)
}

func resource(plural string) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: Group, Version: Version, Resource: plural}
}

// named is a resource, which may have a subresource, as kubectl names it.
func named(name string) string { return rbac.Access{Group: Group, Resource: name}.Object() }

// problem is why an object could not be read.
func problem(err error, call kube.Call) error {
	if apierrors.HasStatusCause(err, metav1.CauseTypeUnexpectedServerResponse) && apierrors.IsNotFound(err) {
		return notServed(err)
	}
	failed := kube.Fault(err, call)
	if fault.CodeOf(failed) != fault.NotFound {
		return failed
	}
	if call.Namespace == "" {
		return fault.New(fault.NotFound, "machine pool %s does not exist: %w", call.Name, err).
			WithHint("the machine refers to it; ask who runs the machines")
	}
	return notFound(err, call.Namespace, call.Name)
}

func notFound(err error, namespace, name string) error {
	return fault.New(fault.NotFound, "machine %s not found in namespace %s: %w", name, namespace, err).
		WithHint("see `kubectl get machines --namespace %s`, or choose another namespace with --namespace", namespace)
}

// ReasonNotServed is the reason of the error about an API server that has no machines.
const ReasonNotServed = "MACHINES_NOT_SERVED"

func notServed(err error) error {
	return fault.New(fault.NotFound, "this cluster has no machines: its API server does not serve %s/%s: %w", Group,
		Version, err).WithReason(ReasonNotServed).
		WithHint("choose another context with --context")
}

package machine

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/berthdev/berth/internal/fault"
)

// Machine is what berth reads of a machine.
type Machine struct {
	Namespace, Name string
	Pool            string // empty while the machine has none
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
	}
	err := read(object, &m)
	return Machine{Namespace: object.GetNamespace(), Name: object.GetName(), Pool: m.Spec.MachinePoolRef.Name}, err
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
		return fault.New(fault.Internal, "%s %s is not what berth expects of one: %w", object.GetKind(), object.GetName(),
			err).
			WithHint("berth speaks %s/%s", Group, Version)
	}
	return nil
}

// Package pool reports a machine pool for a gateway that is its only poollet: the status and the heartbeat that the
// scheduler of machines goes by.
package pool

import (
	"maps"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/berthdev/berth/internal/exec/machine"
)

// Class is a class of machines that the pool runs, and how many of it.
type Class struct {
	Name                  string
	Capacity, Allocatable int64
}

// Report is what is reported of a pool.
type Report struct {
	Pool      string
	Addresses []machine.Address
	Port      int32
	Classes   []Class
}

// The condition of a pool whose poollet is heard of.
const (
	conditionReady = "Ready"
	reasonReady    = "HeartbeatReceived"
	messageReady   = "the gateway of berth serves the pool"
)

// status is what the status of a pool has to be, made of what it is, and whether that differs. What is not reported
// stays as it is: other fields, and other conditions.
func (r Report) status(current map[string]any, now time.Time) (wanted map[string]any, differs bool) {
	wanted = map[string]any{}
	maps.Copy(wanted, current)
	addresses, classes := []any{}, []any{}
	for _, a := range r.Addresses {
		addresses = append(addresses, map[string]any{"type": string(a.Type), "address": a.Address})
	}
	capacity, allocatable := map[string]any{}, map[string]any{}
	for _, c := range r.Classes {
		classes = append(classes, map[string]any{"name": c.Name})
		name := "class/machine." + c.Name
		capacity[name], allocatable[name] = quantity(c.Capacity), quantity(c.Allocatable)
	}
	wanted["state"] = conditionReady
	wanted["addresses"], wanted["availableMachineClasses"] = addresses, classes
	wanted["capacity"], wanted["allocatable"] = capacity, allocatable
	wanted["daemonEndpoints"] = endpoints(current["daemonEndpoints"], r.Port)
	wanted["conditions"] = conditions(current["conditions"], now)
	return wanted, !equality.Semantic.DeepEqual(current, wanted)
}

// quantity is a number as an API server gives it back: 1k for 1000. What it writes otherwise would always differ.
func quantity(n int64) string { return resource.NewQuantity(n, resource.DecimalSI).String() }

// endpoints are those of the pool, with the port of its poollet.
func endpoints(current any, port int32) map[string]any {
	wanted := map[string]any{}
	if all, is := current.(map[string]any); is {
		maps.Copy(wanted, all)
	}
	wanted["machinepoolletEndpoint"] = map[string]any{"port": int64(port)}
	return wanted
}

// conditions are those of the pool, of which Ready is true. Since when it is stays as it is.
func conditions(current any, now time.Time) []any {
	ready := map[string]any{
		"type": conditionReady, "status": "True", "reason": reasonReady, "message": messageReady,
		"lastTransitionTime": now.UTC().Format(time.RFC3339),
	}
	wanted, all := []any{}, []any(nil)
	if list, is := current.([]any); is {
		all = list
	}
	found := false
	for _, c := range all {
		condition, is := c.(map[string]any)
		if !is || condition["type"] != conditionReady {
			wanted = append(wanted, c)
			continue
		}
		if found {
			continue // one is enough
		}
		found = true
		for name, value := range condition {
			_, own := ready[name]
			if !own || name == "lastTransitionTime" && condition["status"] == "True" && value != nil {
				ready[name] = value
			}
		}
		wanted = append(wanted, ready)
	}
	if !found {
		wanted = append(wanted, ready)
	}
	return wanted
}

// statusOf is the status of an object.
func statusOf(o *unstructured.Unstructured) map[string]any {
	status, _ := o.Object["status"].(map[string]any)
	return status
}

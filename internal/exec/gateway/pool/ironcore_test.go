package pool

import (
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// ironcore stands in for what goes by a pool's status and lease. It is written from its documentation, and uses nothing
// of what reports them.
type ironcore struct{ *world }

// monitors turns Ready of the pool Unknown if its lease was not renewed for 50 seconds.
func (i ironcore) monitors() {
	i.Helper()
	pool, lease := i.api.Get(poolPath), i.api.Get(leasePath)
	renewed := time.Time{}
	if lease != nil {
		text, _, _ := unstructured.NestedString(lease.Object, "spec", "renewTime")
		var err error
		if renewed, err = time.Parse(time.RFC3339Nano, text); err != nil {
			i.Fatal(err)
		}
	}
	if i.now().Sub(renewed) <= 50*time.Second {
		return
	}
	conditions, _, _ := unstructured.NestedSlice(pool.Object, "status", "conditions")
	for _, c := range conditions {
		if c := c.(map[string]any); c["type"] == "Ready" {
			c["status"], c["reason"] = "Unknown", "MachinePoolStatusUnknown"
			c["lastTransitionTime"] = i.now().UTC().Format(time.RFC3339)
		}
	}
	if conditions != nil {
		if err := unstructured.SetNestedSlice(pool.Object, conditions, "status", "conditions"); err != nil {
			i.Fatal(err)
		}
		i.api.Put(poolPath, pool)
	}
}

// takes says whether the scheduler places a machine of a class in the pool.
func (i ironcore) takes(class string) bool {
	i.Helper()
	status, _, _ := unstructured.NestedMap(i.api.Get(poolPath).Object, "status")
	ready, offered := false, false
	conditions, _ := status["conditions"].([]any)
	for _, c := range conditions {
		c := c.(map[string]any)
		ready = ready || c["type"] == "Ready" && c["status"] == "True"
	}
	classes, _ := status["availableMachineClasses"].([]any)
	for _, c := range classes {
		offered = offered || c.(map[string]any)["name"] == class
	}
	left, _, _ := unstructured.NestedString(status, "allocatable", "class/machine."+class)
	return ready && offered && left != "" && left != "0"
}

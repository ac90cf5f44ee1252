package main

import (
	"context"
	"fmt"
	"os"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// leases is the namespace in which poollets renew the leases of their pools.
const leases = "ironcore-machinepool-lease"

// keep does what ironcore's controllers do to pools and machines: a pool of which nothing was heard is no longer Ready,
// and machines without a pool get one.
func (c cluster) keep(ctx context.Context) {
	grace, err := time.ParseDuration(os.Getenv("GRACE"))
	if err != nil {
		grace = 50 * time.Second
	}
	for range time.Tick(time.Second) {
		if err := c.pass(ctx, grace); err != nil {
			fmt.Println(err)
		}
	}
}

func (c cluster) pass(ctx context.Context, grace time.Duration) error {
	pools, err := c.objects(ctx, kindPool, "")
	if err != nil {
		return err
	}
	machines, err := c.objects(ctx, kindMachine, "")
	if err != nil {
		return err
	}
	for _, object := range pools {
		pool := &unstructured.Unstructured{Object: object}
		if err := c.monitor(ctx, pool, grace); err != nil {
			return err
		}
		for _, object := range machines {
			if err := c.schedule(ctx, &unstructured.Unstructured{Object: object}, pool); err != nil {
				return err
			}
		}
	}
	return nil
}

// readyOf is the condition of a pool, if it has one.
func readyOf(pool *unstructured.Unstructured) (ready map[string]any) {
	conditions, _, _ := unstructured.NestedFieldNoCopy(pool.Object, "status", "conditions")
	list, _ := conditions.([]any)
	for _, c := range list {
		if condition, is := c.(map[string]any); is && condition["type"] == "Ready" {
			return condition
		}
	}
	return nil
}

// monitor turns Ready Unknown where the lease was not renewed for long.
func (c cluster) monitor(ctx context.Context, pool *unstructured.Unstructured, grace time.Duration) error {
	ready := readyOf(pool)
	if ready == nil || ready["status"] == "Unknown" {
		return nil
	}
	lease, err := c.CoordinationV1().Leases(leases).Get(ctx, pool.GetName(), metav1.GetOptions{})
	if err != nil {
		return err
	}
	if renewed := lease.Spec.RenewTime; renewed != nil && time.Since(renewed.Time) <= grace {
		return nil
	}
	_, err = c.change(ctx, kindPool, pool.GetName(), pool.GetResourceVersion(), func(o *unstructured.Unstructured) {
		ready := readyOf(o)
		ready["status"], ready["reason"] = "Unknown", "MachinePoolStatusUnknown"
		ready["lastTransitionTime"] = time.Now().UTC().Format(time.RFC3339)
	})
	return err
}

// schedule gives a machine of a class a pool that is Ready and has room for it.
func (c cluster) schedule(ctx context.Context, machine, pool *unstructured.Unstructured) error {
	class, has, _ := unstructured.NestedString(machine.Object, "spec", "machineClassRef", "name")
	if _, placed, _ := unstructured.NestedMap(machine.Object, "spec", "machinePoolRef"); placed || !has {
		return nil
	}
	if ready := readyOf(pool); ready == nil || ready["status"] != "True" {
		return nil
	}
	offered := false
	classes, _, _ := unstructured.NestedSlice(pool.Object, "status", "availableMachineClasses")
	for _, c := range classes {
		offer, is := c.(map[string]any)
		offered = offered || is && offer["name"] == class
	}
	room, _, _ := unstructured.NestedString(pool.Object, "status", "allocatable", "class/machine."+class)
	if !offered || room == "" || room == "0" {
		return nil
	}
	_, err := c.change(ctx, kindMachine, machine.GetName(), "", func(o *unstructured.Unstructured) {
		_ = unstructured.SetNestedField(o.Object, pool.GetName(), "spec", "machinePoolRef", "name")
	})
	return err
}

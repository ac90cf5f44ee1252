package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

const period = 300 * time.Millisecond

// issuers are those of the cluster.
func issuers(config *rest.Config, group string) (dynamic.NamespaceableResourceInterface, error) {
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	return client.Resource(schema.GroupVersionResource{Group: group, Version: "v1", Resource: "issuers"}), nil
}

// control notes in a Lease that it is there, and says of each issuer that it is ready.
func control(ctx context.Context, group, namespace string) error {
	config, err := rest.InClusterConfig()
	if err != nil {
		return err
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	all, err := issuers(config, group)
	if err != nil {
		return err
	}
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: "issuers-controller"}}
	_, err = client.CoordinationV1().Leases(namespace).Create(ctx, lease, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return err
	}
	err = wait.PollUntilContextCancel(ctx, period, true, func(ctx context.Context) (bool, error) {
		list, err := all.List(ctx, metav1.ListOptions{})
		if err != nil {
			fmt.Println(err)
			return false, nil
		}
		for i := range list.Items {
			if err := ready(ctx, all, &list.Items[i]); err != nil {
				fmt.Println(err)
			}
		}
		return false, nil
	})
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// ready says that an issuer is ready, unless that is known.
func ready(ctx context.Context, all dynamic.NamespaceableResourceInterface, i *unstructured.Unstructured) error {
	seen, _, _ := unstructured.NestedInt64(i.Object, "status", "observedGeneration")
	if seen == i.GetGeneration() {
		return nil
	}
	i.Object["status"] = map[string]any{
		"observedGeneration": i.GetGeneration(),
		"conditions": []any{map[string]any{
			"type": "Ready", "status": "True", "reason": "Ready", "message": "it can be used",
			"lastTransitionTime": time.Now().UTC().Format(time.RFC3339),
		}},
	}
	_, err := all.Namespace(i.GetNamespace()).UpdateStatus(ctx, i, metav1.UpdateOptions{})
	return err
}

// check waits until an issuer could be made.
func check(ctx context.Context, group, namespace string) error {
	config, err := rest.InClusterConfig()
	if err != nil {
		return err
	}
	all, err := issuers(config, group)
	if err != nil {
		return err
	}
	return wait.PollUntilContextTimeout(ctx, period, time.Minute, true, func(ctx context.Context) (bool, error) {
		i := &unstructured.Unstructured{Object: map[string]any{
			"spec": map[string]any{"server": "https://check.example.com"},
		}}
		i.SetGroupVersionKind(schema.GroupVersionKind{Group: group, Version: "v1", Kind: "Issuer"})
		i.SetName("check")
		_, err := all.Namespace(namespace).Create(ctx, i, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		if err != nil {
			fmt.Println(err)
		}
		return err == nil, nil
	})
}

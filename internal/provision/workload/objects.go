package workload

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/berthdev/berth/internal/kube"
)

// Objects are the ConfigMaps and claims of an injected workspace as they are, found by
// their labels: each says itself that it belongs to it. What is shared carries no
// canonical ID; a claim that has outlived the workspace is nobody's until it is used
// again.
func Objects(ctx context.Context, client *kube.Client, id string) ([]*unstructured.Unstructured, error) {
	core, ns, opts := client.CoreV1(), client.Namespace, metav1.ListOptions{LabelSelector: Selector(id).String() + "," + kube.LabelKept + "!=true"}
	var maps, claims []*unstructured.Unstructured
	var mapsErr, claimsErr error
	var both sync.WaitGroup
	both.Go(func() {
		list, err := core.ConfigMaps(ns).List(ctx, opts)
		if mapsErr = kube.Fault(err, kube.Call{Verb: "list", Resource: "configmaps", Namespace: ns}); err == nil {
			maps, mapsErr = whole("ConfigMap", list.Items)
		}
	})
	both.Go(func() {
		list, err := core.PersistentVolumeClaims(ns).List(ctx, opts)
		if claimsErr = kube.Fault(err, kube.Call{Verb: "list", Resource: "persistentvolumeclaims", Namespace: ns}); err == nil {
			claims, claimsErr = whole("PersistentVolumeClaim", list.Items)
		}
	})
	both.Wait()
	return slices.Concat(maps, claims), cmp.Or(mapsErr, claimsErr)
}

// whole are the items of a list, which do not say of what kind they are.
func whole[T any](kind string, items []T) (objects []*unstructured.Unstructured, err error) {
	for i := range items {
		content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&items[i])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", kind, err)
		}
		object := &unstructured.Unstructured{Object: content}
		object.SetAPIVersion("v1")
		object.SetKind(kind)
		objects = append(objects, object)
	}
	return objects, nil
}

package workload

import (
	"cmp"
	"context"
	"slices"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/berthdev/berth/internal/kube"
)

// Objects are the ConfigMaps and claims of an injected workspace as they are, found by
// their labels: each says itself that it belongs to it. What is shared carries no
// canonical ID; a claim that has outlived the workspace is nobody's until it is used
// again.
func Objects(ctx context.Context, client *kube.Client, id string) ([]*unstructured.Unstructured, error) {
	core, ns, opts := client.CoreV1(), client.Namespace,
		metav1.ListOptions{LabelSelector: Selector(id).String() + "," + kube.LabelKept + "!=true"}
	var maps, claims []*unstructured.Unstructured
	var mapsErr, claimsErr error
	var both sync.WaitGroup
	both.Go(func() {
		list, err := core.ConfigMaps(ns).List(ctx, opts)
		if mapsErr = kube.Fault(err, kube.Call{Verb: "list", Resource: "configmaps", Namespace: ns}); err == nil {
			maps, mapsErr = kube.UntypedList("ConfigMap", list.Items)
		}
	})
	both.Go(func() {
		list, err := core.PersistentVolumeClaims(ns).List(ctx, opts)
		if claimsErr = kube.Fault(err,
			kube.Call{Verb: "list", Resource: "persistentvolumeclaims", Namespace: ns}); err == nil {
			claims, claimsErr = kube.UntypedList("PersistentVolumeClaim", list.Items)
		}
	})
	both.Wait()
	return slices.Concat(maps, claims), cmp.Or(mapsErr, claimsErr)
}

package workload

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/berthdev/berth/internal/kube"
)

// Objects are the ConfigMaps and claims of an injected workspace, found
// by their labels. What is shared carries no canonical ID.
func Objects(ctx context.Context, client *kube.Client, id string) (objects []*unstructured.Unstructured, err error) {
	core, ns, opts := client.CoreV1(), client.Namespace, metav1.ListOptions{LabelSelector: Selector(id).String()}
	maps, err := core.ConfigMaps(ns).List(ctx, opts)
	if err != nil {
		return nil, kube.Fault(err, kube.Call{Verb: "list", Resource: "configmaps", Namespace: ns})
	}
	for i := range maps.Items {
		objects = append(objects, kube.Named("ConfigMap", maps.Items[i].Name))
	}
	claims, err := core.PersistentVolumeClaims(ns).List(ctx, opts)
	if err != nil {
		return nil, kube.Fault(err, kube.Call{Verb: "list", Resource: "persistentvolumeclaims", Namespace: ns})
	}
	for i := range claims.Items {
		objects = append(objects, kube.Named("PersistentVolumeClaim", claims.Items[i].Name))
	}
	return objects, nil
}

package main

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"os"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// The kinds of objects.
const (
	kindMachine = "Machine"
	kindPool    = "MachinePool"
	kindClass   = "MachineClass"
)

// kinds are the kinds by what they are called in a path.
func kinds() map[string]string {
	return map[string]string{"machines": kindMachine, "machinepools": kindPool, "machineclasses": kindClass}
}

// objects are those of a kind, of all namespaces if the namespace is empty. A test writes them
// into a ConfigMap, which is read for each request; all have its version.
func (c cluster) objects(ctx context.Context, kind, namespace string) (objects []map[string]any, err error) {
	said, err := c.CoreV1().ConfigMaps(c.namespace).Get(ctx, c.configMap, metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	for _, key := range slices.Sorted(maps.Keys(said.Data)) {
		o, err := objectIn(said, key)
		if err != nil {
			return nil, err
		}
		if o.GetKind() == kind && (namespace == "" || o.GetNamespace() == namespace) {
			objects = append(objects, o.Object)
		}
	}
	return objects, nil
}

// objectIn is an object of a ConfigMap.
func objectIn(said *corev1.ConfigMap, key string) (*unstructured.Unstructured, error) {
	o := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(said.Data[key]), &o.Object); err != nil {
		return nil, err
	}
	o.SetAPIVersion(groupVersion)
	o.SetResourceVersion(said.ResourceVersion)
	return o, nil
}

func (c cluster) object(ctx context.Context, kind, namespace, name string) (*unstructured.Unstructured, error) {
	objects, err := c.objects(ctx, kind, namespace)
	if err != nil {
		return nil, err
	}
	for _, object := range objects {
		if o := (&unstructured.Unstructured{Object: object}); o.GetName() == name {
			return o, nil
		}
	}
	return nil, notFound(kind, name)
}

func notFound(kind, name string) error {
	for plural, k := range kinds() {
		if k == kind {
			kind = plural
		}
	}
	return refusal{
		http.StatusNotFound, metav1.StatusReasonNotFound,
		fmt.Sprintf("%s.compute.ironcore.dev %q not found", kind, name),
	}
}

// change changes an object, unless it is another version by then than the one that is meant, if one is.
func (c cluster) change(ctx context.Context, kind, name, version string, how func(*unstructured.Unstructured)) (
	*unstructured.Unstructured, error,
) {
	all := c.CoreV1().ConfigMaps(c.namespace)
	said, err := all.Get(ctx, c.configMap, metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	conflict := refusal{
		http.StatusConflict, metav1.StatusReasonConflict,
		"the object has been modified; apply your changes to the latest",
	}
	if version != "" && version != said.ResourceVersion {
		return nil, conflict
	}
	for key := range said.Data {
		o, err := objectIn(said, key)
		if err != nil {
			return nil, err
		}
		if o.GetKind() != kind || o.GetName() != name {
			continue
		}
		how(o)
		o.SetResourceVersion("")
		text, err := yaml.Marshal(o.Object)
		if err != nil {
			return nil, err
		}
		said.Data[key] = string(text)
		if said, err = all.Update(ctx, said, metav1.UpdateOptions{}); apierrors.IsConflict(err) {
			return nil, conflict
		} else if err != nil {
			return nil, err
		}
		return objectIn(said, key)
	}
	return nil, notFound(kind, name)
}

// token is that of this program's own ServiceAccount, which is renewed in its file.
func (c cluster) token() string {
	text, err := os.ReadFile(c.config.BearerTokenFile)
	if err != nil {
		return ""
	}
	return string(text)
}

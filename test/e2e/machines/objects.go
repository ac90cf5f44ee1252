package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// The kinds of objects.
const (
	kindMachine = "Machine"
	kindPool    = "MachinePool"
)

// objects are those of a kind, of all namespaces if the namespace is empty. A test writes them
// into a ConfigMap, which is read for each request.
func (c cluster) objects(ctx context.Context, kind, namespace string) (objects []any, err error) {
	said, err := c.CoreV1().ConfigMaps(c.namespace).Get(ctx, c.configMap, metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	for _, text := range said.Data {
		var object map[string]any
		if err := yaml.Unmarshal([]byte(text), &object); err != nil {
			return nil, err
		}
		o := unstructured.Unstructured{Object: object}
		o.SetAPIVersion(groupVersion)
		if o.GetKind() == kind && (namespace == "" || o.GetNamespace() == namespace) {
			objects = append(objects, object)
		}
	}
	return objects, nil
}

func (c cluster) object(ctx context.Context, kind, namespace, name string) (*unstructured.Unstructured, error) {
	objects, err := c.objects(ctx, kind, namespace)
	if err != nil {
		return nil, err
	}
	for _, object := range objects {
		if fields, ok := object.(map[string]any); ok {
			if o := (&unstructured.Unstructured{Object: fields}); o.GetName() == name {
				return o, nil
			}
		}
	}
	return nil, refusal{
		http.StatusNotFound, metav1.StatusReasonNotFound,
		fmt.Sprintf("%ss.compute.ironcore.dev %q not found", strings.ToLower(kind), name),
	}
}

// token is that of this program's own ServiceAccount, which is renewed in its file.
func (c cluster) token() string {
	text, err := os.ReadFile(c.config.BearerTokenFile)
	if err != nil {
		return ""
	}
	return string(text)
}

package provision

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/release"
)

// sharedObjects are those that a namespace has once, whatever the number of its
// workspaces. They are made if they are not there, and never deleted.
func sharedObjects(s workspaceSpec) (objects []*unstructured.Unstructured) {
	if s.injected {
		return sharedClaims(s.blueprint.Storages) // the pods are the workload's
	}
	if s.access.Registry != nil {
		objects = append(objects, release.PullSecret(*s.access.Registry))
	}
	if s.blueprint.Subdomain != "" {
		objects = append(objects, headlessService(s.blueprint.Subdomain))
	}
	return append(objects, sharedClaims(s.blueprint.Storages)...)
}

// headlessService gives workspaces the names <id>.<subdomain>.<namespace>.svc.
func headlessService(subdomain string) *unstructured.Unstructured {
	service := named("Service", subdomain)
	service.Object["spec"] = map[string]any{
		"clusterIP": "None",
		"selector":  map[string]any{kube.LabelSubdomain: kube.LabelValue(subdomain)},
		"ports":     []any{map[string]any{"name": "workspace", "port": int64(Port), "targetPort": int64(Port)}},
	}
	return service
}

// privateObjects belong to the workspace and hold what must not stand in Helm's
// record: the credentials that its repository is cloned with.
func privateObjects(s workspaceSpec) []*unstructured.Unstructured {
	name := gitSecretName(s)
	if name == "" {
		return nil
	}
	credentials, _ := s.access.repository(s.repository.URL)
	object := named("Secret", name)
	labels := map[string]string{}
	for label, value := range podLabels(s) {
		labels[label], _ = value.(string)
	}
	object.SetLabels(labels)
	object.Object["type"] = "kubernetes.io/basic-auth"
	object.Object["stringData"] = map[string]any{
		"username": credentials.Username, "password": credentials.Password.Reveal(),
	}
	return []*unstructured.Unstructured{object}
}

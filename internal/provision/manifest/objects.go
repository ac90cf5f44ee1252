package manifest

import (
	"encoding/base64"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/berthdev/berth/internal/apply"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/registry"
)

// Shared are the objects that a namespace has once, whatever the number of its
// workspaces. They are created if they do not exist, and never deleted.
func (s Spec) Shared() (wanted []apply.Wanted) {
	if s.Access.Registry != nil {
		wanted = append(wanted, apply.Wanted{
			Object: registry.PullSecret(*s.Access.Registry),
			Merge:  registry.MergePullSecret,
		})
	}
	if s.Blueprint.Subdomain != "" {
		wanted = append(wanted, apply.Wanted{Object: headlessService(s.Blueprint.Subdomain)})
	}
	return append(wanted, s.SharedClaims()...)
}

// headlessService gives workspaces the names <id>.<subdomain>.<namespace>.svc.
func headlessService(subdomain string) *unstructured.Unstructured {
	service := kube.Named("Service", subdomain)
	service.Object["spec"] = map[string]any{
		"clusterIP": "None",
		"selector":  map[string]any{kube.LabelSubdomain: kube.LabelValue(subdomain)},
		"ports":     []any{map[string]any{"name": "workspace", "port": int64(Port), "targetPort": int64(Port)}},
	}
	return service
}

// Private are objects of the workspace that must not be in Helm's record: the
// credentials that its repository is cloned with.
func (s Spec) Private() []*unstructured.Unstructured {
	credentials, ok := s.credentials()
	if !ok {
		return nil
	}
	object := kube.Named("Secret", GitSecret(s.User.ID()))
	object.SetLabels(podLabels(s))
	object.Object["type"] = "kubernetes.io/basic-auth"
	encode := func(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }
	object.Object["data"] = map[string]any{
		"username": encode(credentials.Username), "password": encode(credentials.Password.Reveal()),
	}
	return []*unstructured.Unstructured{object}
}

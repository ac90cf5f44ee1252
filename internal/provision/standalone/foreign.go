package standalone

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/berthdev/berth/internal/apply"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/provision/deploy"
	"github.com/berthdev/berth/internal/provision/manifest"
)

// What k8shell's chart makes, and berth neither makes nor changes.

// split divides objects.
func split(objects []*unstructured.Unstructured, by func(*unstructured.Unstructured) bool) (are,
	others []*unstructured.Unstructured,
) {
	for _, object := range objects {
		if by(object) {
			are = append(are, object)
		} else {
			others = append(others, object)
		}
	}
	return are, others
}

// isIssued is true for the Secret with the workspace's token: k8shell alone can issue another.
func (t Target) isIssued(object *unstructured.Unstructured) bool { return manifest.IsPAT(t.ID, object) }

// issue creates what k8shell has issued from its record. What exists may be newer, and is left as it is.
func (t Target) issue(ctx context.Context, applier apply.Applier, d deploy.Deployment) (apply.Changes, error) {
	issued, _ := split(d.Objects, t.isIssued)
	if len(issued) == 0 {
		return nil, nil
	}
	applier.Shared = true
	return applier.Apply(ctx, apply.Objects(issued))
}

// namedIn is how a record names objects that it does not make, so that they are deleted with the workspace. It has
// nothing of what is in them.
func namedIn(objects []*unstructured.Unstructured) (text string, err error) {
	for _, object := range objects {
		name := kube.Named(object.GetKind(), object.GetName())
		name.SetAPIVersion(object.GetAPIVersion())
		name.SetNamespace(object.GetNamespace())
		name.SetLabels(object.GetLabels())
		more, err := inManifest(name)
		if err != nil {
			return "", err
		}
		text += more
	}
	return text, nil
}

// inManifest are objects as a record has them.
func inManifest(objects ...*unstructured.Unstructured) (all string, err error) {
	for _, object := range objects {
		text, err := yaml.Marshal(object.Object)
		if err != nil {
			return "", err
		}
		all += "---\n" + string(text)
	}
	return all, nil
}

package instance

import (
	"context"
	"encoding/json"
	"maps"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/berthdev/berth/api/bundle/v1alpha1"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
)

// isUninstalling is true for an instance whose uninstallation has begun. No pass puts back
// what that has removed, also if it was interrupted.
func isUninstalling(in *v1alpha1.Instance) bool {
	return in.Annotations[v1alpha1.AnnotationUninstalling] != ""
}

// begin says on the instance that it is being uninstalled, before anything is removed.
func (u removal) begin(ctx context.Context) error {
	if u.known.Instance == nil || isUninstalling(u.known.Instance) {
		return nil
	}
	if err := u.held.Confirm(ctx); err != nil {
		return err
	}
	return u.objects().annotate(ctx, u.known.Instance, v1alpha1.AnnotationUninstalling, u.Now().UTC().Format(time.RFC3339))
}

// annotate sets an annotation of this very instance.
func (o Objects) annotate(ctx context.Context, in *v1alpha1.Instance, name, value string) error {
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"uid":         in.UID,
		"annotations": map[string]string{name: value},
	}})
	if err != nil {
		return err
	}
	made, err := o.Client.Resource(v1alpha1.Instances()).
		Patch(ctx, in.Name, types.MergePatchType, patch, metav1.PatchOptions{FieldManager: kube.FieldManager})
	if err != nil {
		return kube.Fault(err, call("patch", v1alpha1.Instances(), in.Name))
	}
	in.Annotations, in.ResourceVersion = made.GetAnnotations(), made.GetResourceVersion()
	return nil
}

// installedAnnotations are those of an instance that is installed, or is again.
func installedAnnotations(annotations map[string]string) map[string]string {
	all := map[string]string{}
	maps.Copy(all, annotations)
	delete(all, v1alpha1.AnnotationUninstalling)
	return all
}

// recordedHere makes sure that an instance, by its bundles, is recorded in the system
// namespace: in any other one, neither its release nor its lock would be found.
func (r Reconciler) recordedHere(name string, bundles []v1alpha1.Bundle) error {
	for i := range bundles {
		if b := &bundles[i]; r.isElsewhere(b) {
			system := b.Annotations[v1alpha1.AnnotationSystemNamespace]
			return fault.New(fault.Conflict, "bundle %s is recorded in the system namespace %s, not in %s", name, system,
				r.System).
				WithHint("add --system-namespace %s", system)
		}
	}
	return nil
}

// isElsewhere is true for a bundle whose instance is recorded in another system namespace, where
// what was uploaded for it is as well.
func (r Reconciler) isElsewhere(b *v1alpha1.Bundle) bool {
	system := b.Annotations[v1alpha1.AnnotationSystemNamespace]
	return system != "" && system != r.System
}

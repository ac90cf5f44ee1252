package provision

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/berthdev/berth/internal/apply"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/provision/manifest"
	"github.com/berthdev/berth/internal/release"
)

// applier is for the objects of an owner in the run's namespace. What others have
// changed in them is set right again, and what is deleted goes by its name, under
// the lock.
func (r *run) applier(owner apply.Owner) apply.Applier {
	return apply.Applier{
		Client: r.Client.Dynamic, Discovery: r.Client.Discovery(), Namespace: r.namespace,
		Owner: owner, Force: true, ByName: true,
	}
}

// installer is for the objects of the release.
func (r *run) installer() apply.Applier { return r.applier(release.Owner(r.id, r.namespace)) }

// injector is for objects of no release: they belong to the workspace whose
// canonical ID they carry.
func (r *run) injector() apply.Applier {
	return r.applier(apply.Owner{
		Name: "workspace " + r.id, Labels: map[string]string{kube.LabelCanonicalID: kube.LabelValue(r.id)},
	})
}

// sharer is for what the namespace's workspaces have in common. Nothing says which
// of them was the first: it belongs to none.
func (r *run) sharer() apply.Applier {
	a := r.applier(apply.Owner{Name: "berth", Labels: map[string]string{"app.kubernetes.io/managed-by": "berth"}})
	a.Shared = true
	return a
}

// wantedOfRelease are the objects of the release, and those that Helm's record
// must not have. The record would be what removes them: instead they are owned by
// the first ConfigMap, which every release has, so that Kubernetes removes them
// with it, also after `helm uninstall`.
func (r *run) wantedOfRelease(spec manifest.Spec) []apply.Wanted {
	wanted := apply.Objects(r.rendered.Objects)
	var parent *unstructured.Unstructured
	for _, object := range r.rendered.Objects {
		if parent == nil && object.GetKind() == "ConfigMap" {
			parent = object
		}
	}
	for _, object := range spec.Private() {
		wanted = append(wanted, apply.Wanted{Object: object, Parent: parent})
	}
	return wanted
}

package resource_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berthdev/berth/api/bundle/v1alpha1"
	"github.com/berthdev/berth/internal/bundle/resource"
)

// A program that applies an instance again and again is seen by the marks that it leaves on its objects.
func TestAppliedBy(t *testing.T) {
	type texts = map[string]string
	for name, test := range map[string]struct {
		labels, annotations texts
		managers            []string
		want                string
	}{
		"nobody":     {},
		"kubectl":    {managers: []string{"kubectl-client-side-apply", "berth"}},
		"Flux":       {labels: texts{"kustomize.toolkit.fluxcd.io/name": "apps"}, want: "Flux (kustomize apps)"},
		"Flux, helm": {labels: texts{"helm.toolkit.fluxcd.io/name": "apps"}, want: "Flux (helm apps)"},
		"Flux, which leaves it alone": {
			labels:      texts{"kustomize.toolkit.fluxcd.io/name": "apps"},
			annotations: texts{"kustomize.toolkit.fluxcd.io/reconcile": "disabled"},
		},
		"Flux, which has only made it": {
			labels:      texts{"kustomize.toolkit.fluxcd.io/name": "apps"},
			annotations: texts{"kustomize.toolkit.fluxcd.io/ssa": "IfNotPresent"},
		},
		"Argo CD": {
			annotations: texts{"argocd.argoproj.io/tracking-id": "apps:core.rukpak.io/BundleInstance:/shop"},
			want:        "Argo CD (application apps)",
		},
		"Argo CD, by labels": {managers: []string{"argocd-controller"}, want: "Argo CD"},
	} {
		in := &v1alpha1.Instance{}
		in.Labels, in.Annotations = test.labels, test.annotations
		for _, manager := range test.managers {
			in.ManagedFields = append(in.ManagedFields, metav1.ManagedFieldsEntry{Manager: manager})
		}
		if got := resource.AppliedBy(in); got != test.want {
			t.Errorf("%s: %q", name, got)
		}
	}
}

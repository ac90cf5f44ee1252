package fleet

import (
	"context"

	helm "helm.sh/helm/v3/pkg/release"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/metadata"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/provision/inventory"
	"github.com/berthdev/berth/internal/userstring"
)

// Installed names the releases of a namespace, or of all, that are deployed and may be those
// of workspaces, by the names of the releases and whether they have a pod or not. It
// reads the labels of Helm's records alone.
func Installed(ctx context.Context, r inventory.Reader, namespace string) ([]v1.Workspace, error) {
	call := kube.Call{Verb: "list", Resource: "secrets", Namespace: namespace}
	client, err := metadata.NewForConfigAndClient(r.Client.Config, r.Client.HTTP)
	if err != nil {
		return nil, kube.Fault(err, call)
	}
	var all []v1.Workspace
	secrets := client.Resource(corev1.SchemeGroupVersion.WithResource("secrets")).Namespace(namespace)
	opts := metav1.ListOptions{LabelSelector: "owner=helm,status=" + helm.StatusDeployed.String()}
	err = eachPage(ctx, opts, secrets.List, func(page *metav1.PartialObjectMetadataList) {
		for i := range page.Items {
			if name := page.Items[i].Labels["name"]; userstring.LooksLikeID(name) {
				all = append(all, v1.Workspace{ID: name, Namespace: page.Items[i].Namespace})
			}
		}
	})
	return all, kube.Fault(err, call)
}

package release

import (
	"context"
	"slices"
	"strings"

	helm "helm.sh/helm/v3/pkg/release"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
)

// atOnce is how many releases are asked for in one request: their names are in its address.
const atOnce = 50

// Newest is the newest record of a release, or why that cannot be read.
type Newest struct {
	Release *helm.Release
	Err     error
}

// Several are the newest records of releases of a namespace, or of all, by namespace and name, in
// a request for every 50 of them. A release without a record is left out.
func Several(ctx context.Context, secrets typedcorev1.SecretsGetter, namespace string,
	names []string,
) (map[types.NamespacedName]Newest, error) {
	listed, all := Records{Secrets: secrets.Secrets(namespace), Namespace: namespace}, map[types.NamespacedName]Newest{}
	for chunk := range slices.Chunk(names, atOnce) {
		newest := map[types.NamespacedName]*corev1.Secret{}
		err := listed.each(ctx, "owner=helm,name in ("+strings.Join(chunk, ",")+")", func(s *corev1.Secret) {
			of := types.NamespacedName{Namespace: s.Namespace, Name: s.Labels["name"]}
			if newest[of] == nil || byTrust(*s, *newest[of]) > 0 {
				one := *s // without the page that it came with
				newest[of] = &one
			}
		})
		if err != nil {
			return nil, err
		}
		for of, secret := range newest {
			own := Records{Secrets: secrets.Secrets(of.Namespace), Namespace: of.Namespace} // whose chunks are beside it
			release, err := own.open(ctx, secret, of.Name)
			all[of] = Newest{release, err}
		}
	}
	return all, nil
}

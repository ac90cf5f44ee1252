package source

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	typedv1 "k8s.io/client-go/kubernetes/typed/core/v1"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
)

// Cluster is where the objects are that a source names: one namespace, the system
// namespace.
type Cluster struct {
	Client    typedv1.CoreV1Interface
	Namespace string
}

// secret reads a Secret with a login.
func (c *Cluster) secret(ctx context.Context, name string) (*corev1.Secret, error) {
	if c == nil {
		return nil, withoutCluster("secret/" + name)
	}
	found, err := c.Client.Secrets(c.Namespace).Get(ctx, name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return nil, fault.New(fault.NotFound, "secret/%s does not exist in namespace %s", name, c.Namespace).
			WithHint("create it there: the logins of sources are in the system namespace, which --system-namespace names")
	case err != nil:
		return nil, kube.Fault(err, kube.Call{Verb: "get", Resource: "secrets", Namespace: c.Namespace, Name: name})
	}
	return found, nil
}

func (c *Cluster) configMap(ctx context.Context, name string) (*corev1.ConfigMap, error) {
	if c == nil {
		return nil, withoutCluster("configmap/" + name)
	}
	found, err := c.Client.ConfigMaps(c.Namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return nil, kube.Fault(err, kube.Call{Verb: "get", Resource: "configmaps", Namespace: c.Namespace, Name: name})
	}
	return found, nil
}

func withoutCluster(object string) error {
	return fault.New(fault.InvalidArgument, "the source needs %s of a cluster, and none is used", object).
		WithHint("choose a cluster with --kubeconfig or --context, or name a source that needs none")
}

package kube

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// LacksNamespace is true if a namespace certainly does not exist. It is false for a caller who may
// not read it.
func (c *Client) LacksNamespace(ctx context.Context, namespace string) bool {
	_, err := c.CoreV1().Namespaces().Get(ctx, namespace, metav1.GetOptions{})
	return apierrors.IsNotFound(err)
}

package provision

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/berthdev/berth/internal/kube"
)

// How often a new namespace is asked for its service account, and for how long.
const (
	accountPoll = 50 * time.Millisecond
	accountTime = 10 * time.Second
)

// createNamespace makes the namespace, which was found not to exist. No pod can
// be made before the controllers have given it its service account.
func (r *run) createNamespace(ctx context.Context) error {
	return r.steps.do("create namespace", func() (string, error) {
		namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: r.namespace}}
		_, err := r.Client.CoreV1().Namespaces().Create(ctx, namespace, metav1.CreateOptions{})
		if err != nil && !apierrors.IsAlreadyExists(err) {
			return "", kube.Fault(err, kube.Call{Verb: "create", Resource: "namespaces", Name: r.namespace})
		}
		err = wait.PollUntilContextTimeout(ctx, accountPoll, accountTime, true, func(ctx context.Context) (bool, error) {
			_, err := r.Client.CoreV1().ServiceAccounts(r.namespace).Get(ctx, "default", metav1.GetOptions{})
			return !apierrors.IsNotFound(err), nil // who may not look finds out when the pod is made
		})
		if wait.Interrupted(err) && ctx.Err() == nil {
			err = nil // likewise
		}
		return r.namespace, err
	})
}

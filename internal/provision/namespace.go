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

// createNamespace creates the namespace, which was found not to exist. No pod can
// be created before the controllers have given it its service account.
func (s session) createNamespace(ctx context.Context) error {
	name := s.Client.Namespace
	return s.steps.Do("create namespace", func() (string, error) {
		namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
		_, err := s.Client.CoreV1().Namespaces().Create(ctx, namespace, metav1.CreateOptions{})
		if err != nil && !apierrors.IsAlreadyExists(err) {
			return "", kube.Fault(err, kube.Call{Verb: "create", Resource: "namespaces", Name: name})
		}
		err = wait.PollUntilContextTimeout(ctx, accountPoll, accountTime, true, func(ctx context.Context) (bool, error) {
			_, err := s.Client.CoreV1().ServiceAccounts(name).Get(ctx, "default", metav1.GetOptions{})
			return !apierrors.IsNotFound(err), nil // who may not look finds out when the pod is created
		})
		if wait.Interrupted(err) && ctx.Err() == nil {
			err = nil // likewise
		}
		return name, err
	})
}

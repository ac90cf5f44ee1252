// Package cluster is what the benchmark itself does on the cluster, directly and
// not through the proxy: make room for a run, see when its pod is ready, clean up.
package cluster

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
)

// label marks the namespaces that are the benchmark's to remove.
const label = "berth.dev/bench"

const (
	poll   = 100 * time.Millisecond
	enough = 2 * time.Minute
)

// Create makes an empty namespace in which pods can be made: not before its
// service account is there.
func Create(ctx context.Context, client kubernetes.Interface, name string) error {
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{label: "true"}}}
	if _, err := client.CoreV1().Namespaces().Create(ctx, namespace, metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("namespace %s: %w", name, err)
	}
	err := wait.PollUntilContextTimeout(ctx, poll, enough, true, func(ctx context.Context) (bool, error) {
		_, err := client.CoreV1().ServiceAccounts(name).Get(ctx, "default", metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return false, nil
		}
		return err == nil, err
	})
	if err != nil {
		return fmt.Errorf("service account of namespace %s: %w", name, err)
	}
	return nil
}

// Remove deletes a namespace with all that is in it and waits until it is gone,
// so that its deletion does not disturb the next measurement. Pods and claims go
// first: a namespace that meets their finalizers looks again much later.
func Remove(ctx context.Context, client kubernetes.Interface, name string) error {
	core, now := client.CoreV1(), int64(0)
	all := metav1.ListOptions{}
	_ = core.Pods(name).DeleteCollection(ctx, metav1.DeleteOptions{GracePeriodSeconds: &now}, all)
	_ = core.PersistentVolumeClaims(name).DeleteCollection(ctx, metav1.DeleteOptions{}, all)
	err := until(ctx, func(ctx context.Context) bool {
		pods, podErr := core.Pods(name).List(ctx, all)
		claims, claimErr := core.PersistentVolumeClaims(name).List(ctx, all)
		return podErr == nil && claimErr == nil && len(pods.Items)+len(claims.Items) == 0
	})
	if err != nil {
		return fmt.Errorf("pods and claims of namespace %s do not go away: %w", name, err)
	}
	err = core.Namespaces().Delete(ctx, name, metav1.DeleteOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("delete namespace %s: %w", name, err)
	}
	err = until(ctx, func(ctx context.Context) bool {
		_, err := core.Namespaces().Get(ctx, name, metav1.GetOptions{})
		return apierrors.IsNotFound(err)
	})
	if err != nil {
		return fmt.Errorf("namespace %s does not go away: %w", name, err)
	}
	return nil
}

func until(ctx context.Context, done func(context.Context) bool) error {
	return wait.PollUntilContextTimeout(ctx, poll, enough, true, func(ctx context.Context) (bool, error) {
		return done(ctx), nil
	})
}

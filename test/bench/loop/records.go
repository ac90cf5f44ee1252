package main

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/berthdev/berth/test/bench/internal/fleet"
)

// atOnce is how many records are made at once.
const atOnce = 16

// createRecords makes the records of the workspaces, as berth keeps them: each is meant to run and
// is known to.
func createRecords(ctx context.Context, client kubernetes.Interface, workspaces int) error {
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for i := range workspaces {
		group.Go(func() error {
			object, err := configMap(i, time.Now())
			if err != nil {
				return err
			}
			_, err = client.CoreV1().ConfigMaps(fleet.Namespace).Create(groupCtx, object, metav1.CreateOptions{})
			return err
		})
	}
	return group.Wait()
}

func configMap(i int, now time.Time) (*corev1.ConfigMap, error) {
	id := fleet.ID(i)
	text, err := json.Marshal(map[string]any{
		"id": id, "namespace": fleet.Namespace, "incarnation": fmt.Sprintf("6c7da4a1-1d0f-4b57-9a43-%012x", i),
		"userString": fleet.UserString(i), "blueprint": "dev", "createdAt": now,
		"desired": "Running", "desiredAt": now, "changed": 1, "actual": "Running", "actualAt": now, "answered": 1,
		"history": []map[string]any{{"at": now, "desired": "Running", "actual": "Running"}},
	})
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: prefix + id, Labels: map[string]string{"berth.dev/state-of": id}},
		Data:       map[string]string{"record": string(text)},
	}, err
}

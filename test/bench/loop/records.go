package main

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berthdev/berth/test/bench/internal/fleet"
)

const (
	atOnce     = 16        // records that are made at once
	helmRecord = 20 * 1024 // bytes
)

// install writes Helm's records of the workspaces: as large as they are, with nothing in them.
func (m measurement) install(ctx context.Context) error {
	return m.each(ctx, func(ctx context.Context, i int) error {
		id := fleet.ID(i)
		_, err := m.client.CoreV1().Secrets(fleet.Namespace).Create(ctx, &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{
				Name:   "sh.helm.release.v1." + id + ".v1",
				Labels: map[string]string{"owner": "helm", "name": id, "status": "deployed", "version": "1"},
			},
			Data: map[string][]byte{"release": make([]byte, helmRecord)},
		}, metav1.CreateOptions{})
		return err
	})
}

// outdate writes the records of the workspaces, as berth keeps them: each is meant to run, and
// is not known to do so yet.
func (m measurement) outdate(ctx context.Context) error {
	maps := m.client.CoreV1().ConfigMaps(fleet.Namespace)
	return m.each(ctx, func(ctx context.Context, i int) error {
		object, err := configMap(i, time.Now())
		if err != nil {
			return err
		}
		_, err = maps.Create(ctx, object, metav1.CreateOptions{})
		if apierrors.IsAlreadyExists(err) {
			_, err = maps.Update(ctx, object, metav1.UpdateOptions{})
		}
		return err
	})
}

func (m measurement) each(ctx context.Context, do func(ctx context.Context, i int) error) error {
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for i := range m.workspaces {
		group.Go(func() error { return do(groupCtx, i) })
	}
	return group.Wait()
}

func configMap(i int, now time.Time) (*corev1.ConfigMap, error) {
	id := fleet.ID(i)
	text, err := json.Marshal(map[string]any{
		"id": id, "namespace": fleet.Namespace, "incarnation": fmt.Sprintf("6c7da4a1-1d0f-4b57-9a43-%012x", i),
		"userString": fleet.UserString(i), "blueprint": "dev", "createdAt": now,
		"desired": "Running", "desiredAt": now, "changed": 1, "actual": "Starting", "actualAt": now, "answered": 1,
		"history": []map[string]any{{"at": now, "desired": "Running", "actual": "Starting"}},
	})
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: prefix + id, Labels: map[string]string{"berth.dev/state-of": id}},
		Data:       map[string]string{"record": string(text)},
	}, err
}

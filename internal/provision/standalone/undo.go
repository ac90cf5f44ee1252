package standalone

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/apply"
	"github.com/berthdev/berth/internal/provision/deploy"
	"github.com/berthdev/berth/internal/provision/inventory"
	"github.com/berthdev/berth/internal/provision/manifest"
)

// goneTime is how long the pod that is removed is waited for, and gonePoll how
// often it is looked at: the watch of it may have ended with the run.
const (
	goneTime = 40 * time.Second
	gonePoll = 250 * time.Millisecond
)

// Undo removes what this run has created. Where it was the first, nothing of the
// workspace is left.
func (t Target) Undo(ctx context.Context, before inventory.Found, d deploy.Deployment, result deploy.Result) (string, error) {
	first := before.Record == nil && (before.Pod == nil || before.Reading.Verdict() == v1.VerdictTerminating)
	mine := result.Changes.Removable(d.Objects, first)
	removed, err := t.applier(apply.DryRunNone).Remove(ctx, mine)
	if err == nil && first {
		_, err = t.applier(apply.DryRunNone).Remove(ctx, manifest.Certified(mine))
	}
	if err == nil && first {
		err = t.Records().Purge(ctx, t.ID)
	}
	if err != nil {
		return "", fmt.Errorf("what was created could not be removed: %w", err)
	}
	text := fmt.Sprintf("%d objects", len(removed))
	if result.Pod != nil && !t.awaitGone(ctx, result.Pod.UID) {
		text += ", the pod is still terminating"
	}
	return text, nil
}

func (t Target) awaitGone(ctx context.Context, uid types.UID) bool {
	err := wait.PollUntilContextTimeout(ctx, gonePoll, goneTime, true, func(ctx context.Context) (bool, error) {
		pod, err := t.Client.CoreV1().Pods(t.Client.Namespace).Get(ctx, t.ID, metav1.GetOptions{})
		if err != nil {
			return apierrors.IsNotFound(err), nil
		}
		return pod.UID != uid, nil
	})
	return err == nil
}

package injected

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/provision/deploy"
	"github.com/berthdev/berth/internal/provision/workload"
	"github.com/berthdev/berth/internal/rbac"
)

// MayStop checks the permissions to take the workspace out of its workload.
func (t Target) MayStop(may deploy.Permissions) error {
	return may.Check("stopping "+t.ID, rbac.Inject, nil, t.resources()...)
}

// Stop takes the workspace out of its workload. What its volumes are made of stays.
func (t Target) Stop(ctx context.Context, turn deploy.Turn, wait bool) (removal deploy.Removal, err error) {
	w, err := workload.Read(ctx, t.Client, t.ID, t.Ref)
	if err != nil {
		return removal, err
	}
	removal.Found.Workload, removal.Again = w, kube.Command("stop", t.ID, t.Client.Namespace)
	if !w.Injected() && len(turn.Found.Leaving) == 0 {
		removal.Gone, removal.Done = true, "it is not in "+t.Ref.String()
		return removal, nil
	}
	if wait {
		if removal.Follower, err = t.Watch(ctx, removal.Found, deploy.Deployment{}); err != nil {
			return removal, err
		}
	}
	all := func(*unstructured.Unstructured) bool { return true }
	out, err := t.takeOut(ctx, turn.Lock, w, takingOut{change: t.eject, keeps: all})
	removal.Done = t.Ref.String()
	if err != nil {
		return removal, err
	}
	removal.Found.Workload = out.workload
	if wait {
		err = begin(removal.Follower, out.workload)
	}
	return removal, err
}

package diagnose

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/commands/cmdutil"
	"github.com/berthdev/berth/internal/diagnose"
	"github.com/berthdev/berth/internal/lifecycle"
	"github.com/berthdev/berth/internal/provision/inventory"
	"github.com/berthdev/berth/internal/provision/inventory/recorded"
	"github.com/berthdev/berth/internal/terminal/printer"
)

// podless is the diagnosis of a workspace that has no pod, by Helm's record and by its desired
// state, as `berth status` tells it: one that is stopped has not lost its pod. The error is that
// of looking for the pod.
func (o *Options) podless(ctx context.Context, target *inventory.Target, err error) (v1.Diagnosis, error) {
	if target.Found.Record == nil && target.Found.Unreadable == nil {
		return v1.Diagnosis{}, err
	}
	place, done, recordErr := o.States(ctx)
	var r lifecycle.Record
	if recordErr == nil {
		defer done()
		r, recordErr = recorded.Get(ctx, place, target.Namespace, target.ID)
	}
	if recordErr != nil {
		printer.PrintWarning(o.IO, "its desired state is not known: "+recordErr.Error())
	}
	pod, reading := target.Podless()
	w, is := target.Installed()
	if !is { // what is recorded is of another one
		return diagnose.Podless(pod, reading, o.IO.Now()), nil
	}
	return o.of(recorded.With(w, r), pod), nil
}

// known is the diagnosis of a workspace of which only a record of its desired state is left. The
// error is that of looking for the workspace.
func (o *Options) known(ctx context.Context, namespace string, arg inventory.Argument, err error) (v1.Diagnosis,
	error,
) {
	place, done, placeErr := o.States(ctx)
	if placeErr != nil {
		return v1.Diagnosis{}, cmdutil.Because(ctx, err)
	}
	defer done()
	limited, cancel := context.WithTimeout(ctx, recorded.Timeout)
	defer cancel()
	r, recordErr := recorded.Find(limited, place, namespace, arg)
	if recordErr != nil || r.ID == "" {
		return v1.Diagnosis{}, cmdutil.Because(ctx, err)
	}
	return o.of(recorded.Of(r, namespace),
			&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: r.ID, Namespace: namespace}}),
		nil
}

// of is the diagnosis of a workspace without a pod; the pod is as it would be.
func (o *Options) of(w v1.Workspace, pod *corev1.Pod) v1.Diagnosis {
	d := diagnose.Podless(pod, w.Snapshot, o.IO.Now())
	d.UserString, d.Blueprint, d.Startable = w.UserString, w.Blueprint, w.Startable
	return d
}

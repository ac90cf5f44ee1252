package provision

import (
	"context"
	"errors"
	"time"

	helm "helm.sh/helm/v3/pkg/release"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/berthdev/berth/internal/apply"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/release"
)

// recordTime is how long completing the record may take.
const recordTime = 5 * time.Second

// record writes Helm's record, pending. One that is there, left by a run that
// was cut off or by a pod that somebody deleted, is used again; objects that it
// names and that are not wanted any more go first, so that none is forgotten.
func (r *run) record(ctx context.Context) (*helm.Release, error) {
	record := release.NewRecord(r.id, r.namespace, r.rendered, r.Now())
	old := r.found.Record
	if old == nil {
		err := r.Records().Create(ctx, record)
		if !errors.Is(err, release.ErrExists) && !kube.Declined(err) {
			r.creation.begin() // also if the answer was lost
		}
		return record, err
	}
	objects, err := release.Objects(old.Manifest)
	if err != nil {
		return nil, err
	}
	unwanted, keep := apply.Leftovers(objects, r.rendered.Objects)
	if _, err := r.installer().Remove(ctx, unwanted); err != nil {
		return nil, err
	}
	for _, object := range keep {
		record.Manifest += manifestOf(object)
	}
	record.Version = old.Version
	record.Info.FirstDeployed = old.Info.FirstDeployed
	return record, r.Records().Update(ctx, record)
}

func manifestOf(object *unstructured.Unstructured) string {
	text, err := yaml.Marshal(object.Object)
	if err != nil {
		return "" // it was read from YAML a moment ago
	}
	return "---\n" + string(text)
}

// deployed completes the record, once everything is made: also if the time is
// over or somebody presses Ctrl-C at this moment. A pod without one, whose record
// somebody removed, gets it again.
func (r *run) deployed(ctx context.Context, record *helm.Release) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordTime)
	defer cancel()
	if r.found.Workload != nil {
		return nil // what is injected is no release
	}
	if record != nil && record.Info.Status == helm.StatusDeployed {
		return nil
	}
	write := r.Records().Update
	if record == nil {
		record = release.NewRecord(r.id, r.namespace, r.rendered, r.Now())
		write = r.Records().Create
	}
	release.Deployed(record, r.Now())
	err := write(ctx, record)
	if errors.Is(err, context.DeadlineExceeded) {
		return fault.New(fault.Unavailable, "everything is created, but Helm's record could not be completed within %s: %w", recordTime, err).
			WithHint("provision again: that completes it")
	}
	return err
}

package desired

import (
	"cmp"
	"context"
	"time"

	"github.com/google/uuid"
	helm "helm.sh/helm/v3/pkg/release"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/lifecycle"
	"github.com/berthdev/berth/internal/provision/deploy"
	"github.com/berthdev/berth/internal/provision/inventory"
	"github.com/berthdev/berth/internal/provision/manifest"
	"github.com/berthdev/berth/internal/release"
	"github.com/berthdev/berth/internal/userstring"
)

// Adopt records a workspace that was found and has no record: its desired state is the one
// that it is in. One that somebody else has recorded meanwhile stays as it is.
func (s State) Adopt(ctx context.Context, found inventory.Found) (lifecycle.Record, error) {
	ctx, cancel := context.WithTimeout(ctx, recordTime)
	defer cancel()
	return s.records().Change(ctx, s.ID, func(r lifecycle.Record) (lifecycle.Record, error) {
		if r.ID == "" {
			r = adopted(s.ID, found, s.now())
			r.Namespace = s.namespace()
		}
		return r, nil
	})
}

// AdoptPodless records a workspace that is installed, has no pod and no record: it is meant
// to run. That takes its lock, as a run that provisions it has recorded nothing yet; one that
// somebody works on is left to them (deploy.IsLocked). It is NOT_FOUND if what is installed under
// that name is no such workspace.
func (s State) AdoptPodless(ctx context.Context) (r lifecycle.Record, err error) {
	held, holder, err := deploy.Locker(s.Reader, deploy.ForAdopting).Try(ctx, s.ID, nil)
	if err != nil {
		return r, err
	}
	if held == nil {
		return r, deploy.Busy(s.ID, holder)
	}
	defer deploy.Release(ctx, held)
	found, err := s.Reader.Lookup(ctx, s.ID)
	if err := cmp.Or(err, found.Unreadable); err != nil {
		return r, err
	}
	if !stands(s.ID, found) {
		return r, fault.New(fault.NotFound, "%s is not a workspace without a pod", s.ID)
	}
	if err := s.isWhole(ctx, found); err != nil {
		return r, err
	}
	if err := held.Confirm(ctx); err != nil {
		return r, err
	}
	return s.Adopt(ctx, found)
}

// isWhole is NOT_FOUND for a workspace whose deletion was interrupted: what its pod starts from goes
// before Helm's record, and it is not started again.
func (s State) isWhole(ctx context.Context, found inventory.Found) error {
	objects, err := release.Objects(found.Record.Manifest)
	if err != nil {
		return err
	}
	for _, object := range objects {
		if object.GetKind() != "ConfigMap" {
			continue
		}
		_, err := s.Reader.Client.CoreV1().ConfigMaps(s.namespace()).Get(ctx, object.GetName(), metav1.GetOptions{})
		if err != nil {
			return kube.Fault(err, kube.Call{
				Verb: "get", Resource: "configmaps", Namespace: s.namespace(), Name: object.GetName(),
			})
		}
	}
	return nil
}

// stands is true for a workspace that was installed as a whole and has no pod. Releases of
// others may have a name like it.
func stands(id string, found inventory.Found) bool {
	u, err := userstring.ParseCanonical(found.UserString())
	return err == nil && u.Names(id) && found.Pod == nil && found.Record != nil &&
		found.Record.Info.Status == helm.StatusDeployed
}

// adopted is the record of a workspace that has none.
func adopted(id string, found inventory.Found, now time.Time) lifecycle.Record {
	seen := lifecycle.Seen{Pods: found.Pod != nil || found.Workload.Injected(), Reading: found.Reading, Kept: true}
	actual, _ := seen.Of(lifecycle.Record{})
	r := lifecycle.Adopted(id, uuid.NewString(), createdAt(found, now), actual, now)
	r.UserString, r.Blueprint = found.UserString(), found.Blueprint()
	if found.Record != nil && release.IsGuarded(found.Record) { // or anybody could make it old
		r.Limits = limitsIn(release.Values(found.Record))
	}
	return r
}

// createdAt is when a workspace without a state record was created, as far as nobody can make it
// older. Its pod may be a later one.
func createdAt(found inventory.Found, now time.Time) time.Time {
	created := now
	if found.Pod != nil {
		created = found.Pod.CreationTimestamp.UTC()
	}
	switch {
	case found.Record == nil:
	case release.IsGuarded(found.Record):
		created = found.Record.Info.FirstDeployed.Time.UTC()
	default:
		if at := release.CreatedAt(found.Record); !at.IsZero() && at.Before(created) {
			created = at
		}
	}
	return created
}

// limitsIn are the limits of the blueprint that the chart's values were made of.
func limitsIn(values map[string]any) lifecycle.Hours {
	return lifecycle.Hours(manifest.LimitsIn(values))
}

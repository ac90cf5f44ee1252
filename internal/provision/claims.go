package provision

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/apply"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/lock"
	"github.com/berthdev/berth/internal/provision/deploy"
	"github.com/berthdev/berth/internal/provision/manifest"
)

// growing is a claim that is to grow.
type growing struct {
	v1.GrownStorage
	claim *corev1.PersistentVolumeClaim
}

// growth finds the claims that an update would have to change: those that can grow, or one
// error about all that cannot follow. before are the values that they were made of; nil if
// these are not known. A claim that differs although its storage was not changed is left.
// Again are the storages whose claims are made again, as they never had a volume.
func (s provisioning) growth(ctx context.Context, d deploy.Deployment, before map[string]any) (all []growing,
	again []string, err error,
) {
	wanted := deploy.Claims(d.Objects)
	there, err := s.claims(ctx, wanted)
	if err != nil {
		return nil, nil, err
	}
	var problems []string
	for i, claim := range wanted {
		if there[i] == nil {
			continue
		}
		have, err := kube.Untyped("PersistentVolumeClaim", there[i])
		if err != nil {
			return nil, nil, err
		}
		name := claim.GetName()
		g, storage := manifest.GrowthOf(claim, have), manifest.StorageOf(d.Chart.Values, name)
		changed := before == nil || !reflect.DeepEqual(manifest.ClaimSpec(before, name),
			manifest.ClaimSpec(d.Chart.Values, name))
		switch {
		case deploy.NeedsRecreation(ctx, s.Reader, have, claim):
			again = append(again, storage)
		case changed && len(g.Problems) > 0:
			problems = append(problems, fmt.Sprintf("storage %s cannot be changed: %s", storage, strings.Join(g.Problems, "; ")))
		case g.To != "":
			all = append(all, growing{v1.GrownStorage{Name: storage, Claim: name, From: g.From, To: g.To}, there[i]})
		}
	}
	return all, again, unchangeable(problems)
}

// unchangeable is the error of claims that cannot follow; nil without any.
func unchangeable(problems []string) error {
	if len(problems) == 0 {
		return nil
	}
	err := fault.New(fault.Failed, "%s", problems[0])
	if len(problems) > 1 {
		err = fault.New(fault.Failed, "%d storages cannot be changed", len(problems))
		err.Problems = problems
	}
	return err.WithHint("nothing was changed: a claim can only grow. Leave its claimSpec as it was, or give the new storage another name, update, and copy the data")
}

// claims reads those of the claims that exist.
func (s session) claims(ctx context.Context, wanted []*unstructured.Unstructured) ([]*corev1.PersistentVolumeClaim,
	error,
) {
	there := make([]*corev1.PersistentVolumeClaim, len(wanted))
	group, ctx := errgroup.WithContext(ctx)
	for i, claim := range wanted {
		group.Go(func() error {
			found, err := s.Client.CoreV1().PersistentVolumeClaims(s.Client.Namespace).
				Get(ctx, claim.GetName(), metav1.GetOptions{})
			err = kube.Fault(err, kube.Call{
				Verb: "get", Resource: "persistentvolumeclaims", Namespace: s.Client.Namespace,
				Name: claim.GetName(),
			})
			if fault.CodeOf(err) == fault.NotFound {
				return nil
			}
			there[i] = found
			return err
		})
	}
	return there, group.Wait()
}

// grow asks for more storage, of these very claims. In a dry run the API server says whether
// their class allows it. Without a lock nothing is confirmed.
func (s session) grow(ctx context.Context, held *lock.Lock, all []growing, dry apply.DryRun) error {
	for _, g := range all {
		if held != nil {
			if err := held.Confirm(ctx); err != nil {
				return err
			}
		}
		patch, err := json.Marshal(map[string]any{
			"metadata": map[string]any{"uid": g.claim.UID, "resourceVersion": g.claim.ResourceVersion},
			"spec":     map[string]any{"resources": map[string]any{"requests": map[string]any{"storage": g.To}}},
		})
		if err != nil {
			return err
		}
		options := metav1.PatchOptions{FieldManager: kube.FieldManager, DryRun: dry.Options()}
		_, err = s.Client.CoreV1().PersistentVolumeClaims(s.Client.Namespace).
			Patch(ctx, g.Claim, types.MergePatchType, patch, options)
		if err := kube.Fault(err, kube.Call{
			Verb: "patch", Resource: "persistentvolumeclaims",
			Namespace: s.Client.Namespace, Name: g.Claim,
		}); err != nil {
			return g.refused(err)
		}
	}
	return nil
}

// refused says which storage cannot grow, and what to do.
func (g growing) refused(err error) error {
	switch fault.CodeOf(err) {
	case fault.Failed:
		return fault.New(fault.Failed, "storage %s cannot grow from %s to %s: %w", g.Name, g.From, g.To, err).
			WithHint("the pod was not replaced. Leave the size of the storage at %s, or ask your cluster administrator for a storage class that allows expansion", g.From)
	case fault.Conflict:
		return fault.New(fault.Conflict, "%s was changed meanwhile", kube.Object("persistentvolumeclaim", g.Claim)).
			WithHint("try again")
	}
	return err
}

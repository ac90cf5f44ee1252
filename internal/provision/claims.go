package provision

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/apply"
	podexec "github.com/berthdev/berth/internal/exec/pod"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/lock"
	"github.com/berthdev/berth/internal/provision/deploy"
	"github.com/berthdev/berth/internal/provision/inventory"
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
func (s session) growth(ctx context.Context, d deploy.Deployment, before map[string]any) (all []growing,
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
			problems = append(problems, fmt.Sprintf("storage %s cannot be changed: %s", storage,
				strings.Join(g.Problems, "; ")))
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
	return err.WithHint("nothing was changed: a claim can only grow. Leave its claimSpec as it was, or give the new " +
		"storage another name, update, and copy the data")
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
			WithHint("the pod was not replaced. Leave the size of the storage at %s, or ask your cluster "+
				"administrator for a storage class that allows expansion", g.From)
	case fault.Conflict:
		return fault.New(fault.Conflict, "%s was changed meanwhile", kube.Object("persistentvolumeclaim", g.Claim)).
			WithHint("try again")
	}
	return err
}

// Storage is one storage of a workspace, before it is deleted.
type Storage struct {
	v1.DeletedStorage
	// Used is how many bytes its files take; nil if that is not known.
	Used *int64
}

// usageTime is how long is measured how much is used: somebody waits for a question.
const usageTime = 2 * time.Second

// Storage is the storage that Delete would remove. How much of it is used is known only
// while the workspace runs, and to callers that may run commands in it.
func (p *Provisioner) Storage(ctx context.Context, t *inventory.Target) ([]Storage, error) {
	changes, err := p.PreviewDelete(ctx, t, deploy.Removing{DryRun: apply.DryRunClient})
	if err != nil {
		return nil, err
	}
	claims := deploy.Storage(t.ID, changes.With(apply.Deleted).Objects(), false)
	if len(claims) == 0 {
		return nil, nil
	}
	used := p.usage(ctx, t)
	all := make([]Storage, len(claims))
	for i, claim := range claims {
		all[i].DeletedStorage = claim
		if bytes, measured := used[claim.Claim]; measured {
			all[i].Used = &bytes
		}
	}
	return all, nil
}

// usage measures how many bytes the claims of a workspace that runs hold.
func (p *Provisioner) usage(ctx context.Context, t *inventory.Target) map[string]int64 {
	if len(t.Found.Kept) > 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, usageTime)
	defer cancel()
	pods, err := p.Pods(ctx, t)
	if err != nil {
		return nil
	}
	mounts := mountsOf(pods[0])
	var paths []string
	for _, path := range mounts {
		paths = append(paths, path)
	}
	byPath, used := podexec.Usage(ctx, p.Client, pods[0], paths), map[string]int64{}
	for claim, path := range mounts {
		if bytes, measured := byPath[path]; measured {
			used[claim] = bytes
		}
	}
	return used
}

// mountsOf are the directories where the workspace's container has the claims, by their
// names.
func mountsOf(pod *corev1.Pod) map[string]string {
	mounts, claims := map[string]string{}, map[string]string{}
	for _, volume := range pod.Spec.Volumes {
		if volume.PersistentVolumeClaim != nil {
			claims[volume.Name] = volume.PersistentVolumeClaim.ClaimName
		}
	}
	for _, container := range pod.Spec.Containers {
		for _, mount := range container.VolumeMounts {
			if claim := claims[mount.Name]; claim != "" && container.Name == kube.MainContainer(pod.Labels) {
				mounts[claim] = mount.MountPath
			}
		}
	}
	return mounts
}

// KeepsFiles is false for a workspace whose pod has no storage at all. One that is injected may have
// storages: its pods are not looked at.
func KeepsFiles(t *inventory.Target) bool {
	return t.Found.Pod == nil || len(mountsOf(t.Found.Pod)) > 0
}

// LosesFiles is true for a workspace whose pods have files that no storage keeps where people
// work: its home directory is in none. A home is never mounted into the pods of a workload.
func LosesFiles(t *inventory.Target) bool {
	if t.Found.Pod == nil {
		return t.Found.Workload.Injected()
	}
	home := podexec.Home(t.Found.Pod, kube.MainContainer(t.Found.Pod.Labels))
	for _, mounted := range mountsOf(t.Found.Pod) {
		if home != "" && strings.HasPrefix(home+"/", strings.TrimSuffix(mounted, "/")+"/") {
			return false
		}
	}
	return true
}

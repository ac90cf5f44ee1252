package provision

import (
	"context"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/apply"
	podexec "github.com/berthdev/berth/internal/exec/pod"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/provision/deploy"
	"github.com/berthdev/berth/internal/provision/inventory"
)

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

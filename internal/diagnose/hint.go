// Package diagnose says what to do about a cause, and fetches what the failing
// container said last.
package diagnose

import (
	"fmt"
	"strings"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/watch"
)

// About is what a hint may name besides the cause itself.
type About struct {
	Blueprint string
	Origin    string // file:line of the blueprint
	Memory    string // what the blueprint allows
}

// Hint is one thing to do about a cause, for somebody who does not know
// Kubernetes well. Empty if there is nothing to say.
func Hint(cause *v1.Cause, about About) string {
	if cause == nil {
		return ""
	}
	return strings.NewReplacer(
		"{field}", about.field(),
		"{memory}", about.Memory,
		"{container}", cause.Container,
	).Replace(hints()[cause.Code])
}

func (a About) field() string {
	if a.Blueprint == "" {
		return "the blueprint"
	}
	if a.Origin == "" || strings.HasPrefix(a.Origin, "built in") {
		return "blueprint " + a.Blueprint
	}
	return fmt.Sprintf("blueprint %s (%s)", a.Blueprint, a.Origin)
}

func hints() map[string]string {
	return map[string]string{
		watch.CauseImageNotFound:       "The registry answered, but has no such image or tag. Check \"image\" in {field}.",
		watch.CauseImagePullDenied:     "The registry wants a password for this image, or there is no such image. Check \"image\" in {field} and the pull secret of the namespace.",
		watch.CauseImageWrongPlatform:  "The image is not built for the node's processor. Use an image for it, or one for several platforms, in {field}.",
		watch.CauseImageNotPresent:     "imagePullPolicy is Never and the node does not have the image. Set it to IfNotPresent in {field}.",
		watch.CauseInvalidImageName:    "Correct \"image\" in {field}.",
		watch.CauseRegistryUnreachable: "The node cannot reach the registry. Check the registry's host name in {field}, and whether nodes may reach it.",
		watch.CauseRegistryRateLimited: "The registry refuses more pulls for now. Wait, or use a registry of your own.",
		watch.CauseImagePullFailed:     "Check \"image\" in {field}.",
		watch.CauseConfigMissing:       "Create what is missing in the namespace, or leave it out in {field}.",
		watch.CauseCommandNotFound:     "The image has no such program; a workspace needs a /bin/sh. Use another image in {field}.",
		watch.CauseExecFormat:          "The program is built for another processor. Use an image for the node's platform in {field}.",
		watch.CauseInitFailed:          "What {container} said last tells why. Check image and storages in {field}.",
		watch.CauseOOMKilled:           "It needs more memory than {memory}. Raise resources.memory in {field}.",
		watch.CauseCrashLoop:           "What {container} said last tells why. Check the image in {field}.",
		watch.CauseContainerExited:     "What {container} said last tells why.",
		watch.CauseProbeFailed:         "The container runs, but does not report ready: an init script may still be running.",
		watch.CauseUnschedulable:       "No node has room. Lower resources in {field}, delete workspaces you do not need, or add a node.",
		watch.CauseEvicted:             "The node ran out of what the message names. Provision again.",
		watch.CausePodDeleted:          "Somebody deleted it. Provision again.",
		watch.CauseVolumeUnbound:       "No volume fits the claim and none is made. Name a storageClassName that exists (kubectl get storageclass) in {field}.",
		watch.CauseVolumePending:       "The volume is still being made. If that does not end, look at the storage class (kubectl get storageclass).",
		watch.CauseStorageClassMissing: "Name a storageClassName that exists (kubectl get storageclass) in {field}.",
		watch.CauseVolumeMissingObject: "Create what is missing in the namespace.",
		watch.CauseQuotaExceeded:       "The namespace's quota is used up. Lower resources in {field}, or delete what you do not need.",
		watch.CausePodRefused:          "The cluster's admission rules refuse the pod. Talk to who administers the cluster.",
	}
}

package diagnose

import "github.com/berthdev/berth/internal/watch"

// hints is the table: for each cause what it means, and the command or the
// change that mends it. What stands in braces is put in by Hint.
func hints() map[string]string {
	return map[string]string{
		watch.CauseImageNotFound:       "The registry answered, but has no such image or tag. Check {image-field}. {again}",
		watch.CauseImagePullDenied:     "The registry is private or has no such image. Check {image-field}; if it is right, the namespace needs a pull secret: `kubectl create secret docker-registry registry{ns} --docker-server=HOST --docker-username=USER --docker-password=PASSWORD`, then `kubectl patch serviceaccount default{ns} -p '{\"imagePullSecrets\":[{\"name\":\"registry\"}]}'`. {again}",
		watch.CauseImageWrongPlatform:  "The image is not built for the processor of the node (`kubectl get nodes --label-columns kubernetes.io/arch` shows which that is). Build it for several platforms, or name one that is in {image-field}. {again}",
		watch.CauseImageNotPresent:     "The pull policy is Never, and the node does not have {image}. Set \"imagePullPolicy\" to IfNotPresent in {spec}. {again}",
		watch.CauseInvalidImageName:    "This is no name that an image can have: it is HOST/PATH:TAG, in lower case. Correct {image-field}. {again}",
		watch.CauseRegistryUnreachable: "The node cannot reach the registry. Check the host in {image-field}, and whether the cluster's nodes may reach it. It is tried again without end.",
		watch.CauseRegistryRateLimited: "The registry refuses more pulls for now. Wait for some minutes, log in with a pull secret for a higher limit, or use a registry of your own in {image-field}.",
		watch.CauseImagePullFailed:     "The image did not arrive whole. Check {image-field}, and the registry with `docker pull {image}`.",

		watch.CauseConfigMissing:   "{missing} Or leave it out in {spec}. It is tried again by itself.",
		watch.CauseCommandNotFound: "The image has no such program: {command-field}. {again}",
		watch.CauseExecFormat:      "The program is built for another processor than the node's (`kubectl get nodes --label-columns kubernetes.io/arch`), or is a script without #! in its first line. Use an image for the node's platform in {image-field}. {again}",
		watch.CauseStartFailed:     "The node could not start the container. Check command, mounts and security context in {spec}. {again}",
		watch.CauseInitFailed:      "An init container has to end well before the others begin, and this one did not. {exit} {last-words}",
		watch.CauseOOMKilled:       "It used {limit}, and the node killed it for that. Raise {memory-field}. {again}",
		watch.CauseCrashLoop:       "{container} starts, ends, and is started again, at ever longer intervals. {exit} {probed} {last-words}",
		watch.CauseContainerExited: "{exit} {last-words}",
		watch.CauseProbeFailed:     "{container} runs, but does not say that it is ready. {probe} It may need more time, or listen on another port or address. {last-words}",
		watch.CauseReadinessGate:   "Somebody else has to say that the pod is ready, such as a load balancer's controller: see whether it runs, or remove the readiness gate from {spec}.",

		watch.CauseUnschedulable:      "{nodes} {room}",
		watch.CauseSchedulingGated:    "The pod is held back on purpose until whoever set its scheduling gate removes that: `kubectl get pods{ns} -o jsonpath='{range .items[*]}{.metadata.name} {.spec.schedulingGates}{\"\\n\"}{end}'`.",
		watch.CauseSandboxFailed:      "The node could not set up the pod's network or its runtime. It is tried again; if that does not end, the node's network plugin is broken: talk to who administers the cluster.",
		watch.CauseEvicted:            "The node ran out of what the message names, or the pod used more than it may. Raise the limit in {spec}, or use less. {anew}",
		watch.CausePreempted:          "A pod of a higher priority took its place. Ask for a higher priorityClassName, or add a node. {anew}",
		watch.CauseNodeOutOfResources: "The node had no room left when the pod arrived. Lower {requests-field}, or try again: another node may have room. {anew}",
		watch.CauseNodeAffinity:       "The node's labels no longer fit what {spec} asks for. {anew}",
		watch.CauseDeadlineExceeded:   "It ran for longer than activeDeadlineSeconds permits. Raise that in {spec}. {again}",
		watch.CausePodFailed:          "The pod has ended and is not started again. {anew}",
		watch.CausePodDeleted:         "Somebody deleted it, or what it belonged to. {anew}",

		watch.CauseVolumeUnbound:       "No volume fits the claim, and no storage class makes one. Name one that exists (`kubectl get storageclass`) as {class-field}. {again}",
		watch.CauseVolumePending:       "The volume is still being made. If that does not end, the storage class cannot do it: `kubectl describe pvc{ns}` says why.",
		watch.CauseStorageClassMissing: "{missing} Name one that does (`kubectl get storageclass`) as {class-field}. {again}",
		watch.CauseClaimMissing:        "The volume claim that is to be mounted does not exist: `kubectl get pvc{ns}` lists those that do. Create it, or name another one in {spec}.",
		watch.CauseVolumeMissingObject: "{missing} Or leave the volume out in {spec}. It is tried again by itself.",
		watch.CauseVolumeNotMounted:    "The node cannot attach or mount the volume. If another node still uses it, that takes up to 6 minutes; otherwise `kubectl get volumeattachments` and the storage's driver tell more.",

		watch.CauseQuotaExceeded:    "{quota} {retried}",
		watch.CausePodRefused:       "{refused} {retried}",
		watch.CauseProgressDeadline: "No new pod became ready for as long as progressDeadlineSeconds permits. Look at the pods themselves (`kubectl get pods{ns}`); `kubectl rollout undo deployment/{name}{ns}` goes back to the revision before.",
		watch.CauseJobFailed:        "The job has given up after its retries (backoffLimit) or its time (activeDeadlineSeconds). `kubectl logs{ns} --selector job-name={name}` shows what its pods said; delete the job and apply it again.",
	}
}

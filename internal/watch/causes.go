package watch

// The codes of causes: stable words for scripts and for the table of hints.
const (
	// The image.
	CauseImageNotFound       = "ImageNotFound"       // no such repository, tag or digest
	CauseImagePullDenied     = "ImagePullDenied"     // needs a pull secret, or another one
	CauseImageWrongPlatform  = "ImageWrongPlatform"  // not built for the node's architecture
	CauseImageNotPresent     = "ImageNotPresent"     // pull policy Never, and the node does not have it
	CauseInvalidImageName    = "InvalidImageName"    // malformed
	CauseRegistryUnreachable = "RegistryUnreachable" // DNS, network, TLS, 5xx
	CauseRegistryRateLimited = "RegistryRateLimited" // 429
	CauseImagePullFailed     = "ImagePullFailed"     // for another reason

	// The container.
	CauseConfigMissing   = "ConfigMissing"   // a ConfigMap, Secret or key in the environment
	CauseCommandNotFound = "CommandNotFound" // the executable is not in the image
	CauseExecFormat      = "ExecFormat"      // the executable is for another architecture
	CauseStartFailed     = "StartFailed"     // could not be created or started otherwise
	CauseInitFailed      = "InitFailed"      // an init container exited with a status other than 0
	CauseOOMKilled       = "OOMKilled"       // used more memory than its limit
	CauseCrashLoop       = "CrashLoop"       // more restarts than the threshold
	CauseContainerExited = "ContainerExited" // ended and is not restarted, or not too often yet
	CauseProbeFailed     = "ProbeFailed"     // runs, but its probe says no
	CauseReadinessGate   = "ReadinessGate"   // everything is ready but a condition set by others

	// The node.
	CauseUnschedulable      = "Unschedulable"      // no node fits
	CauseSchedulingGated    = "SchedulingGated"    // held back on purpose
	CauseSandboxFailed      = "SandboxFailed"      // network or runtime of the node
	CauseEvicted            = "Evicted"            // by the kubelet or for a drain
	CausePreempted          = "Preempted"          // for a pod of higher priority
	CauseNodeOutOfResources = "NodeOutOfResources" // the node refused it: OutOfcpu, OutOfmemory, …
	CauseNodeAffinity       = "NodeAffinity"       // the node no longer matches
	CauseDeadlineExceeded   = "DeadlineExceeded"   // activeDeadlineSeconds
	CausePodFailed          = "PodFailed"          // for another reason
	CausePodDeleted         = "PodDeleted"         // somebody deleted it

	// Volumes.
	CauseVolumeUnbound       = "VolumeUnbound"       // no PersistentVolume exists for the claim
	CauseVolumePending       = "VolumePending"       // the claim is not provisioned yet
	CauseStorageClassMissing = "StorageClassMissing" // the claim's class does not exist
	CauseClaimMissing        = "ClaimMissing"        // the claim does not exist
	CauseVolumeMissingObject = "VolumeMissingObject" // the ConfigMap or Secret to mount does not exist
	CauseVolumeNotMounted    = "VolumeNotMounted"    // attach or mount fails otherwise

	// Workloads: no pod could be made.
	CauseQuotaExceeded    = "QuotaExceeded"
	CausePodRefused       = "PodRefused" // admission, pod security, service account
	CauseProgressDeadline = "ProgressDeadlineExceeded"
	CauseJobFailed        = "JobFailed"
)

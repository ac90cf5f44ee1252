package cause

// The causes for which an image does not come.
const (
	ImageNotFound       = "ImageNotFound"       // no such repository, tag or digest
	ImagePullDenied     = "ImagePullDenied"     // needs a pull secret, or another one
	ImageWrongPlatform  = "ImageWrongPlatform"  // not built for the node's architecture
	ImageNotPresent     = "ImageNotPresent"     // pull policy Never, and the node does not have it
	BadImageName        = "InvalidImageName"    // malformed
	ImageShortName      = "ImageShortName"      // without a registry, and the node does not guess one
	ImageUnsigned       = "ImageUnsigned"       // the node wants a signature
	ImageUnsupported    = "ImageUnsupported"    // in a format that the runtime does not read
	ImageBlocked        = "ImageBlocked"        // by a policy of the registry
	NotARegistry        = "NotARegistry"        // a web page answers in its place
	RegistryUnreachable = "RegistryUnreachable" // DNS, network, 5xx
	RegistryUntrusted   = "RegistryUntrusted"   // its certificate is not trusted by the node
	RegistryPlainHTTP   = "RegistryPlainHTTP"   // speaks HTTP where the node speaks HTTPS
	RegistryRateLimited = "RegistryRateLimited" // 429
	NodeDiskFull        = "NodeDiskFull"        // the node has no room for it
	ImagePullFailed     = "ImagePullFailed"     // for another reason
)

// The causes for which a container is not created or started.
const (
	ConfigMissing   = "ConfigMissing"   // a ConfigMap, Secret or key in the environment
	CommandNotFound = "CommandNotFound" // the executable is not in the image
	NotExecutable   = "NotExecutable"   // it is, but may not be executed
	ExecFormat      = "ExecFormat"      // the executable is for another architecture
	BadMount        = "BadMount"        // a volume cannot be put where it shall be
	RootRefused     = "RootRefused"     // runAsNonRoot, and the image's user is root
	OSMismatch      = "OSMismatch"      // the image is for another version of Windows, or another system
	NoIDMaps        = "NoIDMaps"        // hostUsers: false, and a file system that cannot map users
	RuntimeSlow     = "RuntimeSlow"     // the node does not get to it in time
	StartFailed     = "StartFailed"     // could not be created or started otherwise
)

// The causes for which a container does not keep running.
const (
	InitFailed      = "InitFailed"      // an init container exited with a status other than 0
	OutOfMemory     = "OOMKilled"       // used more memory than its limit
	CrashLoop       = "CrashLoop"       // more restarts than the threshold
	ContainerExited = "ContainerExited" // ended and is not restarted, or not too often yet
)

// The causes of a postStart hook, which the kubelet runs in a container that has just
// started: the container counts as running only when it has returned.
const (
	HookFailed = "HookFailed" // for which the container is killed
	HookHangs  = "HookHangs"  // it has not returned
)

// The causes that only the last words of a container tell: what it has left as its
// termination message, which is the end of its log if the pod asks for that.
const (
	ReadOnlyFilesystem  = "ReadOnlyFilesystem"  // writes where it may not
	PermissionDenied    = "PermissionDenied"    // its user may not
	FileMissing         = "FileMissing"         // a file, a module or a library
	DiskFull            = "DiskFull"            // a volume or the node's disk
	HeapExhausted       = "HeapExhausted"       // the limit of its own runtime
	AddressInUse        = "AddressInUse"        // another has its port
	HostNotFound        = "HostNotFound"        // a name that DNS does not have
	ServiceUnreachable  = "ServiceUnreachable"  // what it needs does not answer
	LoginRefused        = "LoginRefused"        // it does, and refuses the login
	CertificateRejected = "CertificateRejected" // it does, and is not trusted
	CPUUnsupported      = "CPUUnsupported"      // instructions that the node's processor does not have
	TooManyOpenFiles    = "TooManyOpenFiles"    // a limit of the process, its user or the node
)

// The causes for which what runs is not ready. They fail nothing: either may
// still become ready.
const (
	ProbeFailed   = "ProbeFailed"   // runs, but its probe says no
	ReadinessGate = "ReadinessGate" // everything is ready but a condition set by others
)

// The causes of what has gone on for long while nothing says why. They fail nothing: it
// may be work.
const (
	SlowInit  = "SlowInit"  // an init container that runs
	SlowPull  = "SlowPull"  // an image that is being pulled
	SlowStart = "SlowStart" // a container that runs and is not ready
)

// The causes for which a pod has no node. They fail nothing, for nodes come and
// go; under Patient, a node that is being added has to come within the grace period.
const (
	Unschedulable   = "Unschedulable"   // no node fits
	SchedulingGated = "SchedulingGated" // held back on purpose
	SchedulerSilent = "SchedulerSilent" // no scheduler says anything
	SchedulerError  = "SchedulerError"  // the scheduler itself failed, and tries again
)

// The causes for which a node cannot run a pod, or a pod is over.
const (
	SandboxFailed      = "SandboxFailed"      // network or runtime of the node
	ResourceNotReady   = "ResourceNotReady"   // the driver of a ResourceClaim does not prepare it
	Evicted            = "Evicted"            // by the kubelet or for a drain
	NodeOutOfProcesses = "NodeOutOfProcesses" // by the kubelet, whose node has no process IDs left
	Preempted          = "Preempted"          // for a pod of higher priority
	NodeOutOfResources = "NodeOutOfResources" // the node refused it: OutOfcpu, OutOfmemory, …
	NodeAffinity       = "NodeAffinity"       // the node no longer matches
	DeadlineExceeded   = "DeadlineExceeded"   // activeDeadlineSeconds
	PodRejected        = "PodRejected"        // the node refuses it as it is specified
	DeviceNotReady     = "DeviceNotReady"     // the node has no healthy device left for it
	ProviderFailed     = "ProviderFailed"     // the provider behind a virtual node could not make it
	PodFailed          = "PodFailed"          // for another reason
	PodDeleted         = "PodDeleted"         // the pod was deleted
)

// The causes for which a pod waits on its node. They fail nothing: a node comes back, or
// the pod is deleted and made again elsewhere.
const (
	NodeLost           = "NodeLost"           // nothing is heard of the node
	NodeNotReady       = "NodeNotReady"       // the node says that it is not ready
	NetworkNotReady    = "NetworkNotReady"    // its network plugin is not there
	KubeletSilent      = "KubeletSilent"      // the node says nothing about the pod
	TerminationOverdue = "TerminationOverdue" // the pod ends for longer than it may
	FinalizerHolds     = "FinalizerHolds"     // it has ended, and somebody's finalizer keeps it
)

// The causes for which a volume claim has no volume. Only VolumeUnbound fails under
// both policies.
const (
	VolumeUnbound       = "VolumeUnbound"       // no PersistentVolume exists for the claim
	VolumePending       = "VolumePending"       // the claim is not provisioned yet
	ProvisionerSilent   = "ProvisionerSilent"   // its provisioner has not begun
	StorageClassMissing = "StorageClassMissing" // the claim's class does not exist
	ClaimMissing        = "ClaimMissing"        // the claim does not exist
	ClaimLost           = "ClaimLost"           // the claim's volume does not exist any more
	ClaimTerminating    = "ClaimTerminating"    // the claim is being deleted
)

// The causes for which a node does not get a volume. A volume that another node still
// has is waited for, under Patient for the grace period.
const (
	VolumeMissingObject = "VolumeMissingObject" // the ConfigMap or Secret to mount does not exist
	VolumeOwnership     = "VolumeOwnership"     // the node changes the owner of every file
	VolumeNotMounted    = "VolumeNotMounted"    // attach or mount fails otherwise
)

// The causes for which the API server does not accept a pod. A pod of its own
// fails, as nothing tries again; a workload waits, as its controller does.
const (
	QuotaExceeded        = "QuotaExceeded"
	PodRefused           = "PodRefused"           // admission, pod security, service account
	PodInvalid           = "PodInvalid"           // the specification contradicts itself
	WebhookUnreachable   = "WebhookUnreachable"   // what admits pods does not answer
	NamespaceTerminating = "NamespaceTerminating" // takes no more pods
	NameInUse            = "NameInUse"            // the pod of that name is still there
	APIServerBusy        = "APIServerBusy"        // it could not answer
)

// The causes for which a workload does not get on, beside those of its pods. A
// deadline that has passed fails nothing: the pods may still become ready.
const (
	ProgressDeadline = "ProgressDeadlineExceeded"
	JobFailed        = "JobFailed"
)

// The causes for which a workload makes no pods, though nothing is wrong: somebody
// has said so, or another pod has to come first.
const (
	JobSuspended    = "JobSuspended"    // spec.suspend
	RolloutPaused   = "RolloutPaused"   // spec.paused
	RevisionBlocked = "RevisionBlocked" // a StatefulSet's pod of the revision before is not ready
)

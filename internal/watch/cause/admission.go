package cause

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

const failedCreate = "FailedCreate"

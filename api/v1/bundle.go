package v1

import "time"

// BundleInstallation is what `berth bundle install` or `berth bundle rollback` did.
type BundleInstallation struct {
	TypeMeta
	// Name is that of the BundleInstance and of its Helm release.
	Name string `json:"name"`
	// Action says what became of it.
	Action BundleAction `json:"action"`
	// Bundle is the Bundle that is installed now, and Previous the one before it.
	Bundle   string        `json:"bundle"`
	Previous string        `json:"previous,omitempty"`
	Content  BundleContent `json:"content"`
	// Namespace is that of objects which name none, and SystemNamespace where berth keeps the release.
	Namespace       string `json:"namespace"`
	SystemNamespace string `json:"systemNamespace"`
	// Revision is that of the Helm release, and RolledBackTo the one that was to be had again.
	Revision     int           `json:"revision,omitempty"`
	RolledBackTo int           `json:"rolledBackTo,omitempty"`
	Objects      BundleChanges `json:"objects"`
	// Healthy is false if the command did not wait for that.
	Healthy bool `json:"healthy"`
	// Notes are what a chart says to anyone who installs it.
	Notes  string  `json:"notes,omitempty"`
	Timing *Timing `json:"timing,omitempty"`
}

// BundleAction is what became of an instance.
type BundleAction string

// What can become of it. Unchanged is also an instance of which objects were repaired.
const (
	BundleInstalled BundleAction = "installed"
	BundleUpgraded  BundleAction = "upgraded"
	BundleUnchanged BundleAction = "unchanged"
	// BundleRequested is left to the server that reconciles the instance.
	BundleRequested BundleAction = "requested"
)

// BundleChanges count what was done with the objects.
type BundleChanges struct {
	Created   int `json:"created"`
	Updated   int `json:"updated"`
	Deleted   int `json:"deleted"`
	Unchanged int `json:"unchanged"`
}

// BundleContent is what is in a bundle: also the answer to `berth bundle unpack` and `berth bundle validate`.
type BundleContent struct {
	TypeMeta
	// Source names what was fetched, in one line, and exactly.
	Source string `json:"source"`
	// Digest is that of the content; it depends on names and contents of files alone.
	Digest string `json:"digest"`
	Files  int    `json:"files"`
	Bytes  int64  `json:"bytes"`
	// SignedBy is the key with which it was signed, if that was verified.
	SignedBy string `json:"signedBy,omitempty"`
	// Format is plain+v0, yaml, kustomize, helm or registry+v1. What was only unpacked may have none.
	Format string `json:"format,omitempty"`
	// Package and Version are those of the chart or of the registry's package.
	Package string `json:"package,omitempty"`
	Version string `json:"version,omitempty"`
	// Objects count what would be installed, by kind.
	Objects map[string]int `json:"objects,omitempty"`
	// Directory is where it was unpacked to.
	Directory string   `json:"directory,omitempty"`
	Warnings  []string `json:"warnings,omitempty"`
	// Unchecked are the objects that `berth bundle validate` could not check, or not all of each: nothing is wrong with
	// the others.
	Unchecked []UncheckedObject `json:"unchecked,omitempty"`
}

// UncheckedObject is an object that could not be checked, and why.
type UncheckedObject struct {
	// Object is kind/name.
	Object    string `json:"object"`
	Namespace string `json:"namespace,omitempty"`
	Reason    string `json:"reason"`
}

// BundleState is a BundleInstance in its current state, and the answer to `berth bundle status`.
type BundleState struct {
	TypeMeta
	Name string `json:"name"`
	// Class says who reconciles it.
	Class string `json:"class"`
	// Source names what is wanted, in one line.
	Source    string          `json:"source"`
	Namespace string          `json:"namespace,omitempty"`
	State     BundleStateName `json:"state"`
	Message   string          `json:"message,omitempty"`
	CreatedAt time.Time       `json:"createdAt,omitzero"`
	// Installed is the Bundle that is installed, and Revision that of its release.
	Installed  string            `json:"installed,omitempty"`
	Revision   int               `json:"revision,omitempty"`
	Conditions []BundleCondition `json:"conditions,omitempty"`
	// Bundles are those of the instance, the wanted one first.
	Bundles []BundleOfInstance `json:"bundles,omitempty"`
	// Objects are what is installed, with the health of each; not in a list.
	Objects []BundleObject `json:"objects,omitempty"`
	// Watches are the namespaces that an operator watches, and Certificates are of what it serves; not in a list.
	Watches      *WatchedNamespaces  `json:"watches,omitempty"`
	Certificates []BundleCertificate `json:"certificates,omitempty"`
	// Warnings say what keeps it from being as it should be.
	Warnings []string `json:"warnings,omitempty"`
}

// WatchedNamespaces are those that an operator watches.
type WatchedNamespaces struct {
	All        bool     `json:"all"`
	Namespaces []string `json:"namespaces,omitempty"`
}

// BundleCertificate is a certificate of what a bundle serves.
type BundleCertificate struct {
	// Secret has it, in a namespace.
	Secret    string `json:"secret"`
	Namespace string `json:"namespace"`
	// EndsAt is when it is not valid any more, and RenewedFrom from when on a pass makes another one.
	EndsAt      time.Time `json:"endsAt,omitzero"`
	RenewedFrom time.Time `json:"renewedFrom,omitzero"`
	// Message is why it is not known when it ends.
	Message string `json:"message,omitempty"`
}

// BundleStateName is the state of an instance in a word.
type BundleStateName string

// The states of an instance.
const (
	BundlePending   BundleStateName = "Pending"
	BundleFailed    BundleStateName = "Failed"
	BundleUnhealthy BundleStateName = "Unhealthy"
	BundleHealthy   BundleStateName = "Healthy"
	BundleForeign   BundleStateName = "Foreign" // of another class
	BundleDeleting  BundleStateName = "Deleting"
)

// BundleCondition is a condition of a BundleInstance or of a Bundle.
type BundleCondition struct {
	Type    string    `json:"type"`
	Status  string    `json:"status"` // True, False or Unknown
	Reason  string    `json:"reason"`
	Message string    `json:"message,omitempty"`
	Since   time.Time `json:"since,omitzero"`
}

// BundleOfInstance is a Bundle of an instance.
type BundleOfInstance struct {
	Name   string `json:"name"`
	Phase  string `json:"phase"`
	Source string `json:"source"`
	Digest string `json:"digest,omitempty"`
	// ContentURL is where it is served; empty if nobody does, or the server is not told by what name.
	ContentURL string `json:"contentURL,omitempty"`
	Message    string `json:"message,omitempty"`
}

// BundleObject is an object that a bundle has installed.
type BundleObject struct {
	// Object is kind/name.
	Object    string `json:"object"`
	Namespace string `json:"namespace,omitempty"`
	// State is Current, InProgress, Failed or Missing.
	State   string `json:"state"`
	Message string `json:"message,omitempty"`
	// Cause is what keeps the pods of a workload from running, where that is known.
	Cause *Cause `json:"cause,omitempty"`
}

// BundleStateList is a list of instances.
type BundleStateList struct {
	TypeMeta
	Items []BundleState `json:"items"`
}

// BundleHistory is the answer to `berth bundle history`: what is recorded of an instance.
type BundleHistory struct {
	TypeMeta
	Name string `json:"name"`
	// Items are the revisions, the newest first.
	Items []BundleRevision `json:"items"`
	// Warnings name the revisions whose records cannot be read.
	Warnings []string `json:"warnings,omitempty"`
}

// BundleRevision is a revision of an instance's Helm release: an installation or an upgrade, or an attempt of one.
type BundleRevision struct {
	Revision int `json:"revision"`
	// Status is that of Helm's record: deployed, superseded, failed, pending-install or pending-upgrade, or another one
	// that helm has written.
	Status string `json:"status"`
	// At is when it was installed, or begun if it has not come that far.
	At time.Time `json:"at,omitzero"`
	// Bundle is the Bundle that it was made from, which may be gone, and Source what that was, in one line. What an
	// earlier berth or helm has recorded has neither, nor a digest.
	Bundle string `json:"bundle,omitempty"`
	Source string `json:"source,omitempty"`
	// Digest is that of the content.
	Digest string `json:"digest,omitempty"`
	// Package and Version are those of the chart or of the registry's package.
	Package string `json:"package,omitempty"`
	Version string `json:"version,omitempty"`
	// Dependencies are the charts that the chart depended on, as PATH VERSION.
	Dependencies []string `json:"dependencies,omitempty"`
	Objects      int      `json:"objects"`
	// Message is why it was not installed.
	Message string `json:"message,omitempty"`
}

// BundleRemoval is what `berth bundle uninstall` did.
type BundleRemoval struct {
	TypeMeta
	Name    string `json:"name"`
	Objects int    `json:"objects"`
	// Kept are what was left: definitions with the objects of their kinds, what is marked to be kept, and what belongs
	// to others.
	Kept     []KeptObject `json:"kept,omitempty"`
	NotFound bool         `json:"notFound,omitempty"`
	Seconds  float64      `json:"seconds"`
}

// KeptObject is an object that was left, and why.
type KeptObject struct {
	Object    string `json:"object"` // kind/name
	Namespace string `json:"namespace,omitempty"`
	Reason    string `json:"reason"`
}

// BundleReconciliation is what `berth bundle reconcile` did.
type BundleReconciliation struct {
	TypeMeta
	Items   []ReconciledObject `json:"items"`
	Seconds float64            `json:"seconds"`
}

// ReconciledObject is a Bundle or BundleInstance after a pass.
type ReconciledObject struct {
	Object string `json:"object"` // kind/name
	Error  *Error `json:"error,omitempty"`
}

// BundleDiff is the answer to `berth bundle diff`: what an installation would change.
type BundleDiff struct {
	TypeMeta
	Name  string             `json:"name"`
	Items []BundleDiffObject `json:"items"`
}

// BundleDiffObject is an object that would change.
type BundleDiffObject struct {
	Object    string `json:"object"` // kind/name
	Namespace string `json:"namespace,omitempty"`
	// Action is create, update or delete.
	Action string `json:"action"`
	// Diff are the lines that would change, as diff --unified has them. What Secrets hold is masked.
	Diff string `json:"diff,omitempty"`
}

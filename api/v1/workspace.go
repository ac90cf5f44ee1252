package v1

import "time"

// Workspace is one workspace in its current state.
type Workspace struct {
	TypeMeta
	// ID is the canonical ID: the name of the pod, the Service and the release.
	ID         string `json:"id"`
	Namespace  string `json:"namespace"`
	UserString string `json:"userString,omitempty"`
	Owner      string `json:"owner,omitempty"`
	Blueprint  string `json:"blueprint,omitempty"`
	// Workload is kind/name of what the workspace is injected into, if it is.
	Workload string `json:"workload,omitempty"`
	JobID    string `json:"jobId,omitempty"`
	// CreatedAt is when the workspace was created; where that is not recorded, when its pod was.
	CreatedAt time.Time `json:"createdAt,omitzero"`
	Snapshot
	// Startable is true where there is no pod, or one that is over, and `berth start` brings the workspace back.
	Startable bool `json:"startable,omitempty"`
	// Kept is true for a workspace that is deleted, and of which only storage is kept.
	Kept bool `json:"kept,omitempty"`
	// Scripts are its init scripts and what has become of them, as far as they have come. They are not in lists.
	Scripts []Script `json:"scripts,omitempty"`
	// ScriptsUnread says why that could not be seen, or not all of it.
	ScriptsUnread string `json:"scriptsUnread,omitempty"`
	// Unread is what the caller may not read, and what this was made without, such as "get nodes". It is not in lists.
	Unread []string `json:"unread,omitempty"`
	// State is its desired state; absent if none was ever recorded.
	State *State `json:"state,omitempty"`
	// Events are those that Kubernetes recorded about the pod and its claims, the one that happened last at the end;
	// repeats are one with a count. Only set with --events.
	Events []ObjectEvent `json:"events,omitempty"`
	// Drift are the settings in which a workspace that runs or starts differs from what would be provisioned now. They
	// are only compared by `berth provision`.
	Drift []string `json:"drift,omitempty"`
	// Update is set on the answer to `berth update`.
	Update *Update `json:"update,omitempty"`
	// Timing is set on the answer to a command that made or changed something.
	Timing *Timing `json:"timing,omitempty"`
}

// WorkspaceList is a list of workspaces.
type WorkspaceList struct {
	TypeMeta
	Items []Workspace `json:"items"`
}

// MainContainer is the name of the container that a workspace is; injected into the pod of a workload, it has the ID in
// front.
const MainContainer = "k8shell-main"

// MainImage is the image of the main container; of the first container where none has its name.
func (w Workspace) MainImage() string {
	first := ""
	for _, c := range w.Containers {
		switch {
		case c.Init:
		case c.Name == MainContainer || c.Name == w.ID+"-"+MainContainer:
			return c.Image
		case first == "":
			first = c.Image
		}
	}
	return first
}

// Timing says where a command's time went.
type Timing struct {
	// Seconds is the command's whole duration; to Running if it got there.
	Seconds float64 `json:"seconds"`
	// Steps are what the command did, in order.
	Steps []StepTiming `json:"steps,omitempty"`
	// Stages are what the pod went through, in order.
	Stages []StepTiming `json:"stages,omitempty"`
	// Requests is the number of API requests, watches included.
	Requests int `json:"requests,omitempty"`
}

// StepTiming is the duration of one step or stage.
type StepTiming struct {
	Name    string  `json:"name"`
	Seconds float64 `json:"seconds"`
}

// Update is what `berth update` has changed, or was to change.
type Update struct {
	// Changes are the settings that differed: image a → b. If there are none, the workspace is what it is to be, and
	// nothing of it was replaced.
	Changes []string `json:"changes"`
	// Storage are the claims that have grown.
	Storage []GrownStorage `json:"storage,omitempty"`
	// Revision is that of Helm's record, of a workspace with a pod of its own.
	Revision int `json:"revision,omitempty"`
}

// GrownStorage is a storage whose claim has grown.
type GrownStorage struct {
	// Name is the storage's name in the blueprint.
	Name  string `json:"name"`
	Claim string `json:"claim"`
	// From and To are its sizes.
	From string `json:"from"`
	To   string `json:"to"`
}

// Stop is what `berth stop` did.
type Stop struct {
	TypeMeta
	ID         string `json:"id"`
	Namespace  string `json:"namespace"`
	UserString string `json:"userString,omitempty"`
	// Stopped is true once its pods are gone; with --no-wait they may still be ending.
	Stopped bool `json:"stopped"`
	// Already is true if it was stopped before.
	Already bool    `json:"already,omitempty"`
	Seconds float64 `json:"seconds"`
}

// Deletion is what `berth delete` did.
type Deletion struct {
	TypeMeta
	ID        string  `json:"id"`
	Namespace string  `json:"namespace"`
	Objects   int     `json:"objects"`
	Seconds   float64 `json:"seconds"`
	// Gone is false when the command did not wait for the pod to end.
	Gone bool `json:"gone"`
	// NotFound is true if there was nothing to delete, and that was no error.
	NotFound bool `json:"notFound,omitempty"`
	// Storage are the storages that were deleted with the workspace, or kept.
	Storage []DeletedStorage `json:"storage,omitempty"`
}

// DeletedStorage is one storage of a workspace that was deleted.
type DeletedStorage struct {
	// Name is that of the blueprint's storage.
	Name string `json:"name"`
	// Claim is the name of the PersistentVolumeClaim.
	Claim string `json:"claim"`
	// Capacity is a Kubernetes quantity.
	Capacity string `json:"capacity,omitempty"`
	// Kept is true if the claim is left, for the next workspace of the same user string.
	Kept bool `json:"kept,omitempty"`
}

// ProvisionSummary is what became of the workspaces that one command provisioned together.
type ProvisionSummary struct {
	TypeMeta
	// Items are in the order in which they were asked for.
	Items []ProvisionItem `json:"items"`
	Totals
}

// ProvisionItem is one of them: exactly one of Workspace and Error is set.
type ProvisionItem struct {
	UserString string     `json:"userString"`
	ID         string     `json:"id"`
	Workspace  *Workspace `json:"workspace,omitempty"`
	Error      *Error     `json:"error,omitempty"`
}

// DeletionSummary is what became of the workspaces that one command deleted together.
type DeletionSummary struct {
	TypeMeta
	// Items are in the order in which they were asked for.
	Items []DeletionItem `json:"items"`
	Totals
}

// DeletionItem is one of them: exactly one of Deletion and Error is set.
type DeletionItem struct {
	// Argument is the argument that named it; absent with --owner.
	Argument   string    `json:"argument,omitempty"`
	UserString string    `json:"userString,omitempty"`
	ID         string    `json:"id"`
	Namespace  string    `json:"namespace"`
	Deletion   *Deletion `json:"deletion,omitempty"`
	Error      *Error    `json:"error,omitempty"`
}

// StateSummary is what became of the workspaces that one command stopped, started or restarted together.
type StateSummary struct {
	TypeMeta
	// Items are in the order in which they were asked for.
	Items []StateItem `json:"items"`
	Totals
}

// StateItem is one of them: exactly one of Stop, Workspace and Error is set.
type StateItem struct {
	// Argument is the argument that named it; absent with --owner.
	Argument   string     `json:"argument,omitempty"`
	UserString string     `json:"userString,omitempty"`
	ID         string     `json:"id"`
	Namespace  string     `json:"namespace"`
	Stop       *Stop      `json:"stop,omitempty"`
	Workspace  *Workspace `json:"workspace,omitempty"`
	Error      *Error     `json:"error,omitempty"`
}

// Totals count what became of several workspaces.
type Totals struct {
	// Succeeded and Failed add up to the number of items.
	Succeeded int `json:"succeeded"`
	Failed    int `json:"failed"`
	// AlreadyRunning are those of Failed that ran before, which is no failure of theirs: their error is ALREADY_EXISTS.
	AlreadyRunning int `json:"alreadyRunning,omitempty"`
	// ExitStatus is that of the command: 0, 3 if any failed, whatever their own codes are, 6 if all that did not
	// succeed ran before, or that of the signal by which it was interrupted.
	ExitStatus int `json:"exitStatus"`
	// Seconds is the whole duration; Requests the number of API requests, watches included.
	Seconds  float64 `json:"seconds"`
	Requests int     `json:"requests,omitempty"`
}

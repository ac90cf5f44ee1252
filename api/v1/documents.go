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
	// Startable is true where there is no pod, or one that is over, and `berth start` brings
	// the workspace back.
	Startable bool `json:"startable,omitempty"`
	// Kept is true for a workspace that is deleted, and of which only storage is kept.
	Kept bool `json:"kept,omitempty"`
	// Scripts are its init scripts and what has become of them, as far as they have come.
	// They are not in lists.
	Scripts []Script `json:"scripts,omitempty"`
	// ScriptsUnread says why that could not be seen, or not all of it.
	ScriptsUnread string `json:"scriptsUnread,omitempty"`
	// Unread is what the caller may not read, and what this was made without, such as
	// "get nodes". It is not in lists.
	Unread []string `json:"unread,omitempty"`
	// State is its desired state; absent if none was ever recorded.
	State *State `json:"state,omitempty"`
	// Events are those that Kubernetes recorded about the pod and its claims,
	// the one that happened last at the end; repeats are one with a count. Only
	// set with --events.
	Events []ObjectEvent `json:"events,omitempty"`
	// Drift are the settings in which a workspace that runs or starts differs from
	// what would be provisioned now. They are only compared by `berth provision`.
	Drift []string `json:"drift,omitempty"`
	// Update is set on the answer to `berth update`.
	Update *Update `json:"update,omitempty"`
	// Timing is set on the answer to a command that made or changed something.
	Timing *Timing `json:"timing,omitempty"`
}

// Update is what `berth update` has changed, or was to change.
type Update struct {
	// Changes are the settings that differed: image a → b. If there are none, the
	// workspace is what it is to be, and nothing of it was replaced.
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

// MainContainer is the name of the container that a workspace is; injected into
// the pod of a workload, it has the ID in front.
const MainContainer = "k8shell-main"

// MainImage is the image of the main container; of the first container where
// none has its name.
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

// WorkspaceList is a list of workspaces.
type WorkspaceList struct {
	TypeMeta
	Items []Workspace `json:"items"`
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

// Version is the answer to `berth version`.
type Version struct {
	TypeMeta
	Version   string `json:"version"`
	Commit    string `json:"commit,omitempty"`
	Date      string `json:"date,omitempty"`
	GoVersion string `json:"goVersion"`
	Platform  string `json:"platform"`
}

// Error is printed in place of a command's document when it fails.
type Error struct {
	TypeMeta
	// Code is one of the codes of `berth help exit-codes`.
	Code string `json:"code"`
	// Reason tells errors of one code apart: USER_UNKNOWN, USER_LOCKED,
	// USER_INVALID, BLUEPRINT_NOT_ALLOWED, PROVIDER_UNAVAILABLE, REPOSITORY_NOT_VISIBLE, RECORD_UNREADABLE,
	// STORAGE_OF_ANOTHER, INIT_SCRIPT_FAILED, STUCK.
	Reason     string `json:"reason,omitempty"`
	ExitStatus int    `json:"exitStatus"`
	Message    string `json:"message"`
	Detail     string `json:"-"` // the part of Message after how and when the command ended
	Hint       string `json:"hint,omitempty"`
	// Problems are the parts of an error that found more than one, each a line.
	Problems []string `json:"problems,omitempty"`
	// Excerpts are the lines of files that the problems are about, each with a mark below at
	// the place: one for each problem, empty where there is none; or none at all.
	Excerpts []string `json:"excerpts,omitempty"`
	// Workspace is the state of the workspace when the command gave up.
	Workspace *Workspace `json:"workspace,omitempty"`
	// Logs are the last lines of the container that failed.
	Logs *LogTail `json:"logs,omitempty"`
	// Left says what became of what there was on the cluster when provisioning
	// gave up.
	Left Left `json:"left,omitempty"`
}

// Left says what became of a workspace that could not be brought up.
type Left string

// What can become of it.
const (
	LeftKept    Left = "kept"
	LeftDeleted Left = "deleted"
)

// LogTail is the end of a container's log.
type LogTail struct {
	Container string   `json:"container"`
	Script    string   `json:"script,omitempty"`   // the init script that has failed, if it is its output alone
	Previous  bool     `json:"previous,omitempty"` // of the instance before the last restart
	Lines     []string `json:"lines"`
}

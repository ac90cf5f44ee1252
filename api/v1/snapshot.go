package v1

import "time"

// Snapshot is a reading of a workspace at one moment: its stage and whatever explains it.
type Snapshot struct {
	Stage  Stage  `json:"stage"`
	Status Status `json:"status"`
	// Since is when the stage began, as far as is known.
	Since time.Time `json:"since,omitzero"`
	// Message is what the stage is about, in a few words: the node, the image.
	Message string `json:"message,omitempty"`
	// Gone is true once a pod that existed has been deleted.
	Gone bool `json:"gone,omitempty"`
	// Ended is true for a pod that is over, with or without an error, and does not start again: it has ended, was
	// evicted, or its node was shut down.
	Ended      bool        `json:"ended,omitempty"`
	Node       string      `json:"node,omitempty"`
	Containers []Container `json:"containers,omitempty"`
	// Replicas are the pods of a workload, where the workspace is a part of one.
	Replicas []Replica `json:"replicas,omitempty"`
	// Warnings are what went wrong without being final, newest last.
	Warnings []Warning `json:"warnings,omitempty"`
	// Cause is set when the stage is Failed, and for one that waits as soon as the reason is known.
	Cause *Cause `json:"cause,omitempty"`
	// GivenUp is true once the cause has been stuck for as long as it is waited for.
	GivenUp bool `json:"givenUp,omitempty"`
	// Ignored are the codes of causes that would have made the stage Failed, had they not been ignored on request: what
	// a time-out then names.
	Ignored []string `json:"ignored,omitempty"`
}

// Verdict says what the snapshot means to a caller that waits.
func (s Snapshot) Verdict() Verdict {
	switch {
	case s.Gone:
		return VerdictGone
	case s.Stage == StageRunning:
		return VerdictRunning
	case s.Stage == StageFailed:
		return VerdictFailed
	case s.Stage == StageStopped:
		return VerdictStopped
	case s.Stage == StageTerminating:
		return VerdictTerminating
	case s.GivenUp:
		return VerdictStuck
	default:
		return VerdictWaiting
	}
}

// BeganAt is when the stage began that is seen now, after another that began before. A pull is reported only after a
// while, but has taken its
// time since it began; as the cluster says that by its own clock, it is believed only between the begin of the stage
// before and now.
func (s Snapshot) BeganAt(before, now time.Time) time.Time {
	switch {
	case s.Stage != StagePulling || s.Since.IsZero() || s.Since.After(now):
		return now
	case s.Since.Before(before):
		return before
	}
	return s.Since
}

// Restarts is how often the containers were restarted, all together.
func (s Snapshot) Restarts() int {
	n := 0
	for _, c := range s.Containers {
		n += c.Restarts
	}
	return n
}

// Replica is the state of one pod of a workload.
type Replica struct {
	Name    string `json:"name"`
	Stage   Stage  `json:"stage"`
	Message string `json:"message,omitempty"`
	Node    string `json:"node,omitempty"`
}

// ContainerState is a container's state in one word.
type ContainerState string

// The states of a container, in the order they are usually seen.
const (
	ContainerWaiting ContainerState = "waiting"
	ContainerPulling ContainerState = "pulling"
	ContainerRunning ContainerState = "running" // started, not ready yet
	ContainerReady   ContainerState = "ready"
	ContainerDone    ContainerState = "done" // ended with status 0
	ContainerFailed  ContainerState = "failed"
)

// Container is one container of the workspace's pod.
type Container struct {
	Name  string         `json:"name"`
	Init  bool           `json:"init,omitempty"`
	Image string         `json:"image,omitempty"`
	State ContainerState `json:"state"`
	// Reason is Kubernetes' own word for the state, if it has one; NotStarted of one that waits in a pod that is over,
	// as those of a pod that its node has refused do.
	Reason   string `json:"reason,omitempty"`
	Restarts int    `json:"restarts,omitempty"`
	ExitCode *int   `json:"exitCode,omitempty"`
}

// NotStarted is the reason of a container that waits for nothing any more: its pod has ended.
const NotStarted = "NotStarted"

// Warning is something that went wrong and may pass; repeats are counted.
type Warning struct {
	Reason  string `json:"reason"`
	Message string `json:"message"`
	Count   int    `json:"count"`
	// Object is what it is about, as kind/name, with the container if one is meant: pod/alice-1234567,
	// pod/alice-1234567:k8shell-main.
	Object string    `json:"object,omitempty"`
	At     time.Time `json:"at,omitzero"`
	// Tentative is true for what the scheduler says while the cause is tentative: people are not shown it. It comes
	// again when it has lasted.
	Tentative bool `json:"tentative,omitempty"`
}

// Cause says why a workspace failed or what it is waiting for.
type Cause struct {
	// Code is a stable word for scripts and for the table of hints: ImageNotFound, CrashLoop, Unschedulable, …
	Code    string `json:"code"`
	Message string `json:"message"`
	// Tentative is true while the stage has waited for it for a few seconds only: most such causes pass by themselves.
	Tentative bool `json:"tentative,omitempty"`
	// Stuck is true once it has lasted for a while and will not resolve by itself: someone has to act. Set by commands
	// that wait for the workspace.
	Stuck bool `json:"stuck,omitempty"`
	// Hint is what to do about it; set by commands that wait for the workspace.
	Hint string `json:"hint,omitempty"`
	// Container and Object name what it is about.
	Container string `json:"container,omitempty"`
	Object    string `json:"object,omitempty"`
	Restarts  *int   `json:"restarts,omitempty"`
	ExitCode  *int   `json:"exitCode,omitempty"`
}

// Stage is where a workspace is in its life. The names and their order are those of the provisioning flow.
type Stage string

// The stages.
const (
	StageScheduling   Stage = "Scheduling"
	StagePulling      Stage = "Pulling"
	StageInitializing Stage = "Initializing"
	StageStarting     Stage = "Starting"
	StageRunning      Stage = "Running"
	StageTerminating  Stage = "Terminating"
	StageStopped      Stage = "Stopped"
	StageFailed       Stage = "Failed"
	StageUnknown      Stage = "Unknown"
)

// Status is what a stage is reported as to clients of the platform's API, which know fewer states than there are
// stages.
type Status string

// The statuses.
const (
	StatusProvisioning Status = "Provisioning"
	StatusPulling      Status = "Pulling"
	StatusRunning      Status = "Running"
	StatusTerminating  Status = "Terminating"
	StatusStopping     Status = "Stopping"
	StatusStopped      Status = "Stopped"
	StatusFailing      Status = "Failing"
	StatusUnknown      Status = "Unknown"
)

// Status maps a stage to the status it is reported as. (A pod that stops on request is Stopping; only who sees the pod
// can know that.)
func (s Stage) Status() Status {
	switch s {
	case StageScheduling, StageInitializing, StageStarting:
		return StatusProvisioning
	case StagePulling:
		return StatusPulling
	case StageRunning:
		return StatusRunning
	case StageTerminating:
		return StatusTerminating
	case StageStopped:
		return StatusStopped
	case StageFailed:
		return StatusFailing
	default:
		return StatusUnknown
	}
}

// Verdict is what a stage means to a caller that waits.
type Verdict string

// The verdicts.
const (
	VerdictWaiting     Verdict = "waiting"
	VerdictRunning     Verdict = "running"
	VerdictFailed      Verdict = "failed"
	VerdictStopped     Verdict = "stopped"
	VerdictTerminating Verdict = "terminating"
	VerdictGone        Verdict = "gone"
	VerdictStuck       Verdict = "stuck" // it waits for what only a person can change, for too long
)

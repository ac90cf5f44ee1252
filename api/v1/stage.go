package v1

// Stage is where a workspace is in its life. The names and their order are
// those of the provisioning flow.
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

// Status is what a stage is reported as to clients of the platform's API,
// which know fewer states than there are stages.
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

// Status maps a stage to the status it is reported as. (A pod that stops on
// request is Stopping; only who sees the pod can know that.)
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

package v1

import "time"

// Diagnosis is the state of a workspace, a pod or a workload, and the cause.
type Diagnosis struct {
	TypeMeta
	// Subject is what was looked at, as kind/name.
	Subject   string `json:"subject"`
	Namespace string `json:"namespace,omitempty"`
	// UserString and Blueprint are set if the subject is a workspace.
	UserString string `json:"userString,omitempty"`
	Blueprint  string `json:"blueprint,omitempty"`
	// At is the moment that the diagnosis is about: now, the end of a recording, or the newest time in a dump.
	At      time.Time `json:"at"`
	Verdict Verdict   `json:"verdict"`
	Stage   Stage     `json:"stage"`
	Status  Status    `json:"status"`
	// Startable is true for a workspace that has no pod, or one that is over, and that `berth start` brings back.
	Startable bool `json:"startable,omitempty"`
	// Since is when the stage began, as far as is known.
	Since time.Time `json:"since,omitzero"`
	// FailedAt is when the stage became Failed for the first time, in seconds from the first record; null if it never
	// did.
	FailedAt *float64 `json:"failedAt" jsonschema:"nullable"`
	// Message is what the stage is about, in a few words.
	Message string `json:"message,omitempty"`
	Node    string `json:"node,omitempty"`
	// Cause is set when the verdict is failed, and when it is waiting and the reason is known; null otherwise.
	Cause *Cause `json:"cause" jsonschema:"nullable"`
	// Ignored are the codes of causes that would have made the verdict failed, had they not been ignored on request.
	Ignored []string `json:"ignored,omitempty"`
	// Hint says what to do about it.
	Hint       string      `json:"hint"`
	Containers []Container `json:"containers,omitempty"`
	Warnings   []Warning   `json:"warnings"`
	// Timeline has an entry for each change of stage, the earliest first. Of a living cluster it has what can still be
	// known.
	Timeline []Moment `json:"timeline"`
	// Logs are the last lines of the container that failed.
	Logs *LogTail `json:"logs,omitempty"`
	// Unread is what the caller may not read, and what the diagnosis was made without, such as "list events in
	// namespace team".
	Unread []string `json:"unread,omitempty"`
	// Skipped is what in a dump was not read, each with its place and the reason, such as "dump/events.txt: a table, as
	// kubectl get prints it without -o yaml".
	Skipped []string `json:"skipped,omitempty"`
}

// Moment is a change of stage.
type Moment struct {
	At time.Time `json:"at"`
	// Offset is in seconds from the first record.
	Offset  float64 `json:"offset"`
	Stage   Stage   `json:"stage"`
	Status  Status  `json:"status"`
	Message string  `json:"message,omitempty"`
}

// Explanation says what a cause is, whatever it is found in.
type Explanation struct {
	TypeMeta
	// Code is the cause, as a Diagnosis names it.
	Code string `json:"code"`
	// Family is the group of causes that it belongs to, such as image or volume.
	Family string `json:"family"`
	// Title says in a few words what it is.
	Title string `json:"title"`
	// Reasons are Kubernetes' own words for it. Each may be the word for other causes, too.
	Reasons []string `json:"reasons"`
	// Meaning explains it to a reader who does not know Kubernetes well.
	Meaning string `json:"meaning"`
	// Signs are what it is recognized by: where to look, and what stands there.
	Signs []string `json:"signs"`
	// Remedies are what to do, the likeliest first.
	Remedies []string `json:"remedies"`
	// Passes says by what it passes without anybody doing anything; absent if it does not.
	Passes string `json:"passes,omitempty"`
	// NeedsPerson is true for what stays until a person changes it, however long it is waited for.
	NeedsPerson bool `json:"needsPerson"`
	// Policies are how each policy treats it, the default one first.
	Policies []PolicyTreatment `json:"policies"`
	// Example is what a diagnosis of it says. It is not in lists.
	Example *Diagnosis `json:"example,omitempty"`
}

// PolicyTreatment is how a policy treats a cause.
type PolicyTreatment struct {
	// Policy is its name: fast or patient.
	Policy string `json:"policy"`
	// Treatments are fails (at once), spared (it fails if the cause has not passed within the grace period) or waits;
	// several if it depends on the case.
	Treatments []Treatment `json:"treatments"`
}

// Treatment is what becomes of a workspace that has a cause.
type Treatment string

// What can become of it.
const (
	TreatmentFails  Treatment = "fails"  // as soon as the cause is seen
	TreatmentSpared Treatment = "spared" // it fails after the grace period
	TreatmentWaits  Treatment = "waits"  // it does not fail because of it
)

// ExplanationList is a list of causes.
type ExplanationList struct {
	TypeMeta
	Items []Explanation `json:"items"`
}

// Checkup is the answer to `berth doctor`: what was looked at, and what to do.
type Checkup struct {
	TypeMeta
	Items []CheckupItem `json:"items"`
}

// CheckupItem is one check.
type CheckupItem struct {
	// Name is a stable word for the check, such as version or quota.
	Name   string        `json:"name"`
	Status CheckupStatus `json:"status"`
	// Message is what was found.
	Message string `json:"message"`
	// Hint says what to do about it.
	Hint string `json:"hint,omitempty"`
	// Problems are the parts of a check that found more than one, each a line.
	Problems []string `json:"problems,omitempty"`
	// Excerpts are the lines of files that the problems are about, each with a mark below at the place: one for each
	// problem, empty for a problem that is not about a line. Omitted if no problem is.
	Excerpts []string `json:"excerpts,omitempty"`
}

// CheckupStatus is how a check ended.
type CheckupStatus string

// The statuses of checks. Skipped is a check that could not be made, or of something that is not configured.
const (
	CheckupOK      CheckupStatus = "ok"
	CheckupWarning CheckupStatus = "warning"
	CheckupFailed  CheckupStatus = "failed"
	CheckupSkipped CheckupStatus = "skipped"
)

// Failed says whether any check has failed.
func (c Checkup) Failed() bool {
	for _, item := range c.Items {
		if item.Status == CheckupFailed {
			return true
		}
	}
	return false
}

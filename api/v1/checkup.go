package v1

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
	// Excerpts are the lines of files that the problems are about, each with a mark below at
	// the place: one for each problem, empty where there is none; or none at all.
	Excerpts []string `json:"excerpts,omitempty"`
}

// CheckupStatus is how a check ended.
type CheckupStatus string

// The statuses of checks. Skipped is a check that could not be made, or of
// something that is not configured.
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

package v1

// ProvisionSummary is what became of the workspaces that one command
// provisioned together.
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

// DeletionSummary is what became of the workspaces that one command deleted
// together.
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

// StateSummary is what became of the workspaces that one command stopped, started or
// restarted together.
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
	// AlreadyRunning are those of Failed that ran before, which is no failure of theirs:
	// their error is ALREADY_EXISTS.
	AlreadyRunning int `json:"alreadyRunning,omitempty"`
	// ExitStatus is that of the command: 0, 3 if any failed, whatever their own
	// codes are, 6 if all that did not succeed ran before, or that of the signal by which
	// it was interrupted.
	ExitStatus int `json:"exitStatus"`
	// Seconds is the whole duration; Requests the number of API requests, watches
	// included.
	Seconds  float64 `json:"seconds"`
	Requests int     `json:"requests,omitempty"`
}

package v1

// CopyResult is what `berth cp` copied.
type CopyResult struct {
	TypeMeta
	// ID is the canonical ID of the workspace.
	ID        string `json:"id"`
	Namespace string `json:"namespace"`
	// Pod and Container are empty where a gateway has chosen them.
	Pod       string `json:"pod"`
	Container string `json:"container"`
	// Direction says which of source and destination is in the workspace.
	Direction CopyDirection `json:"direction"`
	// Source is the path as it was given, and Destination what it is called now.
	Source      string `json:"source"`
	Destination string `json:"destination"`
	// Files counts the names of files; Bytes are those of their contents, each once.
	Files   int64   `json:"files"`
	Bytes   int64   `json:"bytes"`
	Seconds float64 `json:"seconds"`
	// Warnings name files that changed while they were read.
	Warnings []string `json:"warnings,omitempty"`
}

// CopyDirection says where something was copied to.
type CopyDirection string

// The directions.
const (
	CopyTo   CopyDirection = "to"   // the workspace
	CopyFrom CopyDirection = "from" // the workspace
)

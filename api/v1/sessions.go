package v1

import "time"

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

// PortForward is something that happened to ports that `berth port-forward` forwards: a line of --output jsonl.
type PortForward struct {
	TypeMeta
	Time  time.Time        `json:"time"`
	State PortForwardState `json:"state"`
	// ID is the canonical ID of the workspace.
	ID        string `json:"id"`
	Namespace string `json:"namespace"`
	Pod       string `json:"pod,omitempty"`
	// Address is what can be connected to on this machine, with its port.
	Address string `json:"address,omitempty"`
	// Port is that of the workspace.
	Port uint16 `json:"port,omitempty"`
	// Reason says why a pod was lost, what is waited for, or why a connection was refused.
	Reason string `json:"reason,omitempty"`
}

// PortForwardState says what happened.
type PortForwardState string

// What can happen.
const (
	PortListening    PortForwardState = "listening" // the address can be used
	PortConnected    PortForwardState = "connected" // with a pod
	PortLost         PortForwardState = "lost"      // the pod, or the connection to it
	PortWaiting      PortForwardState = "waiting"   // for a pod
	PortNotForwarded PortForwardState = "refused"   // one connection, by the pod
)

// SSHConfiguration is what `berth ssh config` does to the configuration of ssh.
type SSHConfiguration struct {
	TypeMeta
	// Name is that of the block; it is empty for the one that needs none.
	Name string `json:"name"`
	// Pattern is what the host names of workspaces are like: *.NAME.berth.
	Pattern string `json:"pattern"`
	// Hosts are the host names that are listed besides the pattern, with --list.
	Hosts []string `json:"hosts,omitempty"`
	// Removal is true if the block is taken out, with --remove.
	Removal bool `json:"removal"`
	// DryRun is true if nothing was to be written. Written is true if the changes were: it is false where nothing had
	// to be changed.
	DryRun  bool `json:"dryRun"`
	Written bool `json:"written"`
	// Files are berth's own file, and then that of OpenSSH, which includes it.
	Files []SSHFile `json:"files"`
}

// SSHFile is a file of the configuration of ssh, and what becomes of it.
type SSHFile struct {
	// Path is that of the file itself: links are followed.
	Path   string        `json:"path"`
	Change SSHFileChange `json:"change"`
	// Diff is the difference that the change makes, as diff --unified shows it.
	Diff string `json:"diff,omitempty"`
}

// SSHFileChange says what becomes of a file.
type SSHFileChange string

// What can become of it.
const (
	SSHFileCreated   SSHFileChange = "created"
	SSHFileChanged   SSHFileChange = "changed"
	SSHFileRemoved   SSHFileChange = "removed"
	SSHFileUnchanged SSHFileChange = "unchanged"
)

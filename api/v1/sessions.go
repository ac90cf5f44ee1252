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

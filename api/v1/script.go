package v1

import (
	"strings"
	"time"
)

// Script is one of the init scripts of a workspace, and what has become of it.
type Script struct {
	Name string `json:"name"`
	// Number is its place in the order in which they are run, from 1.
	Number int         `json:"number"`
	State  ScriptState `json:"state"`
	// Object is where it is run: pod/alice-1234567:k8shell-main.
	Object string `json:"object,omitempty"`
	// At is when it began, and Seconds how long it took, by the clock of the node.
	At      time.Time `json:"at,omitzero"`
	Seconds float64   `json:"seconds,omitempty"`
	// ExitCode is that of a script that has failed.
	ExitCode *int `json:"exitCode,omitempty"`
	// Lines are the last lines of its output: one while it runs, more once it has failed.
	Lines []string `json:"lines,omitempty"`
}

// Pod is the name of the pod in which it is run.
func (s Script) Pod() string {
	pod, _, _ := strings.Cut(strings.TrimPrefix(s.Object, "pod/"), ":")
	return pod
}

// Container is the name of the container in which it is run.
func (s Script) Container() string {
	_, container, _ := strings.Cut(s.Object, ":")
	return container
}

// ScriptState says how far an init script is.
type ScriptState string

// The states of an init script.
const (
	ScriptRunning ScriptState = "running"
	ScriptDone    ScriptState = "done"
	ScriptFailed  ScriptState = "failed"
	// ScriptSkipped is one that has run before: the home directory is kept.
	ScriptSkipped ScriptState = "skipped"
)

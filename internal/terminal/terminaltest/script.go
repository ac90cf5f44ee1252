package terminaltest

import (
	"time"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/terminal/wording"
)

var (
	// Now is when lists are looked at.
	Now = T0.Add(3 * time.Hour)
	// T0 is when everything begins.
	T0 = time.Date(2026, 11, 20, 23, 50, 25, 0, time.UTC)
	// Alice is the workspace of most scripts.
	Alice = wording.Title{UserString: "alice~dev", ID: "alice-3f9c2e1", Namespace: "workspaces", Verb: "provision"}
)

// Script collects events as a stream would number and date them.
type Script struct {
	Events []v1.Event
}

// Add lets an event happen after a while.
func (s *Script) Add(after time.Duration, e v1.Event) {
	e.Seq, e.At, e.Workspace = uint64(len(s.Events)+1), T0.Add(after), Alice.ID
	s.Events = append(s.Events, e)
}

// Step is the event of a step.
func (s *Script) Step(after time.Duration, name string, state v1.StepState, message string, took float64) {
	s.Add(after, v1.Event{Step: &v1.Step{Name: name, State: state, Message: message, Seconds: took}})
}

// Stage is the event of a stage.
func (s *Script) Stage(after time.Duration, stage v1.Stage, snapshot v1.Snapshot) {
	snapshot.Stage, snapshot.Status = stage, stage.Status()
	s.Add(after, v1.Event{Stage: &snapshot})
}

const (
	ms = time.Millisecond
	sc = time.Second
)

// Opening is what every provisioning begins with.
func Opening() *Script {
	s := &Script{}
	s.Step(0, "identity", v1.StepBegun, "", 0)
	s.Step(40*ms, "identity", v1.StepEnded, "alice, from kubernetes", 0.04)
	s.Step(40*ms, "blueprint", v1.StepBegun, "", 0)
	s.Step(50*ms, "blueprint", v1.StepEnded, "dev ← base", 0.01)
	s.Step(50*ms, "install", v1.StepBegun, "", 0)
	s.Step(260*ms, "install", v1.StepEnded, "7 objects", 0.21)
	return s
}

// Containers are an init container and the main one, in these states.
func Containers(states ...v1.ContainerState) []v1.Container {
	return []v1.Container{
		{Name: "init-base", Init: true, Image: "registry.example.com/base:3", State: states[0]},
		{Name: "k8shell-main", Image: "registry.example.com/team/dev-tools:1.4", State: states[1]},
	}
}

// Unschedulable is the warning that no node has room.
func Unschedulable(count int, at time.Duration) v1.Warning {
	return v1.Warning{
		Reason: "FailedScheduling", Message: "0/3 nodes: 2 insufficient cpu, 1 untolerated taint",
		Count: count, Object: "pod/alice-3f9c2e1", At: T0.Add(at),
	}
}

// Succeeding is a workspace that has to wait for a node, and then runs.
func Succeeding() *Script {
	s := Opening()
	waits := "0/3 nodes: 2 insufficient cpu, 1 untolerated taint"
	cause := &v1.Cause{
		Code: "Unschedulable", Message: waits,
		Hint: "No node has room for it: 2 nodes have too little cpu left. Ask for less in blueprint dev, or wait " +
			"until there is room.",
	}
	s.Stage(300*ms, v1.StageScheduling, v1.Snapshot{Containers: Containers("waiting", "waiting")})
	tentative := *cause
	tentative.Tentative = true
	perhaps := Unschedulable(1, 1*sc)
	perhaps.Tentative = true
	s.Stage(1*sc, v1.StageScheduling, v1.Snapshot{Cause: &tentative, Warnings: []v1.Warning{perhaps}})
	s.Add(1*sc, v1.Event{Warning: &perhaps})
	s.Stage(3300*ms, v1.StageScheduling, v1.Snapshot{Cause: cause, Warnings: []v1.Warning{Unschedulable(1, 1*sc)}})
	s.Stage(4*sc, v1.StageScheduling, v1.Snapshot{Cause: cause, Warnings: []v1.Warning{Unschedulable(3, 4*sc)}})
	s.Stage(9*sc, v1.StagePulling,
		v1.Snapshot{Node: "node-2", Message: "dev-tools:1.4", Containers: Containers("done", "pulling")})
	s.Add(12*sc, v1.Event{Object: &v1.ObjectEvent{
		Object: "pod/alice-3f9c2e1:k8shell-main", Type: "Normal",
		Reason: "Pulling", Message: "Pulling image", Count: 1,
	}})
	s.Add(14*sc, v1.Event{Warning: &v1.Warning{
		Reason: "FailedMount", Message: "configmap \"profile\" not found",
		Count: 2, Object: "pod/alice-3f9c2e1", At: T0.Add(14 * sc),
	}})
	s.Stage(18500*ms, v1.StageStarting,
		v1.Snapshot{Node: "node-2", Message: "readiness", Containers: Containers("done", "running")})
	s.Stage(21400*ms, v1.StageRunning, v1.Snapshot{Node: "node-2", Containers: Containers("done", "ready")})
	w := Workspace(v1.StageRunning, v1.Snapshot{Node: "node-2", Containers: Containers("done", "ready")})
	w.Timing = &v1.Timing{Seconds: 21.4, Stages: []v1.StepTiming{
		{Name: "Scheduling", Seconds: 8.7},
		{Name: "Pulling", Seconds: 9.5},
		{Name: "Starting", Seconds: 2.9},
	}}
	s.Add(21400*ms, v1.Event{Result: &v1.Result{Workspace: &w}})
	return s
}

// Single is a batch of one that is worked on alone.
func Single(t wording.Title) wording.Batch {
	return wording.Batch{Single: true, Members: []wording.Title{t}}
}

// Workspace is that of alice in a stage.
func Workspace(stage v1.Stage, snapshot v1.Snapshot) v1.Workspace {
	snapshot.Stage, snapshot.Status = stage, stage.Status()
	return v1.Workspace{
		ID: Alice.ID, Namespace: Alice.Namespace, UserString: Alice.UserString,
		Owner: "alice", Blueprint: "dev", CreatedAt: T0, Snapshot: snapshot,
	}
}

// Ending adds the failure of a stage to the opening.
func Ending(after time.Duration, code string, exit int, e v1.Error, w *v1.Workspace) *Script {
	s := Opening()
	s.Stage(300*ms, v1.StageScheduling, v1.Snapshot{})
	s.Stage(400*ms, v1.StagePulling,
		v1.Snapshot{Node: "node-2", Message: "dev-tools:1.5", Containers: Containers("done", "pulling")})
	e.Code, e.ExitStatus, e.Workspace = code, exit, w
	s.Add(after, v1.Event{Result: &v1.Result{Error: &e}})
	return s
}

// ImageNotFound is a provisioning that fails for good.
func ImageNotFound() *Script {
	w := Workspace(v1.StageFailed,
		v1.Snapshot{Cause: &v1.Cause{Code: "ImageNotFound", Message: "image not found", Container: "k8shell-main"}})
	return Ending(2300*ms, "FAILED", 3, v1.Error{
		Message: "image not found",
		Hint: "registry.example.com/dev-tools:1.5 does not exist: the registry answered, but has no such tag.\n" +
			"Check \"image\" in blueprint dev (blueprints/dev.yaml:7).",
	}, &w)
}

// CrashLoop is one whose container keeps crashing, with its log.
func CrashLoop() *Script {
	w := Workspace(v1.StageFailed,
		v1.Snapshot{Cause: &v1.Cause{
			Code: "CrashLoop", Message: "k8shell-main keeps crashing: exit code 1, 3 restarts",
			Container: "k8shell-main",
		}})
	return Ending(41*sc, "FAILED", 3, v1.Error{
		Message: "k8shell-main keeps crashing: exit code 1, 3 restarts",
		Logs: &v1.LogTail{Container: "k8shell-main", Previous: true, Lines: []string{
			"starting workspace", "  indented \x1b[31mred\x1b[0m\x1b[2A moved",
			"/etc/profile.d/team.sh: line 3: nodenv: not found",
		}},
	}, &w)
}

// TimedOut is one that was not waited for any longer.
func TimedOut() *Script {
	why := "0/3 nodes: 3 insufficient memory (asks for 64Gi, largest free 12Gi)"
	w := Workspace(v1.StageScheduling, v1.Snapshot{Cause: &v1.Cause{Code: "Unschedulable", Message: why}})
	return Ending(120*sc, "DEADLINE_EXCEEDED", 5, v1.Error{
		Message: "timed out after 2m0s: still Scheduling: " + why, Detail: "still Scheduling: " + why,
		Hint: "ask for less in blueprint dev, or wait for room and try again",
	}, &w)
}

// Stuck is one that waits for what only a person can change, until it is given up.
func Stuck() *Script {
	s := Opening()
	cause := v1.Cause{
		Code: "VolumeMissingObject", Object: "pod/alice-3f9c2e1",
		Message: `MountVolume.SetUp failed for volume "profile" : configmap "profile" not found`,
		Hint: "ConfigMap profile does not exist: create it with `kubectl create configmap profile --namespace " +
			"workspaces --from-literal=KEY=VALUE`.",
	}
	snapshot := func(stuck bool) v1.Snapshot {
		now := cause
		now.Stuck = stuck
		return v1.Snapshot{
			Node: "node-2", Message: "init-base", Cause: &now,
			Containers: Containers("waiting", "waiting"),
		}
	}
	s.Stage(1*sc, v1.StageInitializing,
		v1.Snapshot{Node: "node-2", Message: "init-base", Containers: Containers("waiting", "waiting")})
	s.Stage(5*sc, v1.StageInitializing, snapshot(false))
	s.Stage(62*sc, v1.StageInitializing, snapshot(true))
	s.Stage(80*sc, v1.StageInitializing, snapshot(true))
	last := snapshot(true)
	last.GivenUp = true
	s.Stage(300*sc, v1.StageInitializing, last)
	w := Workspace(v1.StageInitializing, last)
	s.Add(300*sc, v1.Event{Result: &v1.Result{Error: &v1.Error{
		Code: "FAILED", ExitStatus: 3, Reason: "STUCK", Left: v1.LeftKept, Workspace: &w, Message: cause.Message,
		Hint:     cause.Hint,
		Problems: []string{"this will not resolve by itself; waited 5m for it (--stuck-after)"},
	}}})
	return s
}

// Interrupted is one that a user stopped watching.
func Interrupted() *Script {
	w := Workspace(v1.StagePulling, v1.Snapshot{Message: "dev-tools:1.5"})
	return Ending(12*sc, "INTERRUPTED", 130, v1.Error{
		Message: "interrupted",
		Hint:    "the workspace goes on starting in the cluster",
	}, &w)
}

// Deleted is a removal.
func Deleted(gone bool) *Script {
	s := &Script{}
	s.Step(0, "remove", v1.StepBegun, "", 0)
	s.Step(300*ms, "remove", v1.StepEnded, "7 objects", 0.3)
	s.Stage(350*ms, v1.StageTerminating, v1.Snapshot{})
	s.Add(2300*ms, v1.Event{Result: &v1.Result{Deletion: &v1.Deletion{
		ID: Alice.ID, Namespace: Alice.Namespace,
		Objects: 7, Seconds: 2.3, Gone: gone,
	}}})
	return s
}

// Refused is a provisioning that is refused because of another command.
func Refused() *Script {
	s := Opening()
	s.Step(300*ms, "lock", v1.StepBegun, "", 0)
	s.Step(400*ms, "lock", v1.StepFailed, "held by bob@laptop", 0.1)
	s.Add(400*ms, v1.Event{Result: &v1.Result{Error: &v1.Error{
		Code: "CONFLICT", ExitStatus: 6,
		Message: "alice-3f9c2e1 is being deleted by bob@laptop", Hint: "wait for it with --wait",
	}}})
	return s
}

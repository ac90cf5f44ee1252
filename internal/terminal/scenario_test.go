package terminal

import (
	"time"

	v1 "github.com/berthdev/berth/api/v1"
)

var (
	t0    = time.Date(2026, 11, 20, 23, 50, 25, 0, time.UTC)
	alice = Title{UserString: "alice~dev", ID: "alice-3f9c2e1", Namespace: "workspaces", Verb: "provision"}
)

// script collects events as a stream would number and date them.
type script struct {
	events []v1.Event
}

func (s *script) add(after time.Duration, e v1.Event) {
	e.TypeMeta, e.Seq, e.At, e.Workspace = v1.Kind(v1.KindEvent), uint64(len(s.events)+1), t0.Add(after), alice.ID
	s.events = append(s.events, e)
}

func (s *script) step(after time.Duration, name string, state v1.StepState, message string, took float64) {
	s.add(after, v1.Event{Step: &v1.Step{Name: name, State: state, Message: message, Seconds: took}})
}

func (s *script) stage(after time.Duration, stage v1.Stage, snapshot v1.Snapshot) {
	snapshot.Stage, snapshot.Status = stage, stage.Status()
	s.add(after, v1.Event{Stage: &snapshot})
}

// until gives what a model knows after a while.
func (s *script) until(after time.Duration) *model {
	m := &model{title: alice}
	for _, e := range s.events {
		if !e.At.After(t0.Add(after)) {
			m.handle(e)
		}
	}
	return m
}

func (s *script) through() []v1.Event { return s.events }

const (
	ms = time.Millisecond
	sc = time.Second
)

// opening is what every provisioning begins with.
func opening() *script {
	s := &script{}
	s.step(0, "identity", v1.StepBegun, "", 0)
	s.step(40*ms, "identity", v1.StepEnded, "alice, from kubernetes", 0.04)
	s.step(40*ms, "blueprint", v1.StepBegun, "", 0)
	s.step(50*ms, "blueprint", v1.StepEnded, "dev ← base", 0.01)
	s.step(50*ms, "install", v1.StepBegun, "", 0)
	s.step(260*ms, "install", v1.StepEnded, "7 objects", 0.21)
	return s
}

func containers(states ...v1.ContainerState) []v1.Container {
	return []v1.Container{
		{Name: "init-base", Init: true, Image: "registry.example.com/base:3", State: states[0]},
		{Name: "k8shell-main", Image: "registry.example.com/team/dev-tools:1.4", State: states[1]},
	}
}

func unschedulable(count int, at time.Duration) v1.Warning {
	return v1.Warning{
		Reason: "FailedScheduling", Message: "0/3 nodes: 2 insufficient cpu, 1 untolerated taint",
		Count: count, Object: "pod/alice-3f9c2e1", At: t0.Add(at),
	}
}

// succeeding is a workspace that has to wait for a node, and then runs.
func succeeding() *script {
	s := opening()
	waits := "0/3 nodes: 2 insufficient cpu, 1 untolerated taint"
	cause := &v1.Cause{Code: "Unschedulable", Message: waits, Hint: "No node has room for it: 2 nodes have too little cpu left. Ask for less in blueprint dev, or wait until there is room."}
	s.stage(300*ms, v1.StageScheduling, v1.Snapshot{Containers: containers("waiting", "waiting")})
	s.stage(1*sc, v1.StageScheduling, v1.Snapshot{Cause: cause, Warnings: []v1.Warning{unschedulable(1, 1*sc)}})
	s.stage(4*sc, v1.StageScheduling, v1.Snapshot{Cause: cause, Warnings: []v1.Warning{unschedulable(3, 4*sc)}})
	s.stage(9*sc, v1.StagePulling, v1.Snapshot{Node: "node-2", Message: "dev-tools:1.4", Containers: containers("done", "pulling")})
	s.add(12*sc, v1.Event{Object: &v1.ObjectEvent{Object: "pod/alice-3f9c2e1:k8shell-main", Type: "Normal", Reason: "Pulling", Message: "Pulling image", Count: 1}})
	s.add(14*sc, v1.Event{Warning: &v1.Warning{Reason: "FailedMount", Message: "configmap \"profile\" not found", Count: 2, Object: "pod/alice-3f9c2e1", At: t0.Add(14 * sc)}})
	s.stage(18500*ms, v1.StageStarting, v1.Snapshot{Node: "node-2", Message: "readiness", Containers: containers("done", "running")})
	s.stage(21400*ms, v1.StageRunning, v1.Snapshot{Node: "node-2", Containers: containers("done", "ready")})
	w := workspace(v1.StageRunning, v1.Snapshot{Node: "node-2", Containers: containers("done", "ready")})
	w.Timing = &v1.Timing{Seconds: 21.4, Stages: []v1.StepTiming{
		{Name: "Scheduling", Seconds: 8.7},
		{Name: "Pulling", Seconds: 9.5},
		{Name: "Starting", Seconds: 2.9},
	}}
	s.add(21400*ms, v1.Event{Result: &v1.Result{Workspace: &w}})
	return s
}

func workspace(stage v1.Stage, snapshot v1.Snapshot) v1.Workspace {
	snapshot.Stage, snapshot.Status = stage, stage.Status()
	return v1.Workspace{
		TypeMeta: v1.Kind(v1.KindWorkspace), ID: alice.ID, Namespace: alice.Namespace, UserString: alice.UserString,
		Owner: "alice", Blueprint: "dev", CreatedAt: t0, Snapshot: snapshot,
	}
}

// ending adds the failure of a stage to the opening.
func ending(after time.Duration, code string, exit int, e v1.Error, w *v1.Workspace) *script {
	s := opening()
	s.stage(300*ms, v1.StageScheduling, v1.Snapshot{})
	s.stage(400*ms, v1.StagePulling, v1.Snapshot{Node: "node-2", Message: "dev-tools:1.5", Containers: containers("done", "pulling")})
	e.TypeMeta, e.Code, e.ExitStatus, e.Workspace = v1.Kind(v1.KindError), code, exit, w
	s.add(after, v1.Event{Result: &v1.Result{Error: &e}})
	return s
}

func imageNotFound() *script {
	w := workspace(v1.StageFailed, v1.Snapshot{Cause: &v1.Cause{Code: "ImageNotFound", Message: "image not found", Container: "k8shell-main"}})
	return ending(2300*ms, "FAILED", 3, v1.Error{
		Message: "workspace alice-3f9c2e1 failed: k8shell-main: image not found",
		Hint: "registry.example.com/dev-tools:1.5 does not exist: the registry answered, but has no such tag.\n" +
			"Check \"image\" in blueprint dev (blueprints/dev.yaml:7).",
	}, &w)
}

func crashLoop() *script {
	w := workspace(v1.StageFailed, v1.Snapshot{Cause: &v1.Cause{Code: "CrashLoop", Message: "k8shell-main keeps crashing: exit code 1, 3 restarts", Container: "k8shell-main"}})
	return ending(41*sc, "FAILED", 3, v1.Error{
		Message: "workspace alice-3f9c2e1 failed: k8shell-main keeps crashing: exit code 1, 3 restarts",
		Logs: &v1.LogTail{Container: "k8shell-main", Previous: true, Lines: []string{
			"starting workspace", "  indented \x1b[31mred\x1b[0m\x1b[2A moved", "/etc/profile.d/team.sh: line 3: nodenv: not found",
		}},
	}, &w)
}

func timedOut() *script {
	why := "0/3 nodes: 3 insufficient memory (asks for 64Gi, largest free 12Gi)"
	w := workspace(v1.StageScheduling, v1.Snapshot{Cause: &v1.Cause{Code: "Unschedulable", Message: why}})
	return ending(120*sc, "DEADLINE_EXCEEDED", 5, v1.Error{
		Message: "workspace alice-3f9c2e1 is not running after 2m: Scheduling: " + why,
		Hint:    "ask for less in blueprint dev, or wait for room and try again",
	}, &w)
}

func interrupted() *script {
	w := workspace(v1.StagePulling, v1.Snapshot{Message: "dev-tools:1.5"})
	return ending(12*sc, "INTERRUPTED", 130, v1.Error{
		Message: "interrupted while alice-3f9c2e1 is Pulling: dev-tools:1.5",
		Hint:    "the workspace goes on starting in the cluster",
	}, &w)
}

func deleted(gone bool) *script {
	s := &script{}
	s.step(0, "remove", v1.StepBegun, "", 0)
	s.step(300*ms, "remove", v1.StepEnded, "7 objects", 0.3)
	s.stage(350*ms, v1.StageTerminating, v1.Snapshot{})
	s.add(2300*ms, v1.Event{Result: &v1.Result{Deletion: &v1.Deletion{ID: alice.ID, Namespace: alice.Namespace, Objects: 7, Seconds: 2.3, Gone: gone}}})
	return s
}

func refused() *script {
	s := opening()
	s.step(300*ms, "lock", v1.StepBegun, "", 0)
	s.step(400*ms, "lock", v1.StepFailed, "held by bob@laptop", 0.1)
	s.add(400*ms, v1.Event{Result: &v1.Result{Error: &v1.Error{
		Code: "CONFLICT", ExitStatus: 6,
		Message: "alice-3f9c2e1 is being deleted by bob@laptop", Hint: "wait for it with --wait",
	}}})
	return s
}

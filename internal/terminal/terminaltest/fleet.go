package terminaltest

import (
	"fmt"
	"time"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/terminal/wording"
)

// Fleet is a list with one of each kind: running, pulling, failed, waiting.
func Fleet() *v1.WorkspaceList {
	exit := 1
	carol := v1.Container{
		Name: "k8shell-main", Image: "registry.example.com/a:1", State: v1.ContainerFailed,
		Reason: "CrashLoopBackOff", Restarts: 3, ExitCode: &exit,
	}
	return &v1.WorkspaceList{Items: []v1.Workspace{
		{
			ID: "alice-3f9c2e1", Namespace: "workspaces", UserString: "alice~dev", Owner: "alice", Blueprint: "dev",
			CreatedAt: T0,
			Snapshot: v1.Snapshot{
				Stage: v1.StageRunning, Status: v1.StatusRunning, Node: "node-2", Since: T0,
				Containers: Containers("done", "ready"),
			},
		},
		{
			ID: "bob-77aa01c", Namespace: "workspaces", UserString: "bob~ml", Owner: "bob", Blueprint: "ml",
			CreatedAt: Now.Add(-2 * time.Minute),
			Snapshot: v1.Snapshot{
				Stage: v1.StagePulling, Status: v1.StatusPulling, Node: "node-1", Message: "cuda-tools:12",
				Since: Now.Add(-2 * time.Minute),
			},
		},
		{
			ID: "carol-9d4b2e6", Namespace: "workspaces", UserString: "carol~repo:a/b", Owner: "carol",
			Blueprint: "repo-a-b",
			CreatedAt: Now.Add(-6 * time.Minute),
			Snapshot: v1.Snapshot{
				Stage: v1.StageFailed, Status: v1.StatusFailing, Since: Now.Add(-5 * time.Minute),
				Containers: []v1.Container{carol},
				Cause:      &v1.Cause{Code: "CrashLoop", Message: "exit code 1", Container: "k8shell-main"},
				Warnings: []v1.Warning{{
					Reason: "BackOff", Message: "back-off 40s restarting failed container", Count: 12,
					Object: "pod/carol-9d4b2e6:k8shell-main", At: Now.Add(-20 * sc),
				}},
			},
		},
		{
			ID: "a-name-as-long-as-kubernetes-permits-0a1b2c3", Namespace: "workspaces",
			CreatedAt: Now.Add(-6 * 24 * time.Hour),
			Snapshot: v1.Snapshot{
				Stage: v1.StageScheduling, Status: v1.StatusProvisioning,
				Message: "0/3 nodes: 3 insufficient\x1b[2J memory (asks for 64Gi, largest free 12Gi)",
			},
		},
	}}
}

// Hostile is what a pod, an image name or an annotation may try to smuggle in.
const Hostile = "x\x1b[2J\x1b[9A\u009b2K\x1b]0;title\x07\r\u202e\ay"

// HostileWorkspace is one that smuggles in all of its fields.
func HostileWorkspace() *v1.Workspace {
	return &v1.Workspace{
		ID: Hostile, Namespace: Hostile, UserString: Hostile, Owner: Hostile, Blueprint: Hostile, JobID: Hostile,
		Snapshot: v1.Snapshot{
			Stage: v1.StageFailed, Message: Hostile, Node: Hostile,
			Containers: []v1.Container{{Name: Hostile, Image: Hostile, State: v1.ContainerFailed, Reason: Hostile}},
			Warnings:   []v1.Warning{{Reason: Hostile, Message: Hostile, Object: "pod/a:" + Hostile, Count: 2}},
			Cause:      &v1.Cause{Code: Hostile, Message: Hostile, Container: Hostile, Object: Hostile},
		},
		Scripts: []v1.Script{{
			Name: Hostile, Number: 1, State: v1.ScriptFailed, Object: Hostile,
			Lines: []string{Hostile},
		}, {Name: Hostile, State: Hostile}},
		ScriptsUnread: Hostile,
		Unread:        []string{Hostile},
		State: &v1.State{
			Desired: Hostile, Actual: Hostile, Reason: Hostile, Cause: Hostile,
			Next: &v1.NextState{Desired: Hostile, Limit: Hostile, From: Hostile, At: Now},
		},
	}
}

// HostileStory is what happens to it.
func HostileStory() []v1.Event {
	s := &Script{}
	w := HostileWorkspace()
	s.Step(0, Hostile, v1.StepBegun, "", 0)
	s.Step(300*ms, Hostile, v1.StepFailed, Hostile, 0)
	s.Add(1*sc, v1.Event{Progress: &v1.Progress{Message: Hostile}})
	waiting := w.Snapshot
	waiting.Cause = &v1.Cause{Code: Hostile, Message: Hostile + "!"}
	s.Stage(2*sc, v1.StagePulling, waiting)
	script := v1.Script{Name: Hostile, Number: 1, State: v1.ScriptRunning, Object: Hostile, Lines: []string{Hostile}}
	s.Add(2*sc, v1.Event{Script: &script})
	failed := script
	failed.State, failed.ExitCode = v1.ScriptFailed, new(1)
	s.Add(3*sc, v1.Event{Script: &failed})
	s.Add(4*sc, v1.Event{Result: &v1.Result{Error: &v1.Error{
		Code: "FAILED", Message: Hostile, Hint: Hostile, Problems: []string{Hostile},
		Workspace: w, Logs: &v1.LogTail{Container: Hostile, Lines: []string{Hostile}},
	}}})
	return s.Events
}

// WithEvents is a workspace with what Kubernetes recorded about it.
func WithEvents() v1.Workspace {
	w := Fleet().Items[2]
	w.Events = []v1.ObjectEvent{
		{
			Object: "pod/carol-9d4b2e6", Type: "Normal", Reason: "Scheduled", Message: "assigned to node-1", Count: 1,
			FirstAt: Now.Add(-6 * time.Minute), At: Now.Add(-6 * time.Minute),
		},
		{
			Object: "pod/carol-9d4b2e6:k8shell-main", Type: "Normal", Reason: "Pulled",
			Message: "already\npresent\x1b[2J",
			Count:   4, FirstAt: Now.Add(-5 * time.Minute), At: Now.Add(-2 * time.Minute),
		},
		{
			Object: "pod/carol-9d4b2e6:k8shell-main", Type: "Warning", Reason: "BackOff",
			Message: "Back-off restarting failed container", Count: 12, FirstAt: Now.Add(-4 * time.Minute),
			At: Now.Add(-20 * sc),
		},
	}
	return w
}

// HostileBatch is one that tells the hostile story; it is not ended yet.
func HostileBatch() *Many {
	b := BatchOf(1)
	b.Add(wording.Title{UserString: Hostile, ID: "x", Verb: "provision"}, 0, &Script{Events: HostileStory()})
	return b
}

// Replicas makes one for each stage.
func Replicas(stages ...v1.Stage) []v1.Replica {
	rs := make([]v1.Replica, 0, len(stages))
	for i, s := range stages {
		r := v1.Replica{Name: fmt.Sprintf("web-7d4b9c6f5-x%02dqz", i), Stage: s, Node: fmt.Sprintf("node-%d", i%3+1)}
		switch s {
		case v1.StagePulling:
			r.Message = "dev-tools:1.4"
		case v1.StageScheduling:
			r.Message, r.Node = "0/3 nodes: 2 insufficient cpu, 1 untolerated taint", ""
		case v1.StageFailed:
			r.Message = "alice-3f9c2e1-k8shell-main: exit code 1"
		}
		rs = append(rs, r)
	}
	return rs
}

// Rollout is an injection into a workload of three replicas.
func Rollout() *Script {
	s := Opening()
	stage := func(at time.Duration, stage v1.Stage, stages ...v1.Stage) {
		s.Stage(at, stage, v1.Snapshot{Message: "deployment/web", Replicas: Replicas(stages...)})
	}
	stage(300*ms, v1.StageScheduling, v1.StageScheduling)
	stage(2*sc, v1.StageScheduling, v1.StagePulling, v1.StageScheduling)
	stage(4*sc, v1.StagePulling, v1.StageRunning, v1.StagePulling, v1.StageScheduling)
	stage(8*sc, v1.StagePulling, v1.StageRunning, v1.StageRunning, v1.StagePulling)
	w := Workspace(v1.StageRunning, v1.Snapshot{Replicas: Replicas(v1.StageRunning, v1.StageRunning, v1.StageRunning)})
	w.Timing = &v1.Timing{
		Seconds: 9.5,
		Stages:  []v1.StepTiming{{Name: "Scheduling", Seconds: 3.7}, {Name: "Pulling", Seconds: 5.5}},
	}
	s.Stage(9500*ms, v1.StageRunning, w.Snapshot)
	s.Add(9500*ms, v1.Event{Result: &v1.Result{Workspace: &w}})
	return s
}

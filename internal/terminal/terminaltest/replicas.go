package terminaltest

import (
	"fmt"
	"time"

	v1 "github.com/berthdev/berth/api/v1"
)

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

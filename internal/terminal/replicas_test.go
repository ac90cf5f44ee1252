package terminal

import (
	"fmt"
	"strings"
	"testing"
	"time"

	v1 "github.com/berthdev/berth/api/v1"
)

// replicas makes one for each stage.
func replicas(stages ...v1.Stage) []v1.Replica {
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

// rollout is an injection into a workload of three replicas.
func rollout() *script {
	s := opening()
	stage := func(at time.Duration, stage v1.Stage, stages ...v1.Stage) {
		s.stage(at, stage, v1.Snapshot{Message: "deployment/web", Replicas: replicas(stages...)})
	}
	stage(300*ms, v1.StageScheduling, v1.StageScheduling)
	stage(2*sc, v1.StageScheduling, v1.StagePulling, v1.StageScheduling)
	stage(4*sc, v1.StagePulling, v1.StageRunning, v1.StagePulling, v1.StageScheduling)
	stage(8*sc, v1.StagePulling, v1.StageRunning, v1.StageRunning, v1.StagePulling)
	w := workspace(v1.StageRunning, v1.Snapshot{Replicas: replicas(v1.StageRunning, v1.StageRunning, v1.StageRunning)})
	w.Timing = &v1.Timing{Seconds: 9.5, Stages: []v1.StepTiming{{Name: "Scheduling", Seconds: 3.7}, {Name: "Pulling", Seconds: 5.5}}}
	s.stage(9500*ms, v1.StageRunning, w.Snapshot)
	s.add(9500*ms, v1.Event{Result: &v1.Result{Workspace: &w}})
	return s
}

// fleetOf is a workload with so many replicas that not all of them are shown.
func fleetOf(n int) *script {
	s := opening()
	var stages []v1.Stage
	for i := range n {
		stages = append(stages, []v1.Stage{v1.StageRunning, v1.StageRunning, v1.StagePulling, v1.StageRunning, v1.StageFailed, v1.StageScheduling}[i%6])
	}
	s.stage(300*ms, v1.StagePulling, v1.Snapshot{Message: "deployment/web", Replicas: replicas(stages...)})
	return s
}

func TestReplicaFrames(t *testing.T) {
	looks := []struct {
		name  string
		look  Capabilities
		width []int
	}{{"plain", plainLook, []int{40, 80, 120, 200}}, {"colour", colourLook, []int{80}}, {"ascii", asciiLook, []int{80}}}
	for _, l := range looks {
		for _, width := range l.width {
			var b strings.Builder
			for _, at := range []time.Duration{1 * sc, 5 * sc, time.Hour} {
				fmt.Fprintf(&b, "--- %s\n%s", at, joinLines(screen(rollout(), at, width, l.look)))
			}
			fmt.Fprintf(&b, "--- many\n%s", joinLines(screen(fleetOf(24), 5*sc, width, l.look)))
			golden(t, fmt.Sprintf("replicas/%s-%d.txt", l.name, width), visible(b.String()))
		}
	}
}

// The lines of the replicas leave room for the others, whatever the height is.
func TestReplicasFitTheHeight(t *testing.T) {
	s := fleetOf(24)
	warning := unschedulable(2, 4*sc)
	s.add(4*sc, v1.Event{Warning: &warning})
	for height := 4; height < 40; height++ {
		v := view{width: 80, height: height, now: t0.Add(5 * sc), st: newStyles(plainLook), headed: true, settled: 3}
		live := render(s.until(5*sc), v).live
		text := joinLines(live)
		if len(live) >= height || !strings.Contains(text, "Pulling  ") && height > 4 || !strings.Contains(text, "FailedScheduling") || !strings.Contains(text, "more: ") {
			t.Errorf("height %d:\n%s", height, text)
		}
	}
}

func TestFoldReplicas(t *testing.T) {
	rs := replicas(v1.StageRunning, v1.StagePulling, v1.StageRunning, v1.StageFailed, v1.StageRunning)
	for room, want := range map[int]string{
		9: "00 01 02 03 04", 5: "00 01 02 03 04", // all of them, in their order
		4: "03 01 00 | 2 Running", 3: "03 01 | 3 Running", 2: "03 | 3 Running, 1 Pulling", 1: " | 3 Running, 1 Pulling, 1 Failed",
	} {
		shown, rest := foldReplicas(rs, room)
		var names []string
		for _, r := range shown {
			names = append(names, r.Name[len(r.Name)-4:len(r.Name)-2])
		}
		got := strings.Join(names, " ")
		if len(rest) > 0 {
			got += " | " + stageCounts(rest)
		}
		if got != want {
			t.Errorf("room %d: got %q, want %q", room, got, want)
		}
	}
}

// A dated line for each change of a replica's stage, and nothing twice.
func TestPlainReplicas(t *testing.T) {
	s := rollout()
	end := s.events[len(s.events)-1]
	s.events = s.events[:len(s.events)-1]
	s.stage(9*sc, v1.StagePulling, v1.Snapshot{Message: "deployment/web", Replicas: replicas(v1.StageRunning, v1.StageRunning)})
	s.events = append(s.events, end)
	_, stderr := told(t, s, ModePlain)
	golden(t, "replicas/lines.txt", stderr)
}

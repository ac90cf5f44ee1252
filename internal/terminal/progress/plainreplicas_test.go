package progress

import (
	"testing"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/goldentest"
	"github.com/berthdev/berth/internal/terminal/terminaltest"
)

// A dated line for each change of a replica's stage, and nothing twice.
func TestPlainReplicas(t *testing.T) {
	s := terminaltest.Rollout()
	end := s.Events[len(s.Events)-1]
	s.Events = s.Events[:len(s.Events)-1]
	s.Stage(9*sc, v1.StagePulling,
		v1.Snapshot{Message: "deployment/web", Replicas: terminaltest.Replicas(v1.StageRunning, v1.StageRunning)})
	s.Events = append(s.Events, end)
	_, stderr := render(t, s, "text")
	goldentest.Check(t, "replicas/lines.txt", stderr)
}

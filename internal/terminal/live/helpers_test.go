package live

import (
	"fmt"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/terminal/style"
	"github.com/berthdev/berth/internal/terminal/terminaltest"
)

// strip is the text of lines without their colours.
func strip(lines []string) string { return ansi.Strip(style.JoinLines(lines)) }

// frames records when something was painted.
type frames struct {
	*terminaltest.VT
	At     []time.Time
	Writes []string
}

func (f *frames) Write(p []byte) (int, error) {
	f.At, f.Writes = append(f.At, time.Now()), append(f.Writes, string(p))
	return f.VT.Write(p)
}

// synchronised says whether a terminal shows a write at once.
func synchronised(write string) bool {
	return strings.HasPrefix(write, "\x1b[?2026h") && strings.HasSuffix(write, "\x1b[?2026l")
}

// wave are n that succeed, and every tenth of them fails.
func wave(n, parallel int) *terminaltest.Many {
	b := terminaltest.BatchOf(parallel)
	for i := range n {
		s := terminaltest.Succeeding()
		if i%10 == 9 {
			s = terminaltest.ImageNotFound()
		}
		b.Add(terminaltest.Member(fmt.Sprintf("user-%03d", i), "dev"), time.Duration(i/parallel)*22*time.Second, s)
	}
	return b.End()
}

// fleetOf is a workload with so many replicas that not all of them are shown.
func fleetOf(n int) *terminaltest.Script {
	s := terminaltest.Opening()
	var stages []v1.Stage
	for i := range n {
		stages = append(stages, []v1.Stage{
			v1.StageRunning, v1.StageRunning, v1.StagePulling, v1.StageRunning,
			v1.StageFailed, v1.StageScheduling,
		}[i%6])
	}
	s.Stage(300*time.Millisecond, v1.StagePulling,
		v1.Snapshot{Message: "deployment/web", Replicas: terminaltest.Replicas(stages...)})
	return s
}

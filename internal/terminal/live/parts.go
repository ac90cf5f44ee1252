package live

import (
	"fmt"
	"slices"
	"strings"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/terminal/style"
	"github.com/berthdev/berth/internal/terminal/wording"
)

// maxReplicas are shown however high the terminal is: more are better counted.
const maxReplicas = 10

// partLines are what the running stage is about: the replicas of a workload, or
// the containers of the one pod. The other lines need room, too.
func (m *model) partLines(v view, others int) []string {
	s := m.snapshot
	if len(s.Replicas) <= 1 && len(s.Containers) > 0 {
		return containerLines(s.Containers, v)
	}
	room := maxReplicas
	if v.height > 0 {
		room = min(max(v.height-1-others, 1), maxReplicas)
	}
	return replicaLines(s.Replicas, v, room)
}

// containerLines are the containers below the running stage. As long as all of
// them wait, they say nothing that the stage does not.
func containerLines(cs []v1.Container, v view) []string {
	widest, news := 0, false
	for _, c := range cs {
		widest = max(widest, style.Width(v.Text(c.Name)))
		news = news || c.State != v1.ContainerWaiting
	}
	if !news {
		return nil
	}
	widest = min(widest, max(v.Width/2-6, 8))
	lines := make([]string, 0, len(cs))
	for _, c := range cs {
		name := style.Pad(v.CutMiddle(v.Text(c.Name), widest), widest)
		state := v.Cut(v.Text(wording.ContainerText(c)), max(v.Width-1-6-widest-3, 0))
		lines = append(lines, "      "+style.Paint(v.Grey, name)+"   "+style.Paint(v.Container(c.State), state))
	}
	return lines
}

// replicaLines are the pods of a workload below the running stage. If not all fit,
// those that do not run are shown before those that do, and the last line counts
// the rest.
func replicaLines(rs []v1.Replica, v view, room int) []string {
	shown, rest := foldReplicas(rs, room)
	widest, stages := 0, 0
	for _, r := range shown {
		widest = max(widest, style.Width(v.Text(r.Name)))
		stages = max(stages, style.Width(v.Text(string(r.Stage))))
	}
	widest = min(widest, max(v.Width*2/5, 8))
	lines := make([]string, 0, len(shown)+1)
	for _, r := range shown {
		lines = append(lines, replicaLine(r, widest, stages, v))
	}
	if len(rest) > 0 {
		text := fmt.Sprintf("%s and %d more: %s", v.Ellipsis, len(rest), stageCounts(rest))
		lines = append(lines, "      "+style.Paint(v.Grey, v.Cut(v.Text(text), max(v.Width-1-6, 0))))
	}
	return lines
}

// minText is how much of a text is worth showing.
const minText = 6

func replicaLine(r v1.Replica, name, stage int, v view) string {
	word := v.Text(string(r.Stage))
	line := "      " + style.Pad(v.CutMiddle(v.Text(r.Name), name), name) + "   " +
		style.Paint(v.Stage(r.Stage), word) + strings.Repeat(" ", max(stage-style.Width(word), 0))
	text := r.Message
	if text == "" || r.Stage == v1.StageRunning {
		text = r.Node
	}
	room := v.Width - 1 - style.Width(line) - 3
	if room < minText {
		return line
	}
	return strings.TrimRight(line+"   "+style.Paint(v.Grey, v.Cut(v.Text(text), room)), " ")
}

// foldReplicas chooses those to be shown, in the order in which they came if all
// of them fit.
func foldReplicas(rs []v1.Replica, room int) (shown, rest []v1.Replica) {
	if len(rs) <= room {
		return rs, nil
	}
	sorted := slices.Clone(rs)
	slices.SortStableFunc(sorted, func(a, b v1.Replica) int { return urgency(a.Stage) - urgency(b.Stage) })
	return sorted[:max(room-1, 0)], sorted[max(room-1, 0):]
}

// urgency puts failures first, and what runs last.
func urgency(s v1.Stage) int {
	switch s {
	case v1.StageFailed:
		return 0
	case v1.StageRunning:
		return 2
	default:
		return 1
	}
}

// stageCounts counts by stage, the farthest first: 10 Running, 2 Pulling.
func stageCounts(rs []v1.Replica) string {
	counts := map[v1.Stage]int{}
	var stages []v1.Stage
	for _, r := range slices.Backward(rs) {
		if counts[r.Stage] == 0 {
			stages = append(stages, r.Stage)
		}
		counts[r.Stage]++
	}
	parts := make([]string, 0, len(stages))
	for _, s := range stages {
		parts = append(parts, fmt.Sprintf("%d %s", counts[s], s))
	}
	return strings.Join(parts, ", ")
}

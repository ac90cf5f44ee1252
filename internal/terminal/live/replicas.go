package live

import (
	"fmt"
	"slices"
	"strings"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/terminal/style"
)

// replicaLines are the pods of a workload below the running stage, one line
// each. Where there are more than fit, those that are still to come are shown
// before those that run, and the last line counts the rest.
func replicaLines(rs []v1.Replica, v view, room int) []string {
	shown, rest := foldReplicas(rs, room)
	widest, stages := 0, 0
	for _, r := range shown {
		widest = max(widest, style.Width(v.Styles.Text(r.Name)))
		stages = max(stages, style.Width(v.Styles.Text(string(r.Stage))))
	}
	widest = min(widest, max(v.Width*2/5, 8))
	lines := make([]string, 0, len(shown)+1)
	for _, r := range shown {
		lines = append(lines, replicaLine(r, widest, stages, v))
	}
	if len(rest) > 0 {
		text := fmt.Sprintf("%s and %d more: %s", v.Styles.Ellipsis, len(rest), stageCounts(rest))
		lines = append(lines, "      "+style.Paint(v.Styles.Grey, v.Styles.Cut(v.Styles.Text(text), max(v.Width-1-6, 0))))
	}
	return lines
}

// leastText is how much of a text is worth showing.
const leastText = 6

func replicaLine(r v1.Replica, name, stage int, v view) string {
	line := "      " + style.Pad(v.Styles.CutMiddle(v.Styles.Text(r.Name), name), name) + "   " +
		style.Paint(v.Styles.Stage(r.Stage), v.Styles.Text(string(r.Stage))) + strings.Repeat(" ", max(stage-style.Width(v.Styles.Text(string(r.Stage))), 0))
	text := r.Message
	if text == "" || r.Stage == v1.StageRunning {
		text = r.Node
	}
	room := v.Width - 1 - style.Width(line) - 3
	if room < leastText {
		return line
	}
	return strings.TrimRight(line+"   "+style.Paint(v.Styles.Grey, v.Styles.Cut(v.Styles.Text(text), room)), " ")
}

// foldReplicas chooses those to be shown, in the order in which they came where
// all of them fit.
func foldReplicas(rs []v1.Replica, room int) (shown, rest []v1.Replica) {
	if len(rs) <= room {
		return rs, nil
	}
	sorted := slices.Clone(rs)
	slices.SortStableFunc(sorted, func(a, b v1.Replica) int { return urgency(a.Stage) - urgency(b.Stage) })
	return sorted[:max(room-1, 0)], sorted[max(room-1, 0):]
}

// urgency puts trouble first, and what needs no look any more last.
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

// stageCounts tells how many are how far, the farthest first: 10 Running, 2 Pulling.
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

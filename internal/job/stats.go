package job

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"time"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/store"
)

// Stats counts jobs, all together and, unless by is empty, in groups.
func Stats(jobs []v1.Job, by v1.JobGrouping) v1.JobStats {
	stats := v1.JobStats{By: by, Total: group("", jobs)}
	if by == "" {
		return stats
	}
	members := map[string][]v1.Job{}
	for _, j := range jobs {
		name := groupOf(j, by)
		members[name] = append(members[name], j)
	}
	for name, jobs := range members {
		stats.Groups = append(stats.Groups, group(name, jobs))
	}
	slices.SortFunc(stats.Groups, func(a, b v1.JobGroup) int {
		return cmp.Or(cmp.Compare(b.Jobs, a.Jobs), cmp.Compare(a.Name, b.Name))
	})
	return stats
}

// groupOf is the group that a job is in; empty if its record does not say it.
func groupOf(j v1.Job, by v1.JobGrouping) string {
	switch by {
	case v1.JobsByBlueprint:
		return j.Blueprint
	case v1.JobsByUser:
		return j.Username
	case v1.JobsByNode:
		return j.Node
	case v1.JobsByImage:
		return j.Image
	}
	return ""
}

func group(name string, jobs []v1.Job) v1.JobGroup {
	g := v1.JobGroup{Name: name, Jobs: len(jobs)}
	causes, took, stages := map[string]int{}, []float64(nil), map[v1.Stage][]float64{}
	for _, j := range jobs {
		switch j.State {
		case v1.JobSucceeded:
			g.Succeeded++
			took = append(took, j.FinishedAt.Sub(j.CreatedAt).Seconds())
		case v1.JobFailed:
			g.Failed++
			causes[cmp.Or(j.Cause, j.Code)]++
		case v1.JobCreated:
			g.Created++
		case v1.JobInterrupted:
			g.Interrupted++
		case v1.JobRunning:
			g.Running++
		}
		for stage, seconds := range inStages(j) {
			stages[stage] = append(stages[stage], seconds)
		}
	}
	for code, n := range causes {
		g.Causes = append(g.Causes, v1.JobCause{Code: code, Jobs: n})
	}
	slices.SortFunc(g.Causes, func(a, b v1.JobCause) int {
		return cmp.Or(cmp.Compare(b.Jobs, a.Jobs), cmp.Compare(a.Code, b.Code))
	})
	if len(took) > 0 {
		g.UntilRunning = new(percentiles(took))
	}
	inOrder := func(a, b v1.Stage) int { return cmp.Compare(slices.Index(passed(), a), slices.Index(passed(), b)) }
	for _, stage := range slices.SortedFunc(maps.Keys(stages), inOrder) {
		g.Stages = append(g.Stages, v1.StagePercentiles{Stage: stage, Percentiles: percentiles(stages[stage])})
	}
	return g
}

// inStages is how long a job was in each stage that has ended, all its returns to it together.
func inStages(j v1.Job) map[v1.Stage]float64 {
	seconds := map[v1.Stage]float64{}
	for _, s := range j.Timeline {
		if s.Type == v1.JobSpanStage && s.State != v1.StepBegun {
			seconds[v1.Stage(s.Name)] += s.Seconds
		}
	}
	return seconds
}

// percentiles are by nearest rank: the least duration that so many of them do not exceed.
func percentiles(durations []float64) v1.Percentiles {
	slices.Sort(durations)
	rank := func(part float64) float64 {
		return durations[max(int(math.Ceil(part*float64(len(durations)))), 1)-1]
	}
	return v1.Percentiles{Jobs: len(durations), Median: rank(0.5), P90: rank(0.9), Max: rank(1)}
}

// Counts are how many records there are in a namespace of the cluster.
type Counts struct {
	// Kept have not expired. Expired are deleted by the next command that writes there.
	Kept, Expired int
	// Pending are those of Kept that wait for NATS.
	Pending int
}

// Count counts records by the labels of their ConfigMaps.
func Count(labels []map[string]string, now time.Time) (c Counts) {
	for _, l := range labels {
		switch {
		case store.Expired(l[LabelExpires], now):
			c.Expired++
			continue
		case l[LabelPendingMove] != "":
			c.Pending++
		}
		c.Kept++
	}
	return c
}

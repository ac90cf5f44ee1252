package controller

import (
	"time"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/lifecycle"
)

// Action is what is done to bring a workspace to its desired state.
type Action string

// The actions.
const (
	Nothing Action = ""
	Start   Action = "start"
	Stop    Action = "stop"
	Delete  Action = "delete"
	// Lost is for a workspace of which nothing is left that could be started or stopped.
	Lost Action = "lost"
)

// Decide says what to do about a workspace as it stands.
func Decide(desired v1.DesiredState, seen lifecycle.Seen) Action {
	ending := seen.Pods && isEnding(seen.Reading)
	gone := !seen.Pods && !seen.Kept
	switch desired {
	case v1.DesiredTerminated:
		if !gone && !ending { // what is left then is deleted when the pods are gone
			return Delete
		}
	case v1.DesiredStopped, v1.DesiredRestart:
		switch {
		case gone:
			return Lost
		case seen.Pods && !ending:
			return Stop
		}
	case v1.DesiredRunning:
		switch {
		case gone:
			return Lost
		case !seen.Pods, isOver(seen):
			return Start
		}
	}
	return Nothing
}

// isOver is true for a pod that has ended by itself, or by its node, and does not start again:
// it is replaced. One that somebody has asked to stop is left to them.
func isOver(seen lifecycle.Seen) bool {
	return seen.Pods && seen.Reading.Ended && !isEnding(seen.Reading) && seen.Reading.Status != v1.StatusStopping
}

// isEnding is true for pods that are on their way out.
func isEnding(reading v1.Snapshot) bool {
	return reading.Stage == v1.StageTerminating || reading.Status == v1.StatusTerminating
}

// replacement is what is known of the pods of a workspace that were replaced, as they were over.
type replacement struct {
	times int
	at    time.Time
}

// The pauses between two replacements: the first one is made at once, and each takes twice the
// time of the one before, as the kubelet restarts containers. What ran for long begins again.
const (
	leastReplacePause = 10 * time.Second
	mostReplacePause  = 5 * time.Minute
	provenAfter       = 10 * time.Minute
)

// pause is how long after a replacement the next one is left to wait.
func (r replacement) pause() time.Duration {
	pause := leastReplacePause
	for n := 1; n < r.times && pause < mostReplacePause; n++ {
		pause *= 2
	}
	return min(pause, mostReplacePause)
}

// again is the replacement after this one.
func (r replacement) again(now time.Time) replacement {
	if now.Sub(r.at) > provenAfter {
		r.times = 0
	}
	return replacement{r.times + 1, now}
}

// restartPause is how long the second half of a restart is left to the command that makes it: the
// command has its own job, and does nothing in between.
const restartPause = 2 * time.Second

// wait is how long nothing is to be done about a workspace: one that a command is restarting, or
// whose pod is over again, right after it was replaced.
func (k *known) wait(key string, now time.Time) time.Duration {
	k.mu.Lock()
	defer k.mu.Unlock()
	record, standing := k.records[key], k.standing(key)
	if Decide(record.Desired, standing) != Start {
		return 0
	}
	if age := now.Sub(record.DesiredAt); record.Restarting() && age >= 0 &&
		age < restartPause { // not by clocks that differ
		return restartPause - age
	}
	r, before := k.replaced[key]
	if !before || !isOver(standing) {
		return 0
	}
	return max(r.at.Add(r.pause()).Sub(now), 0)
}

// replacedAt notes that a pod that was over is replaced.
func (k *known) replacedAt(key string, now time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.replaced[key] = k.replaced[key].again(now)
}

package controller

import "time"

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

package controller

import (
	"maps"
	"slices"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/lifecycle"
)

// ended notes how the work on a workspace ended.
func (k *known) ended(key string, r lifecycle.Record, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.remains, key)
	if _, ok := k.records[key]; !ok { // it is gone, and nobody would drop what is noted of it
		return
	}
	if err == nil {
		delete(k.failures, key)
		k.worked[key] = true
		return
	}
	failure := lifecycle.Failure{Incarnation: r.Incarnation, Changed: r.Changed, Message: message(err)}
	k.worked[key] = k.worked[key] || k.failures[key] != failure // what fails again is recorded already
	k.failures[key] = failure
}

// defective notes an error that nobody expected, of work that has ended before it could be
// noted.
func (k *known) defective(key string, err error) {
	if fault.CodeOf(err) != fault.Internal {
		return
	}
	r, _ := k.of(key)
	k.ended(key, r, err)
}

// of is what is known of one workspace.
func (k *known) of(key string) (lifecycle.Record, lifecycle.Seen) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.records[key], k.standing(key)
}

// standing is a workspace as it was seen. What was not looked for since its pods went is taken to
// be there: the work on it looks, and the next exchange does.
func (k *known) standing(key string) lifecycle.Seen {
	w, pods := k.seen[key]
	remains, looked := k.remains[key]
	s := lifecycle.Seen{Pods: pods, Reading: w.Snapshot, Kept: remains || !looked}
	failure, failed := k.failures[key]
	switch r := k.records[key]; {
	case !failed:
	case Decide(r.Desired, s) == Nothing: // somebody else has brought it about
		delete(k.failures, key)
	default:
		s.Failure = &failure
	}
	return s
}

// report is what is so: of all workspaces, recorded or not, or of those that are not as they are
// recorded.
func (k *known) report(full bool) lifecycle.Report {
	k.mu.Lock()
	defer k.mu.Unlock()
	report := lifecycle.Report{Full: full}
	keys := slices.Collect(maps.Keys(k.records))
	if full {
		keys = slices.AppendSeq(keys, maps.Keys(k.seen))
	}
	slices.Sort(keys)
	for _, key := range slices.Compact(keys) {
		r := k.records[key]
		actual, cause := k.standing(key).Of(r)
		if full || k.worked[key] || actual != r.Actual || cause != r.Cause {
			report.Workspaces = append(report.Workspaces, lifecycle.Reported{
				ID: key, Incarnation: r.Incarnation, Actual: actual, Cause: cause, Version: k.seen[key].JobID,
			})
		}
	}
	return report
}

// touchAll has all that is recorded looked at.
func (k *known) touchAll() {
	k.mu.Lock()
	defer k.mu.Unlock()
	for key := range k.records {
		k.touched[key] = true
	}
}

// takeTouched are the workspaces whose pods have changed since the last time, and that are
// not the desired state that was answered: somebody else has deleted a pod.
func (k *known) takeTouched() (keys []string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for key := range k.touched {
		if r, ok := k.records[key]; ok && !r.Pending() && Decide(r.Desired, k.standing(key)) != Nothing {
			keys = append(keys, key)
		}
	}
	clear(k.touched)
	slices.Sort(keys)
	return keys
}

package controller

import (
	"maps"
	"slices"
	"sync"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/lifecycle"
)

// known is what is known of the workspaces, by the keys of their records: what is recorded,
// what is seen of them, and what has become of the work on them.
type known struct {
	mu      sync.Mutex
	records map[string]lifecycle.Record
	seen    map[string]v1.Workspace // those that have pods
	// remains says of those without pods whether something else of them is left.
	remains  map[string]bool
	failures map[string]lifecycle.Failure
	// worked are those that were worked on since they were reported: they are reported again,
	// whatever they are, so that a change that was wanted meanwhile is answered.
	worked map[string]bool
	// touched are those whose pods have changed since they were last looked at.
	touched map[string]bool
	// replaced is how often pods that were over were replaced, and when last.
	replaced map[string]replacement
	// looked is true once workspaces that are installed without pods were looked for. Only
	// exchanges have it.
	looked bool
}

func newKnown() *known {
	return &known{
		records: map[string]lifecycle.Record{}, seen: map[string]v1.Workspace{}, remains: map[string]bool{},
		failures: map[string]lifecycle.Failure{}, worked: map[string]bool{}, touched: map[string]bool{},
		replaced: map[string]replacement{},
	}
}

func keyOf(w v1.Workspace) string { return lifecycle.Key(w.Namespace, w.ID) }

// see notes workspaces as they are, or that they have no pods any more.
func (k *known) see(all []v1.Workspace) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, w := range all {
		k.seeOne(w)
	}
}

// seeAll notes all workspaces that have pods.
func (k *known) seeAll(all []v1.Workspace) {
	k.mu.Lock()
	defer k.mu.Unlock()
	before := k.seen
	k.seen = make(map[string]v1.Workspace, len(all))
	for _, w := range all {
		k.seeOne(w)
		delete(before, keyOf(w))
	}
	for _, w := range before {
		w.Gone = true
		k.seeOne(w)
	}
}

func (k *known) seeOne(w v1.Workspace) {
	key := keyOf(w)
	k.touched[key] = true
	delete(k.remains, key)
	if w.Gone {
		delete(k.seen, key)
	} else {
		k.seen[key] = w
	}
}

// replaceRecords notes all records.
func (k *known) replaceRecords(all []lifecycle.Record) {
	k.mu.Lock()
	defer k.mu.Unlock()
	before := k.records
	k.records = make(map[string]lifecycle.Record, len(all))
	for _, r := range all {
		k.records[r.Key()] = r.Newer(before[r.Key()])
		delete(before, r.Key())
	}
	for key := range before {
		k.drop(key)
	}
}

// drop forgets a workspace that has no record any more, but for its pods.
func (k *known) drop(key string) {
	delete(k.records, key)
	delete(k.failures, key)
	delete(k.remains, key)
	delete(k.worked, key)
	delete(k.replaced, key)
}

// setRecord notes one; an empty one does not exist.
func (k *known) setRecord(key string, r lifecycle.Record) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if r.ID == "" {
		k.drop(key)
		return
	}
	k.records[key] = r.Newer(k.records[key])
}

func (k *known) copyRecords() map[string]lifecycle.Record {
	k.mu.Lock()
	defer k.mu.Unlock()
	return maps.Clone(k.records)
}

// exchanged notes what an exchange has written: what it reported is recorded.
func (k *known) exchanged(written map[string]lifecycle.Record) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for key, r := range written {
		k.records[key] = r.Newer(k.records[key])
		delete(k.worked, key)
	}
}

// without are the workspaces that are seen and not recorded. One that is on its way out is
// left alone.
func (k *known) without() (all []v1.Workspace) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for key, w := range k.seen {
		if _, ok := k.records[key]; !ok && !isEnding(w.Snapshot) {
			all = append(all, w)
		}
	}
	return all
}

// unknownOf are those of workspaces that are neither seen nor recorded.
func (k *known) unknownOf(all []v1.Workspace) []v1.Workspace {
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.DeleteFunc(all, func(w v1.Workspace) bool {
		_, seen := k.seen[keyOf(w)]
		_, recorded := k.records[keyOf(w)]
		return seen || recorded
	})
}

// podless are the records of workspaces without pods of which it is not known whether
// anything is left.
func (k *known) podless() (all []lifecycle.Record) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for key, r := range k.records {
		_, looked := k.remains[key]
		if _, seen := k.seen[key]; !seen && !looked {
			all = append(all, r)
		}
	}
	return all
}

func (k *known) setRemains(key string, remains bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.remains[key] = remains
}

// forgetRemains has all workspaces without pods looked for again.
func (k *known) forgetRemains() {
	k.mu.Lock()
	defer k.mu.Unlock()
	clear(k.remains)
}

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

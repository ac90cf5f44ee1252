package controller

import (
	"maps"
	"slices"
	"sync"

	v1 "github.com/berthdev/berth/api/v1"
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

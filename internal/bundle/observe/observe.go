// Package observe watches what instances have installed, and says of which of them something has changed: one watch for
// each kind and namespace, of the metadata alone, whatever the number of instances.
package observe

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"k8s.io/client-go/metadata"

	"github.com/berthdev/berth/internal/apply/live"
	"github.com/berthdev/berth/internal/fault"
)

// Set is what is to be watched for an instance.
type Set struct {
	// As is whose rights the client has. Instances with the same share their watches.
	As     string
	Client func() (metadata.Interface, error)
	Scopes []live.Scope
}

// place is what one watch is about, and with whose rights.
type place struct {
	as string
	live.Scope
}

// places are those of a set, each once.
func (s Set) places() map[place]bool {
	all := map[place]bool{}
	for _, scope := range s.Scopes {
		all[place{s.As, scope}] = true
	}
	return all
}

// Watches are those of a server. Nil watches nothing.
type Watches struct {
	log *slog.Logger

	mu     sync.Mutex
	sets   map[string]Set // by instance
	inputs map[place]*input
	paces  map[string]*pace // by instance
	// open begins a watch, and add says that an instance is to be looked at; both are nil while nothing runs.
	open    func(*input)
	add     func(instance string)
	running sync.WaitGroup
}

// New makes watches, none at first.
func New(log *slog.Logger) *Watches {
	return &Watches{log: log, sets: map[string]Set{}, inputs: map[place]*input{}, paces: map[string]*pace{}}
}

// Run watches until ctx ends, and adds each instance of which something has changed: soon, and changes that come
// together once.
func (w *Watches) Run(ctx context.Context, add func(instance string)) {
	w.mu.Lock()
	w.add = add
	w.open = func(in *input) {
		watching, stop := context.WithCancel(ctx)
		in.stop = stop
		w.running.Go(func() { in.run(watching) })
	}
	for instance, set := range w.sets {
		w.put(instance, set)
	}
	w.mu.Unlock()
	<-ctx.Done()
	w.mu.Lock()
	w.open, w.add = nil, nil
	for _, p := range w.paces {
		p.stop()
	}
	w.inputs = map[place]*input{}
	w.mu.Unlock()
	w.running.Wait()
}

// Drop watches nothing any more for an instance.
func (w *Watches) Drop(instance string) {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.put(instance, Set{})
	delete(w.sets, instance)
	if p := w.paces[instance]; p != nil {
		p.stop()
		delete(w.paces, instance)
	}
}

// Begin says that a pass over an instance begins, which sees all that has changed before.
func (w *Watches) Begin(instance string) {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.paceOf(instance).begin()
}

// End says that a pass over an instance has ended, and gives what is to be watched from now on; a set without scopes
// says nothing. What has changed meanwhile, by the pass or by others, is looked at; after a pass that has failed it is
// left to the next try, which comes later each time: what such a pass writes and takes back must not begin it again.
func (w *Watches) End(instance string, set Set, failed bool) {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(set.Scopes) > 0 {
		w.put(instance, set)
	}
	w.tell(instance, w.paceOf(instance).end(failed, time.Now()))
}

func (w *Watches) paceOf(instance string) *pace {
	p := w.paces[instance]
	if p == nil {
		p = newPace()
		w.paces[instance] = p
	}
	return p
}

// put begins the watches that an instance is the first to want, and ends those that it was the last to want.
func (w *Watches) put(instance string, set Set) {
	wanted, before := set.places(), w.sets[instance].places()
	w.sets[instance] = set
	if w.open == nil {
		return
	}
	for at := range wanted {
		in := w.inputs[at]
		switch {
		case in == nil:
			in = &input{watches: w, place: at, client: set.Client, users: map[string]bool{}}
			w.inputs[at] = in
			w.open(in)
		case in.mayReopen(time.Now()):
			in.client, in.err = set.Client, nil
			w.open(in)
		case in.synced && !in.users[instance]:
			w.tell(instance, status) // what has changed since its pass is not known
		}
		in.users[instance] = true
	}
	for at := range before {
		in := w.inputs[at]
		if in == nil || wanted[at] {
			continue
		}
		delete(in.users, instance)
		if len(in.users) == 0 {
			in.stop()
			delete(w.inputs, at)
		}
	}
}

// tell has an instance looked at; the lock is held.
func (w *Watches) tell(instance string, c change) {
	if w.add == nil || c == nothing {
		return
	}
	p, now := w.paceOf(instance), time.Now()
	at, moved := p.next(c, now)
	if !moved {
		return
	}
	p.stop()
	p.timer = time.AfterFunc(at.Sub(now), func() { w.due(instance, p) })
}

// due adds an instance whose time has come.
func (w *Watches) due(instance string, p *pace) {
	w.mu.Lock()
	add := w.add
	p.at = time.Time{}
	w.mu.Unlock()
	if add != nil {
		add(instance)
	}
}

// refused says once of what may not be watched, or cannot be, that it is not.
func (w *Watches) refused(in *input, err error) {
	if in.said {
		return
	}
	in.said = true
	w.log.Warn("what instances have installed is not watched: changes of it are noticed once a period",
		slog.String("resource", in.GroupResource().String()), slog.String("namespace", in.Namespace),
		slog.String("as", in.as), slog.Any("instances", slices.Sorted(maps.Keys(in.users))),
		slog.String("error", fault.Line(err.Error())))
}

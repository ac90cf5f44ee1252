//go:build linux

// Package driver is the CSI driver of scratch volumes: directories of a node whose data outlives the pod for a while.
package driver

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	csi "github.com/container-storage-interface/spec/lib/go/csi"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/volume"
	"github.com/berthdev/berth/internal/volume/queue"
	"github.com/berthdev/berth/internal/volume/tree"
)

// Options are what a driver is told.
type Options struct {
	// Name is that of the driver, and Version that of the program.
	Name, Version string
	// Node is the ID of the node.
	Node string
	// Directory has the volumes.
	Directory string
	// Afterlife is how long data outlives its pod at most.
	Afterlife time.Duration
	// PruneInterval is how often is looked for what is to go.
	PruneInterval time.Duration
	// Headroom is the part of the disk that is to be free.
	Headroom float64
	// MaxVolumes is how many volumes pods of the node may use; 0 for any number.
	MaxVolumes int64
	// MaxQueued is how many volumes may be in their afterlife; 0 for any number. The oldest of more go.
	MaxQueued int

	Log *slog.Logger
	Now func() time.Time
	// Step is called between the steps of the work; nil outside of tests.
	Step func(Step)
}

// Step is a place in the work at which the process could end.
type Step string

// The steps.
const (
	PublishRecorded    Step = "publish: recorded"
	PublishMade        Step = "publish: directory made"
	PublishMounted     Step = "publish: mounted"
	UnpublishUnmounted Step = "unpublish: unmounted"
	UnpublishQueued    Step = "unpublish: queued"
	UnpublishAnswering Step = "unpublish: answering"
	EvictBegun         Step = "evict: begun"
	EvictRemoved       Step = "evict: removed"
	EvictForgotten     Step = "evict: forgotten"
)

// Driver is a driver at work.
type Driver struct {
	csi.UnimplementedIdentityServer
	csi.UnimplementedNodeServer

	o     Options
	queue *queue.Queue
	dir   *tree.Dir
	locks locks
	// admission is of those who are counted; see Options.MaxVolumes.
	admission sync.Mutex

	// measure tells that there is something to measure.
	measure chan struct{}
	removed atomic.Int64

	mu    sync.Mutex
	holds map[string]int // volumes that administrators read
	large map[string]bool
	reads reads
}

// The driver is what administrators ask.
var _ volume.Node = (*Driver)(nil)

// fileQueue is the database in the working directory.
const fileQueue = "queue.db"

// New opens the working directory and its queue. Directories that nobody knows are taken up.
func New(o Options) (*Driver, error) {
	if o.Step == nil {
		o.Step = func(Step) {}
	}
	if err := checkDirectory(o.Directory); err != nil {
		return nil, err
	}
	katbox, was, err := readKatbox(o)
	if err != nil {
		return nil, err
	}
	dir, err := tree.Open(o.Directory)
	if err != nil {
		return nil, err
	}
	// The mount table knows no symbolic links.
	if o.Directory, err = filepath.EvalSymlinks(o.Directory); err == nil {
		o.Directory, err = filepath.Abs(o.Directory)
	}
	if err != nil {
		dir.Close()
		return nil, fault.New(fault.Unavailable, "the working directory: %w", err)
	}
	records, err := queue.Open(filepath.Join(o.Directory, fileQueue), func(err error) {
		o.Log.Error("the records", slog.String("error", fault.Line(err.Error())))
	})
	if err != nil {
		dir.Close()
		return nil, err
	}
	d := &Driver{
		o: o, queue: records, dir: dir, measure: make(chan struct{}, 1), holds: map[string]int{},
		large: map[string]bool{},
	}
	if err := d.takeUp(katbox, was); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

// Close ends the work. Nothing is unmounted.
func (d *Driver) Close() error {
	defer d.dir.Close()
	return d.queue.Close()
}

// Run removes what is due and measures what is new, until ctx ends.
func (d *Driver) Run(ctx context.Context) {
	var measuring sync.WaitGroup
	measuring.Go(func() { d.measureAll(ctx) })
	defer measuring.Wait()
	ticker, looking := time.NewTicker(d.o.PruneInterval), time.NewTicker(abandonInterval)
	defer ticker.Stop()
	defer looking.Stop()
	d.completeRemovals(ctx)
	for {
		d.Prune(ctx)
		select {
		case <-ctx.Done():
			return
		case <-looking.C:
			d.lookForAbandoned()
		case <-ticker.C:
		}
	}
}

// path is where a volume is.
func (d *Driver) path(pod, id string) string { return filepath.Join(d.o.Directory, pod, id) }

// Status is what is counted of a driver.
type Status struct {
	queue.Figures
	// Removed is how many volumes were removed since the start.
	Removed int64
	// Factor is by how much pressure shortens every lifespan; 1 if the disk cannot be read.
	Factor float64
}

// Status counts.
func (d *Driver) Status() Status {
	factor := 1.0
	if disk, err := d.dir.Disk(); err == nil {
		factor = disk.Factor(d.o.Headroom)
	}
	return Status{Figures: d.queue.Figures(), Removed: d.removed.Load(), Factor: factor}
}

// Ready says whether the driver can work.
func (d *Driver) Ready(context.Context) error {
	_, err := d.dir.Disk()
	return errors.Join(err, d.dir.Check())
}

// locks are locks by key: work on one volume is done one after the other.
type locks struct {
	mu   sync.Mutex
	held map[string]chan struct{}
}

// take waits for the lock of a key until ctx ends.
func (l *locks) take(ctx context.Context, key string) (release func(), err error) {
	for {
		if ctx.Err() != nil { // nobody waits for what would be done
			return nil, ctx.Err()
		}
		release, busy := l.try(key)
		if busy == nil {
			return release, nil
		}
		select {
		case <-busy:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// try takes the lock of a key; if somebody has it, busy is closed when it is released.
func (l *locks) try(key string) (release func(), busy <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if held, ok := l.held[key]; ok {
		return nil, held
	}
	if l.held == nil {
		l.held = map[string]chan struct{}{}
	}
	mine := make(chan struct{})
	l.held[key] = mine
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.held, key)
		close(mine)
	}, nil
}

package cmdutil

import (
	"context"
	"slices"
	"sync"
	"time"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/event"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/job"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/lifecycle"
	"github.com/berthdev/berth/internal/provision/controller/guard"
	"github.com/berthdev/berth/internal/provision/inventory"
	"github.com/berthdev/berth/internal/terminal"
	"github.com/berthdev/berth/internal/terminal/printer"
)

// Jobs are the records of provisionings that are kept.
type Jobs struct {
	*job.Stores
	client *kube.Client
}

// jobsTimeout is how long a store may take to answer a reader.
const jobsTimeout = 5 * time.Second

// OpenJobs opens the records for reading.
func (d *Dependencies) OpenJobs(ctx context.Context) (Jobs, error) {
	stores, client, err := d.jobStores(ctx)
	if err == nil && stores == nil {
		err = fault.New(fault.InvalidArgument, "job records are disabled (jobs.store: none)").
			WithHint("set jobs.store to auto, nats or cluster in the configuration")
	}
	return Jobs{stores, client}, err
}

// jobStores opens where records are kept; nil for nowhere.
func (d *Dependencies) jobStores(ctx context.Context) (*job.Stores, *kube.Client, error) {
	client, err := Await(ctx, func() (*kube.Client, error) {
		_, client, err := d.configured()
		return client, err
	})
	if err != nil {
		return nil, nil, err
	}
	c, _ := d.Config() // it is valid
	return job.Open(ctx, c.Jobs, client, time.Now), client, nil
}

// Read reads the record of the job that an argument means.
func (j Jobs) Read(ctx context.Context, arg string) (*v1.Job, error) {
	ctx, cancel := context.WithTimeout(ctx, jobsTimeout)
	defer cancel()
	id, err := j.Find(ctx, arg)
	if err != nil {
		return nil, err
	}
	record, err := j.Get(ctx, id)
	if err != nil {
		return nil, err
	}
	return new(record.Document(time.Now())), nil
}

// ReadAll reads all records, or those of one workspace, the newest first, and how their IDs
// are shortened. Those that wait in the cluster for NATS are moved there.
func (j Jobs) ReadAll(
	ctx context.Context, s terminal.Streams, workspace string,
) (list *v1.JobList, short map[string]string, err error) {
	var arg inventory.Argument
	if workspace != "" {
		if arg, err = inventory.ParseArgument(workspace); err != nil {
			return nil, nil, err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, jobsTimeout)
	defer cancel()
	records, unreachable, err := j.List(ctx)
	switch {
	case err != nil && unreachable != nil:
		return nil, nil, unreachable
	case err != nil:
		return nil, nil, err
	case unreachable != nil:
		printer.PrintWarning(s, "listing only the records in the cluster: "+unreachable.Error())
	default:
		if _, err := j.Move(ctx); err != nil {
			printer.PrintWarning(s, "cannot move records from the cluster to NATS: "+err.Error())
		}
	}
	list = &v1.JobList{}
	for _, r := range records {
		if workspace == "" || arg.Means(r.WorkspaceName, r.UserString) {
			list.Items = append(list.Items, r.Document(time.Now()))
		}
	}
	if len(records) == 0 {
		WarnOfNamespace(ctx, s, j.client, j.client.Namespace)
	}
	slices.SortFunc(list.Items, func(a, b v1.Job) int { return b.CreatedAt.Compare(a.CreatedAt) })
	return list, job.ShortIDs(records), nil
}

// Recorders keep the records of one command, of however many workspaces: they
// share the connection to the store.
type Recorders struct {
	stores *job.Stores
	cancel context.CancelFunc

	mu   sync.Mutex
	kept []*job.Recorder
}

// Recorders opens the store beside the work. It outlives an interruption, until
// Close.
func (d *Dependencies) Recorders(ctx context.Context) (*Recorders, error) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stores, _, err := d.jobStores(ctx)
	if err != nil {
		cancel()
		return nil, err
	}
	return &Recorders{stores: stores, cancel: cancel}, nil
}

// Close ends the connection.
func (r *Recorders) Close() {
	r.stores.Close()
	r.cancel()
}

// cleanUpTime is how long the end of a command may wait for the clean-up, which the next one
// that writes does again.
const cleanUpTime = time.Second

// CleanUp removes records that have expired beside the work of a command that keeps none
// itself. The function waits until that is done.
func (r *Recorders) CleanUp(ctx context.Context) (wait func()) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		r.stores.CleanUp(ctx)
	}()
	return func() {
		defer cancel()
		select {
		case <-done:
		case <-time.After(cleanUpTime):
		case <-ctx.Done():
		}
	}
}

// New is a recorder of one provisioning, and the sinks that it adds to the
// stream; neither if no records are kept.
func (r *Recorders) New() (*job.Recorder, []event.Sink) {
	recorder := job.NewRecorder(r.stores, time.Now)
	if recorder == nil {
		return nil, nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.kept = append(r.kept, recorder)
	return recorder, []event.Sink{recorder}
}

// Single is New for a loop, which says itself why a record could not be kept, and leaves those
// that have expired to the commands of users. It is nil if no records are kept.
func (r *Recorders) Single() *job.Recorder { return job.NewRecorder(r.stores, time.Now).Leaving() }

// Warn prints why records could not be kept, each reason once. That is never a
// failure.
func (r *Recorders) Warn(s terminal.Streams) {
	r.mu.Lock()
	defer r.mu.Unlock()
	printed := map[string]bool{}
	for _, recorder := range r.kept {
		if err := recorder.Problem(); err != nil && !printed[err.Error()] {
			printed[err.Error()] = true
			printer.PrintWarning(s, err.Error())
		}
	}
}

// States is where the desired states of workspaces are kept: where the records of jobs are,
// or in the cluster if none are kept. It shares their connection.
func (r *Recorders) States(client *kube.Client) lifecycle.Place {
	return lifecycle.Place{Client: client, NATS: r.stores.Connection()}
}

// Limits are those of the configuration, which hold where the blueprint of a workspace says
// nothing.
func (d *Dependencies) Limits() (lifecycle.Limits, error) {
	c, err := d.Config()
	return lifecycle.Hours(c.Limits.Limits).Limits(), err
}

// States opens that place, and says how to close it.
func (d *Dependencies) States(ctx context.Context) (place lifecycle.Place, done func(), err error) {
	stores, _, err := d.jobStores(ctx)
	if err != nil {
		return place, nil, err
	}
	client, err := d.Client()
	return lifecycle.Place{Client: client, NATS: stores.Connection()}, stores.Close, err
}

// LimitsNow are Limits as the configuration is now.
func (d *Dependencies) LimitsNow() (lifecycle.Limits, error) {
	c, err := d.Reload()
	return lifecycle.Hours(c.Limits.Limits).Limits(), err
}

// Guarded asks whether the cluster checks the authors of records; nil if they are trusted. No
// admission checks those of NATS.
func Guarded(place lifecycle.Place, trust bool) (func(context.Context) error, error) {
	switch {
	case trust:
		return nil, nil
	case place.NATS != nil:
		return nil, fault.New(fault.InvalidArgument, "records in NATS do not say who wrote them").
			WithHint(
				"use --trust-records, if everybody who may write the bucket %s may start and delete workspaces; "+
					"their storage is kept",
				lifecycle.Bucket,
			)
	}
	return func(ctx context.Context) error { return guard.Stands(ctx, place.Client.Dynamic) }, nil
}

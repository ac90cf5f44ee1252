package commands

import (
	"context"
	"os"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/berthdev/berth/internal/config"
	"github.com/berthdev/berth/internal/event"
	"github.com/berthdev/berth/internal/job"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/provision"
	"github.com/berthdev/berth/internal/terminal"
	"github.com/berthdev/berth/internal/terminal/printer"
)

// jobStores opens where job records are kept, as configured; nil for nowhere.
func (a *app) jobStores(ctx context.Context, cmd *cobra.Command, client *kube.Client) (*job.Stores, error) {
	c, err := config.Load(cmd.Flags(), os.Getenv)
	if err != nil {
		return nil, err
	}
	return job.Open(ctx, c.Jobs, client, time.Now), nil
}

// jobRecords is where the records of one command go, of however many
// workspaces: they share the way to the store.
type jobRecords struct {
	stores *job.Stores
	cancel context.CancelFunc

	mu   sync.Mutex
	kept []*job.Recorder
}

// keepRecords opens the way to the store beside the work; it outlives an
// interruption, until close.
func (a *app) keepRecords(ctx context.Context, cmd *cobra.Command, client *kube.Client) (*jobRecords, error) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stores, err := a.jobStores(ctx, cmd, client)
	if err != nil {
		cancel()
		return nil, err
	}
	return &jobRecords{stores: stores, cancel: cancel}, nil
}

func (r *jobRecords) close() {
	r.stores.Close()
	r.cancel()
}

// of is a provisioner that keeps a record of its own, and the sinks of its
// stream: the renderer, and the record if one is kept.
func (r *jobRecords) of(p *provision.Provisioner, progress event.Sink) (*provision.Provisioner, []event.Sink) {
	own := *p
	own.Jobs = job.NewRecorder(r.stores, time.Now)
	if own.Jobs == nil {
		return &own, []event.Sink{progress}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.kept = append(r.kept, own.Jobs)
	return &own, []event.Sink{progress, own.Jobs}
}

// warn says in a line if records are not where they belong, once for all that
// share the reason. That is never a failure.
func (r *jobRecords) warn(streams terminal.Streams) {
	r.mu.Lock()
	defer r.mu.Unlock()
	said := map[string]bool{}
	for _, recorder := range r.kept {
		if err := recorder.Problem(); err != nil && !said[err.Error()] {
			said[err.Error()] = true
			printer.PrintWarning(streams, err.Error())
		}
	}
}

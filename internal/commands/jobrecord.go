package commands

import (
	"context"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/berthdev/berth/internal/config"
	"github.com/berthdev/berth/internal/event"
	"github.com/berthdev/berth/internal/job"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/provision"
	"github.com/berthdev/berth/internal/terminal"
)

// jobStores opens where job records are kept, as configured; nil for nowhere.
func (a *app) jobStores(ctx context.Context, cmd *cobra.Command, client *kube.Client) (*job.Stores, error) {
	c, err := config.Load(cmd.Flags(), os.Getenv)
	if err != nil {
		return nil, err
	}
	return job.Open(ctx, c.Jobs, client, time.Now), nil
}

// jobRecord is the record that one command keeps.
type jobRecord struct {
	recorder *job.Recorder
	close    func()
}

// keepRecord makes p keep a record of what it does. The way to the store is
// opened beside the work, and outlives an interruption.
func (a *app) keepRecord(ctx context.Context, cmd *cobra.Command, p *provision.Provisioner) (jobRecord, error) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stores, err := a.jobStores(ctx, cmd, p.Client)
	if err != nil {
		cancel()
		return jobRecord{}, err
	}
	p.Jobs = job.NewRecorder(stores, time.Now)
	return jobRecord{recorder: p.Jobs, close: func() {
		stores.Close()
		cancel()
	}}, nil
}

// beside are the sinks of a stream: the renderer, and the record if there is one.
func (r jobRecord) beside(progress event.Sink) []event.Sink {
	if r.recorder == nil {
		return []event.Sink{progress}
	}
	return []event.Sink{progress, r.recorder}
}

// warn says in one line if the record is not where it belongs. That is never a
// failure.
func (r jobRecord) warn(streams terminal.Streams) {
	if err := r.recorder.Problem(); err != nil {
		terminal.PrintWarning(streams, err.Error())
	}
}

package commands

import (
	"context"
	"sync"
	"time"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/blueprint"
	"github.com/berthdev/berth/internal/event"
	"github.com/berthdev/berth/internal/identity"
	"github.com/berthdev/berth/internal/provision"
	"github.com/berthdev/berth/internal/terminal/wording"
	"github.com/berthdev/berth/internal/userstring"
)

// provisionAll provisions all of them, some at a time, and tells of them on one
// stream. They share the connection, the blueprints, which are read once, and
// what is known about the users; each keeps a record of its own.
func (o *provisionOptions) provisionAll(ctx context.Context, p *provision.Provisioner, b wording.Batch, users []userstring.UserString, joint *event.Stream, records *jobRecords) v1.ProvisionSummary {
	begun := time.Now()
	shared := *p
	shared.Users = identity.Cached(p.Users)
	load := p.Blueprints
	once := sync.OnceValues(func() (*blueprint.Set, error) { return load(ctx) })
	shared.Blueprints = func(context.Context) (*blueprint.Set, error) { return once() }
	items := make([]v1.ProvisionItem, len(users))
	sideBySide(len(users), o.batch.parallel, func(i int) {
		u := users[i]
		own, sinks := records.of(&shared, joint.Join())
		stream := event.NewStream(u.ID(), time.Now, sinks...)
		result := o.provisionOne(ctx, own, u, stream)
		if result.Error != nil {
			result.Error.Hint = b.Members[i].Located(result.Error.Hint)
		}
		withoutRequests(result)
		items[i] = v1.ProvisionItem{UserString: u.String(), ID: u.ID(), Workspace: result.Workspace, Error: result.Error}
		stream.Finish(result)
	})
	return summarize(items, time.Since(begun), p.Client.Requests.Count())
}

// provisionOne provisions one of them, unless there is no time left to begin.
func (o *provisionOptions) provisionOne(ctx context.Context, p *provision.Provisioner, u userstring.UserString, stream *event.Stream) v1.Result {
	if ctx.Err() != nil {
		return notBegun(ctx)
	}
	result, _ := o.provision(ctx, p, u, stream)
	return result
}

// withoutRequests leaves the number of requests out: the connection is shared,
// so that only that of all together is known.
func withoutRequests(r v1.Result) {
	w := r.Workspace
	if r.Error != nil {
		w = r.Error.Workspace
	}
	if w != nil && w.Timing != nil {
		w.Timing.Requests = 0
	}
}

// summarize counts.
func summarize(items []v1.ProvisionItem, took time.Duration, requests int) v1.ProvisionSummary {
	var n tally
	for _, item := range items {
		n.add(item.Error)
	}
	return v1.ProvisionSummary{
		TypeMeta: v1.Kind(v1.KindProvisionSummary), Items: items,
		Succeeded: n.succeeded, Failed: n.failed, ExitStatus: n.status,
		Seconds: took.Seconds(), Requests: requests,
	}
}

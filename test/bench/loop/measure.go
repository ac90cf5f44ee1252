package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/berthdev/berth/test/bench/internal/fleet"
	"github.com/berthdev/berth/test/bench/internal/proxy"
	"github.com/berthdev/berth/test/bench/internal/record"
)

const (
	partial = time.Second // between two exchanges
	prefix  = "berth-state-"

	aimPartial = 50 * time.Millisecond
	aimFull    = 2 * time.Second
)

type measurement struct {
	options
	home  string
	proxy *proxy.Proxy
}

// run measures each on a loop of its own, and prints what came of it.
func (m measurement) run(ctx context.Context) error {
	full, err := m.full(ctx)
	if err != nil {
		return err
	}
	quiet, err := m.nothing(ctx)
	if err != nil {
		return err
	}
	return show(append(quiet, full...), m.strict)
}

// full measures exchanges in which everything is compared: from the request for the records
// until all of them are written.
func (m measurement) full(ctx context.Context) ([]row, error) {
	var took, cpu []time.Duration
	for range m.rounds {
		m.proxy.Take()
		s, err := m.start(ctx)
		if err != nil {
			return nil, err
		}
		requests, used, err := m.firstExchange(ctx, s)
		s.stop()
		if err != nil {
			return nil, err
		}
		took, cpu = append(took, span(requests)), append(cpu, used)
	}
	slices.Sort(took)
	slices.Sort(cpu)
	median := took[len(took)/2]
	return []row{
		{"one full exchange", milliseconds(median), "< " + milliseconds(aimFull), median >= aimFull},
		{"processor time of start and full exchange", milliseconds(cpu[len(cpu)/2]), "", false},
	}, nil
}

// firstExchange waits until a loop that was started has written all records. It returns the
// requests until then, and the processor time of the loop.
func (m measurement) firstExchange(ctx context.Context, s *server) (requests []record.Request, cpu time.Duration, err error) {
	for deadline := time.Now().Add(time.Minute); ; {
		requests = m.proxy.Look()
		if len(writes(requests)) >= m.workspaces {
			cpu, err = s.cpu()
			return requests, cpu, err
		}
		if time.Now().After(deadline) {
			return nil, 0, fmt.Errorf("after a minute %d of %d records are written\n%s", len(writes(requests)), m.workspaces, s.log())
		}
		if err := pause(ctx, 50*time.Millisecond); err != nil {
			return nil, 0, err
		}
	}
}

// nothing measures exchanges in which nothing has changed.
func (m measurement) nothing(ctx context.Context) ([]row, error) {
	m.proxy.Take()
	s, err := m.start(ctx)
	if err != nil {
		return nil, err
	}
	defer s.stop()
	if _, _, err := m.firstExchange(ctx, s); err != nil {
		return nil, err
	}
	if err := pause(ctx, 3*partial); err != nil { // what the full one has left to do
		return nil, err
	}
	m.proxy.Take()
	before, err := s.cpu()
	if err != nil {
		return nil, err
	}
	if err := pause(ctx, m.quiet); err != nil {
		return nil, err
	}
	after, err := s.cpu()
	if err != nil {
		return nil, err
	}
	exchanges := int(m.quiet / partial)
	each := (after - before) / time.Duration(exchanges)
	others, watches, leases := kinds(m.proxy.Take())
	return []row{
		{"processor time of one partial exchange", milliseconds(each), "< " + milliseconds(aimPartial), each >= aimPartial},
		{fmt.Sprintf("requests during %d of them", exchanges), fmt.Sprintf("%d, %d watches, %d for the lease", others, watches, leases), "0", others > 0},
	}, nil
}

// kinds counts requests: watches, those of the lease, and others.
func kinds(requests []record.Request) (others, watches, leases int) {
	for _, r := range requests {
		switch {
		case strings.Contains(r.Path, "/leases/"):
			leases++
		case r.IsWatch():
			watches++
		default:
			others++
		}
	}
	return others, watches, leases
}

// writes are the requests that have written a record.
func writes(requests []record.Request) (all []record.Request) {
	for _, r := range requests {
		if r.Method == http.MethodPatch && strings.Contains(r.Path, "/"+fleet.Namespace+"/configmaps/"+prefix) && r.Status/100 == 2 {
			all = append(all, r)
		}
	}
	return all
}

// span is how long a full exchange took. It begins with the last list of records before the
// first is written: the watch has one of its own before.
func span(requests []record.Request) time.Duration {
	written := writes(requests)
	first, last := written[0].Arrived, written[0].Answered
	for _, r := range written {
		last = latest(last, r.Answered)
	}
	begun := first
	for _, r := range requests {
		if r.Method == http.MethodGet && strings.HasSuffix(r.Path, "/configmaps") && !r.IsWatch() && r.Arrived.Before(first) {
			begun = r.Arrived
		}
	}
	return last.Sub(begun)
}

func latest(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// row is a figure beside its aim, which is empty where there is none.
type row struct {
	what, value, aim string
	missed           bool
}

// show prints what was measured. Strict is an error if an aim is missed.
func show(rows []row, strict bool) error {
	table := tabwriter.NewWriter(os.Stdout, 0, 0, 3, ' ', 0)
	fmt.Fprintln(table, "WHAT\tMEASURED\tAIM")
	missed := false
	for _, r := range rows {
		if r.missed {
			missed, r.aim = true, r.aim+" (missed)"
		}
		fmt.Fprintf(table, "%s\t%s\t%s\n", r.what, r.value, r.aim)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	if missed && strict {
		return errors.New("an aim is missed")
	}
	return nil
}

func milliseconds(d time.Duration) string {
	return fmt.Sprintf("%.1f ms", float64(d.Microseconds())/1000)
}

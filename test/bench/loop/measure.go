package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"k8s.io/client-go/kubernetes"

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
	client kubernetes.Interface
	home   string
	proxy  *proxy.Proxy
}

// run measures each on a loop of its own, and prints what came of it.
func (m measurement) run(ctx context.Context) error {
	if err := m.install(ctx); err != nil {
		return err
	}
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

// full measures exchanges in which everything is compared, at the start of a loop: those that
// find every record to be out of date and write it, and those that find nothing to write.
func (m measurement) full(ctx context.Context) ([]row, error) {
	var all, none, cpu []time.Duration
	for range m.rounds {
		if err := m.outdate(ctx); err != nil {
			return nil, err
		}
		for _, took := range []*[]time.Duration{&all, &none} {
			s, err := m.start(ctx)
			if err != nil {
				return nil, err
			}
			exchange, err := s.firstExchange(ctx, m.workspaces)
			if err != nil {
				return nil, err
			}
			used, err := s.cpu()
			s.stop()
			if err != nil {
				return nil, err
			}
			*took = append(*took, exchange)
			if took == &none {
				cpu = append(cpu, used)
			}
		}
	}
	took := median(none)
	return []row{
		{"one full exchange, nothing changed", milliseconds(took), "< " + milliseconds(aimFull), took >= aimFull},
		{"one full exchange, every record changed", milliseconds(median(all)), "", false},
		{"processor time of a start and a full exchange", milliseconds(median(cpu)), "", false},
	}, nil
}

func median(all []time.Duration) time.Duration {
	slices.Sort(all)
	return all[len(all)/2]
}

// firstExchange waits until a loop that was started has compared all workspaces, and returns
// how long it says that this took.
func (s *server) firstExchange(ctx context.Context, workspaces int) (time.Duration, error) {
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); {
		for line := range strings.Lines(s.log()) {
			var entry struct {
				Msg        string
				Workspaces int
				Took       time.Duration
			}
			if json.Unmarshal([]byte(line), &entry) == nil && entry.Took > 0 && entry.Workspaces == workspaces {
				return entry.Took, nil
			}
		}
		if err := pause(ctx, 50*time.Millisecond); err != nil {
			return 0, err
		}
	}
	return 0, fmt.Errorf("after a minute the workspaces are not compared\n%s", s.log())
}

// nothing measures exchanges in which nothing has changed.
func (m measurement) nothing(ctx context.Context) ([]row, error) {
	s, err := m.start(ctx)
	if err != nil {
		return nil, err
	}
	defer s.stop()
	if _, err := s.firstExchange(ctx, m.workspaces); err != nil {
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
		{
			"processor time of one partial exchange", milliseconds(each), "< " + milliseconds(aimPartial),
			each >= aimPartial,
		},
		{
			fmt.Sprintf("requests during %d of them", exchanges),
			fmt.Sprintf("%d, %d watches, %d for the lease", others, watches, leases), "0", others > 0,
		},
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
